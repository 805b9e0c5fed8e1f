// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Proves: socket.deadlines, names.subscriptions
func TestSlowSubscriber(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		sub, err := a.Subscribe(t.Context(), echoService.Range())
		if err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		for range 3000 {
			c.Bind(echoService)
			c.Unbind(echoService)
		}
		n := 0
		for {
			if _, err = sub.Next(t.Context()); err != nil {
				break
			}
			n++
		}
		if !errors.Is(err, stack.ErrSlow) || n != 4096 {
			t.Errorf("%d events, then %v", n, err)
		}
	})
}

// A range with more bindings than may wait for a subscriber can be subscribed to.
func TestSubscribeToManyBindings(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		const many = 5000
		for i := range uint32(many) {
			if err := c.Bind(stack.Service{Type: 100, Instance: i}); err != nil {
				t.Fatal(err)
			}
		}
		sub, err := a.Subscribe(t.Context(), stack.Range{Type: 100, Upper: 1<<32 - 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint32(many) {
			if ev, err := sub.Next(t.Context()); err != nil || ev.Range.Lower != i {
				t.Fatalf("event %d: got %v, %v", i, ev, err)
			}
		}
	})
}

// A context that is done, and Close, come before events that wait.
func TestSubscriptionEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, echoService)
		c.Bind(echoService)
		sub, err := a.Subscribe(t.Context(), echoService.Range())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for range sub.Events(ctx) {
			n++
			cancel()
		}
		if n != 1 {
			t.Errorf("%d events, want 1", n)
		}
		sub.Close()
		sub.Close()
		if ev, err := sub.Next(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, %v", ev, err)
		}
	})
}
