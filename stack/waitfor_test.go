// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// WaitFor and WaitForN return when there are enough sockets, not before: a socket counts once for
// several names, not at all on another node than the one asked for, and no more once it has closed.
//
// Mutations it catches: names are counted in place of sockets; withdrawals are not looked at; the
// node of a Service is not; k is taken for 1.
func TestWaitForCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		all := stack.Range{Type: 100, Upper: 99}
		one := mustListen(t, b, stack.SocketConfig{}, stack.Service{Type: 100, Instance: 1})
		if err := one.Bind(stack.Service{Type: 100, Instance: 2}); err != nil {
			t.Fatal(err)
		}
		for _, addr := range []net.Addr{all, stack.Service{Type: 100, Instance: 2}, stack.Service{Type: 100, Instance: 1, Node: b.Addr()}} {
			if err := a.WaitFor(t.Context(), addr); err != nil {
				t.Errorf("%v: %v", addr, err)
			}
		}
		lacks := func(addr net.Addr, k, have int) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			err := a.WaitForN(ctx, addr, k)
			var blocked *stack.BlockedError
			if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &blocked) || blocked.Name != addr {
				t.Fatalf("%d of %v: got %v", k, addr, err)
			}
			if k > 1 && (blocked.Bound != have || blocked.Wanted != k) {
				t.Errorf("%d of %v: got %v", k, addr, err)
			}
		}
		lacks(all, 2, 1)
		lacks(stack.Service{Type: 100, Instance: 1, Node: a.Addr()}, 1, 0)
		two := mustListen(t, a, stack.SocketConfig{}, stack.Service{Type: 100, Instance: 50})
		if err := a.WaitForN(t.Context(), all, 2); err != nil {
			t.Error(err)
		}
		met := make(chan error)
		go func() { met <- a.WaitForN(t.Context(), all, 3) }()
		lacks(all, 3, 2) // by then the other call has its subscription
		two.Close()
		mustListen(t, b, stack.SocketConfig{}, stack.Service{Type: 100, Instance: 3})
		lacks(all, 3, 2)
		select {
		case err := <-met:
			t.Fatalf("a call for 3 has returned: %v", err)
		default:
		}
		mustListen(t, a, stack.SocketConfig{}, stack.Service{Type: 100, Instance: 4})
		if err := <-met; err != nil {
			t.Error(err)
		}
	})
}

// WaitNodes counts this node as well.
//
// Mutation it catches: the own node is left out.
func TestWaitNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		if err := a.WaitNodes(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := a.WaitNodes(ctx, 3); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 of 3") {
			t.Errorf("got %v", err)
		}
		var e *net.AddrError
		for _, addr := range []net.Addr{nil, stack.SocketAddr{Port: 1, Node: 1}, &net.TCPAddr{}} {
			if err := a.WaitFor(t.Context(), addr); !errors.As(err, &e) {
				t.Errorf("%v: got %v", addr, err)
			}
		}
	})
}

// With Complete the event comes behind all that existed, and before what came later; at once where
// nothing did, and with Changes. At another node it is refused.
//
// Mutations it catches: the event is told first; it is not told where nothing existed; it is told
// unasked.
func TestSubscriptionComplete(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		all := stack.Range{Type: 100, Upper: 99}
		read := func(s *stack.Subscription, want ...string) {
			t.Helper()
			for i, w := range want {
				ev, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := ev.String(); ev.Complete != (w == "complete") || !strings.HasPrefix(got, w) {
					t.Errorf("event %d: got %q, want %q", i, got, w)
				}
			}
		}
		empty := mustSubscribe(t, a, stack.SubscriptionConfig{Complete: true}, all)
		read(empty, "complete")
		plain := mustSubscribe(t, a, stack.SubscriptionConfig{}, all)
		for i := range uint32(3) {
			mustListen(t, a, stack.SocketConfig{}, stack.Service{Type: 100, Instance: i})
		}
		full := mustSubscribe(t, a, stack.SubscriptionConfig{Complete: true}, all)
		changes := mustSubscribe(t, a, stack.SubscriptionConfig{Complete: true, Changes: true}, all)
		mustListen(t, a, stack.SocketConfig{}, stack.Service{Type: 100, Instance: 9})
		read(full, "published 100:0", "published 100:1", "published 100:2", "complete", "published 100:9")
		read(changes, "complete", "published 100:9")
		read(plain, "published 100:0", "published 100:1", "published 100:2", "published 100:9")
		if _, err := (stack.SubscriptionConfig{Complete: true, At: b.Addr()}).Subscribe(t.Context(), a, all); !errors.Is(err, stack.ErrConfig) {
			t.Errorf("at another node: %v", err)
		}
	})
}
