// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A socket with many names, or many sockets, that are closed withdraw them in parts, all of
// them in the end, the newest of each socket first.
//
// It fails if withdrawAll withdraws all at once, if HandleTimeout is not due while some are left,
// and if what is left is forgotten.
func TestManyNamesLeaveInParts(t *testing.T) {
	const names, sockets = 5000, 3
	e := peersOn(t, newArena(t, netdev.ArenaConfig{Small: 4096}), 1, 2)
	work := 0
	e.cfg.Did = func(w Work, k int) {
		if w == WorkBindings {
			work += k
		}
	}
	s, err := e.Subscribe(e.now, SubscriptionConfig{Range: frame.Range{Type: 18888, Upper: ^uint32(0)}, Limit: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	var all []*Port
	for i := range sockets {
		p := e.OpenPort(PortConfig{})
		all = append(all, p)
		for k := range names {
			at := uint32(i*names + k)
			if err := p.Bind(e.now, frame.Range{Type: 18888, Lower: at, Upper: at}, frame.NodeScope); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.HandleTimeout(e.now)
	e.TakeSubscriptions(nil)
	for s.Pending() > 0 || s.listing != nil {
		for ev, ok := s.Next(); ok; ev, ok = s.Next() {
			if ev.Withdrawn {
				t.Fatal("withdrawn before it was closed")
			}
		}
		e.HandleTimeout(e.now)
		e.TakeSubscriptions(nil)
	}
	before := e.Unsent()
	for _, p := range all {
		p.Close(e.now)
	}
	var got []uint32
	for turns := 0; ; turns++ {
		work = 0
		e.TakeSubscriptions(nil)
		if work > 4*turnWork {
			t.Fatalf("turn %d: %d bindings", turns, work)
		}
		for ev, ok := s.Next(); ok; ev, ok = s.Next() {
			got = append(got, ev.Binding.Range.Lower)
		}
		if len(e.unbinding.bindings) == 0 && e.watches.pending.Len() == 0 {
			break
		}
		if e.Deadline() > 0 || e.Unsent() < before+len(e.unbinding.bindings) {
			t.Fatalf("%d bindings are left, but the deadline is %v and %d unsent", len(e.unbinding.bindings), e.Deadline(), e.Unsent())
		}
		work = 0
		e.HandleTimeout(e.now)
	}
	if len(got) != names*sockets {
		t.Fatalf("%d of %d names were withdrawn", len(got), names*sockets)
	}
	for i, at := range got {
		if want := uint32(i/names*names + names - 1 - i%names); at != want {
			t.Fatalf("withdrawal %d is of %d, want %d", i, at, want)
		}
	}
}
