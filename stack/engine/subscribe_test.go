// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// read returns what waits for a subscription of this process.
func (s *Subscription) read() (got []string) {
	for ev, ok := s.Next(); ok; ev, ok = s.Next() {
		verb := "published "
		if ev.Withdrawn {
			verb = "withdrawn "
		}
		got = append(got, verb+ev.Binding.Range.String())
	}
	return got
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// A subscription of this process has what there is, what changes, and at its time
// what had changed before, then no more.
func TestOwnSubscription(t *testing.T) {
	s := newService(t, ownAddr)
	r := frame.Range{Type: 100, Upper: 9}
	s.table.Insert(at(100, 1, 1, 5, ownAddr)) // nobody was told yet
	x, err := s.Subscribe(s.now, SubscriptionConfig{Range: r, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	old := s.TakeSubscriptions(nil)
	wantLines(t, "there", x.read(), "published 100:1-1")
	s.table.Insert(at(100, 2, 2, 5, ownAddr))
	ready := s.TakeSubscriptions(nil)
	if len(old) != 0 || len(ready) != 1 || ready[0] != x || len(s.TakeSubscriptions(nil)) != 0 {
		t.Errorf("ready: %v, then %v", old, ready)
	}
	wantLines(t, "came", x.read(), "published 100:2-2")
	if at := s.Deadline(); at != time.Second {
		t.Errorf("due at %v", at)
	}
	s.table.Remove(at(100, 1, 1, 5, ownAddr))
	s.HandleTimeout(time.Second)
	s.table.Remove(at(100, 2, 2, 5, ownAddr))
	ready = s.TakeSubscriptions(nil)
	wantLines(t, "went", x.read(), "withdrawn 100:1-1")
	wantErr(t, "its time is over", x.Err(), ErrSubscriptionOver)
	if len(ready) != 1 || s.watches.Len() != 0 || s.watches.own != 0 || s.Deadline() != flowctl.Never {
		t.Errorf("ready: %v; %d subscriptions, %d own, due at %v", ready, s.watches.Len(), s.watches.own, s.Deadline())
	}
	x.Close()
	wantErr(t, "closed", x.Err(), ErrClosed)
	if s.watches.own != 0 {
		t.Errorf("%d own", s.watches.own)
	}
}

// Closing takes what waits with it, and its time does not come.
func TestOwnSubscriptionIsClosed(t *testing.T) {
	s := newService(t, ownAddr)
	x, err := s.Subscribe(s.now, SubscriptionConfig{Range: frame.Range{Type: 100}, Timeout: time.Second})
	wantErr(t, "subscribe", err, nil)
	s.table.Insert(at(100, 0, 0, 5, ownAddr))
	s.TakeSubscriptions(nil)
	x.Close()
	x.Close()
	if at := s.Deadline(); at != flowctl.Never || x.Pending() != 0 || s.watches.Len() != 0 || s.watches.own != 0 {
		t.Errorf("due at %v, %d wait, %d subscriptions, %d own", at, x.Pending(), s.watches.Len(), s.watches.own)
	}
}

// This process has its own 65535 subscriptions, whatever others took.
func TestOwnSubscriptionsOfOneNode(t *testing.T) {
	s := newService(t, ownAddr)
	c := SubscriptionConfig{Range: frame.Range{Type: 100}}
	var last *Subscription
	for i := range uint32(naming.MaxSubscriptions) {
		c.Range.Type = i
		x, err := s.Subscribe(0, c)
		if err != nil {
			t.Fatal(i, err)
		}
		last = x
	}
	_, err := s.Subscribe(0, c)
	wantErr(t, "one more", err, ErrTooManySubscriptions)
	last.Close()
	_, err = s.Subscribe(0, c)
	wantErr(t, "after one was closed", err, nil)
	for want, c := range map[error]SubscriptionConfig{
		ErrRange:  {Range: frame.Range{Type: 100, Lower: 2, Upper: 1}},
		ErrConfig: {Filter: frame.FilterPorts | frame.FilterService},
	} {
		_, err := s.Subscribe(0, c)
		wantErr(t, want.Error(), err, want)
	}
}

// Without a client the engine's turn costs no allocation, nor does a change of a name
// that nobody subscribed to.
func TestSubscriptionsAllocateNothing(t *testing.T) {
	s := newService(t, ownAddr)
	for i := range uint32(100) {
		if _, err := s.Subscribe(0, SubscriptionConfig{Range: frame.Range{Type: 100 + i%3, Lower: i, Upper: i}}); err != nil {
			t.Fatal(err)
		}
	}
	ev := naming.Event{Edge: true, Binding: at(100, 200, 200, 5, ownAddr)}
	if got := testing.AllocsPerRun(1000, func() {
		s.HandleTimeout(0)
		s.watches.matched = s.watches.Match(s.watches.matched[:0], ev)
	}); got != 0 && !raceEnabled { // the race detector allocates
		t.Errorf("%v allocations, want 0", got)
	}
}
