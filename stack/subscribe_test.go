// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

func mustSubscribe(t *testing.T, n *stack.Node, c stack.SubscriptionConfig, r stack.Range) *stack.Subscription {
	t.Helper()
	s, err := c.Subscribe(t.Context(), n, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// next returns the text of the next k events.
func next(t *testing.T, s *stack.Subscription, k int) (got []string) {
	t.Helper()
	for range k {
		ev, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		verb := "+"
		if ev.Withdrawn {
			verb = "-"
		}
		got = append(got, fmt.Sprintf("%s%d-%d", verb, ev.Range.Lower, ev.Range.Upper))
	}
	return got
}

// Which bindings each option lets through; the last event is of a range that all are
// told of.
//
// Proves: names.subscriptions
func TestSubscriptionOptions(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		all := stack.Range{Type: 100, Upper: 99}
		near := mustListen(t, a, stack.SocketConfig{Scope: stack.NodeScope}, stack.Range{Type: 100, Lower: 1, Upper: 4})
		remote := mustListen(t, a, stack.SocketConfig{}, stack.Range{Type: 100, Lower: 2, Upper: 5})
		subs := map[string]stack.SubscriptionConfig{
			"+1-4 +2-5 +2-5 -2-5 -2-5 -1-4": {},
			"+1-4 +2-5 -2-5 -1-4":           {Ranges: true},
			"+1-4 -1-4":                     {Scope: stack.NodeScope},
			"+2-5 +2-5 -2-5 -2-5":           {Scope: stack.ClusterScope},
			"+2-5 -2-5 -2-5 -1-4":           {Changes: true},
			"-2-5":                          {Ranges: true, Changes: true, Scope: stack.ClusterScope},
		}
		open := map[string]*stack.Subscription{}
		for want, c := range subs {
			open[want] = mustSubscribe(t, a, c, all)
		}
		if err := remote.Bind(stack.Range{Type: 100, Lower: 2, Upper: 5}); err != nil {
			t.Fatal(err)
		}
		remote.Close()
		waitFor(t, func() bool { // attached, Close does not wait for the daemon for long
			return !slices.ContainsFunc(must.Get(a.Admin().Names(context.Background())), func(b stack.Binding) bool {
				return b.Range == (stack.Range{Type: 100, Lower: 2, Upper: 5})
			})
		})
		near.Close()
		for _, scope := range []stack.Scope{stack.NodeScope, stack.ClusterScope} {
			mustListen(t, a, stack.SocketConfig{Scope: scope}, stack.Range{Type: 100, Lower: 9, Upper: 9 + uint32(scope)})
		}
		for want, s := range open {
			text := ""
			for _, x := range next(t, s, len(want)/5+1) {
				text += " " + x
			}
			if text = text[1:]; text != want {
				t.Errorf("%+v: got %q, want %q", subs[want], text, want)
			}
			if ev := next(t, s, 1); ev[0][:3] != "+9-" {
				t.Errorf("%+v: then %q", subs[want], ev)
			}
		}
	})
}

func TestSubscriptionErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		done, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []struct {
			ctx  context.Context
			c    stack.SubscriptionConfig
			r    stack.Range
			want error
		}{
			{t.Context(), stack.SubscriptionConfig{}, stack.Range{Type: 100, Lower: 2, Upper: 1}, stack.ErrRange},
			{t.Context(), stack.SubscriptionConfig{Scope: 1}, stack.Range{}, stack.ErrConfig},
			{t.Context(), stack.SubscriptionConfig{Timeout: -1}, stack.Range{}, stack.ErrConfig},
			{t.Context(), stack.SubscriptionConfig{Limit: -1}, stack.Range{}, stack.ErrConfig},
			{done, stack.SubscriptionConfig{}, stack.Range{}, context.Canceled},
		} {
			_, err := c.c.Subscribe(c.ctx, a, c.r)
			var op *net.OpError
			if !errors.Is(err, c.want) || !errors.As(err, &op) {
				t.Errorf("%+v %v: got %v, want %v", c.c, c.r, err, c.want)
			}
		}
	})
}

// A timeout ends the events at its time, behind those that came before, though
// nothing else happens and nobody drives.
func TestSubscriptionTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, echoService)
		began := time.Now()
		s := mustSubscribe(t, a, stack.SubscriptionConfig{Timeout: 1234 * time.Millisecond}, echoService.Range())
		unread := mustSubscribe(t, a, stack.SubscriptionConfig{Timeout: time.Second}, echoService.Range())
		n := 0
		for range s.Events(t.Context()) {
			if n++; n == 1 {
				c.Bind(echoService)
			}
		}
		if took := time.Since(began); n != 2 || took != 1234*time.Millisecond {
			t.Errorf("%d events in %v", n, took)
		}
		c.Bind(echoService) // behind the end
		next(t, unread, 2)
		for _, s := range []*stack.Subscription{s, unread} {
			_, err := s.Next(t.Context())
			if e := net.Error(nil); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &e) || !e.Timeout() {
				t.Errorf("got %v", err)
			}
		}
		s.Close()
		if _, err := s.Next(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// The end of a subscription wakes the call that drives, though that sleeps already.
func TestSubscriptionTimeoutWakesTheDriver(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		leader := mustListen(t, a, stack.SocketConfig{}, nil)
		go leader.ReadFrom(make([]byte, 1)) // until the node is closed
		synctest.Wait()
		began := time.Now()
		s := mustSubscribe(t, a, stack.SubscriptionConfig{Timeout: 7 * time.Millisecond}, stack.Range{Type: 100})
		_, err := s.Next(t.Context())
		if took := time.Since(began); took != 7*time.Millisecond || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// The limit of events that wait is the subscriber's own, beside what there was.
func TestSubscriptionLimit(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, echoService)
		s := mustSubscribe(t, a, stack.SubscriptionConfig{Limit: 3}, echoService.Range())
		for range 4 {
			c.Bind(echoService)
		}
		next(t, s, 4)
		if _, err := s.Next(t.Context()); !errors.Is(err, stack.ErrSlow) {
			t.Errorf("got %v", err)
		}
		if got := must.Get(a.Admin().Stats(context.Background())).SubscribersCut; got != 1 {
			t.Errorf("%d counted", got)
		}
	})
}

// The links of a node are seen as AllLinks says.
//
// Proves: names.subscriptions
func TestAllLinks(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		ev, err := mustSubscribe(t, a, stack.SubscriptionConfig{}, stack.AllLinks).Next(t.Context())
		if err != nil || ev.Withdrawn || stack.NodeAddr(ev.Range.Lower) != b.Addr() || ev.Range.Upper != ev.Range.Lower ||
			ev.Socket.Node != a.Addr() || ev.Socket.Port != 0 || ev.Scope != stack.NodeScope {
			t.Errorf("got %+v, %v", ev, err)
		}
	})
}

// Ten thousand calls wait for a name each; a name wakes the call that waits for it,
// and no other.
//
// Proves: names.subscriptions
func TestManyWaiters(t *testing.T) {
	many := 10000
	if raceEnabled {
		many = 500 // the detector makes each wake-up dear
	}
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		var woken atomic.Int32
		failed := make(chan error, many)
		for i := range uint32(many) {
			go func() {
				err := a.WaitFor(t.Context(), stack.Service{Type: 100, Instance: i})
				woken.Add(1)
				failed <- err
			}()
		}
		synctest.Wait()
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		for i := range uint32(many) {
			if err := c.Bind(stack.Service{Type: 100, Instance: i}); err != nil {
				t.Fatal(err)
			}
			if i%(uint32(many)/10) == 0 {
				synctest.Wait()
				if got := woken.Load(); got != int32(i)+1 {
					t.Fatalf("%d names are bound, %d calls came back", i+1, got)
				}
			}
		}
		for range many {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Several readers of one subscription share events that come at once, and all hear of
// its end, while another call drives the node.
//
// Proves: names.subscriptions
func TestReadersShareASubscription(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		const readers = 5
		leader := mustListen(t, a, stack.SocketConfig{}, nil)
		go leader.ReadFrom(make([]byte, 1)) // until the node is closed
		synctest.Wait()
		s := mustSubscribe(t, a, stack.SubscriptionConfig{Timeout: 10 * time.Minute, Changes: true}, stack.Range{Type: 100, Upper: 99})
		got, goOn, ended := make(chan uint32, readers), make(chan bool), make(chan error, readers)
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		for i := range uint32(readers) {
			c.Bind(stack.Service{Type: 100, Instance: i})
			next(t, s, 1)
		}
		for range readers {
			go func() {
				ev, err := s.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got <- ev.Range.Lower
				<-goOn
				_, err = s.Next(t.Context())
				ended <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		c.Close()
		var all []uint32
		for range readers {
			all = append(all, <-got)
		}
		if slices.Sort(all); !slices.Equal(all, []uint32{0, 1, 2, 3, 4}) {
			t.Fatalf("got %v", all)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the events took %v", took)
		}
		close(goOn)
		for range readers {
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("the end took %v", took)
		}
	})
}
