// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// Of many bindings that exist a subscriber has a part waiting, however many subscriptions
// there are and whether it reads or not; one that reads gets each once, and then what has
// changed. It catches a Subscribe that has all of them wait, and a Next that does not go on.
func TestSubscriptionInParts(t *testing.T) {
	const many = 20000
	p := newScriptedPeer(t)
	for i := range uint32(many) {
		p.table.Insert(at(100, i, i, 5, popAddr))
	}
	all := frame.Range{Type: 100, Upper: 1 << 30}
	var subs []*Subscription
	for range 50 {
		s, err := p.Subscribe(p.now, SubscriptionConfig{Range: all, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		subs = append(subs, s)
	}
	next := uint32(0)
	s := subs[7]
	for range many {
		ev, ok := s.Next()
		for !ok && p.Deadline() <= p.now {
			p.HandleTimeout(p.now)
			ev, ok = s.Next()
		}
		if !ok || ev.Withdrawn || ev.Binding.Range.Lower != next {
			t.Fatalf("got %v %v, want %d", ev, ok, next)
		}
		next++
		if s.Pending() > listingPart {
			t.Fatalf("%d events wait", s.Pending())
		}
		if next == many/2 { // one behind, one before
			p.table.Remove(at(100, 3, 3, 5, popAddr))
			p.table.Remove(at(100, many/2+5000, many/2+5000, 5, popAddr))
			p.table.Insert(at(100, many/2+5000, many/2+5000, 6, popAddr))
			p.TakeSubscriptions(nil)
			p.table.Insert(at(100, 4, 4, 6, popAddr))
			for range s.Pending() - 1 {
				if ev, _ := s.Next(); ev.Withdrawn || ev.Binding.Range.Lower != next {
					t.Fatalf("got %v, want %d", ev, next)
				}
				next++
			}
			if ev, _ := s.Next(); !ev.Withdrawn || ev.Binding.Range.Lower != 3 {
				t.Errorf("got %v, want the withdrawal of 3", ev)
			}
			if ev, _ := s.Next(); ev.Withdrawn || ev.Binding.Socket.Port != 6 || ev.Binding.Range.Lower != 4 {
				t.Errorf("got %v, want the other binding of 4", ev)
			}
		}
		if next == many {
			break
		}
	}
	if s.Pending() != 0 || s.Err() != nil || s.listing != nil {
		t.Errorf("in the end %d wait, %v", s.Pending(), s.Err())
	}
	for _, s := range subs {
		if s.Err() != nil || s != subs[7] && s.Pending() > listingPart+10 {
			t.Errorf("who does not read: %d wait, %v", s.Pending(), s.Err())
		}
	}
}

// Of many bindings in parts Complete is told behind the last, though bindings come meanwhile.
//
// Mutations it catches: it is told behind the first part; it is never told of more than a part.
func TestCompleteInParts(t *testing.T) {
	const many = 3*listingPart + 7
	p := newScriptedPeer(t)
	for i := range uint32(many) {
		p.table.Insert(at(100, 10+i, 10+i, 5, popAddr))
	}
	s, err := p.Subscribe(p.now, SubscriptionConfig{Range: frame.Range{Type: 100, Upper: 1 << 30}, Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	p.table.Insert(at(100, 0, 0, 6, popAddr))
	told, marks, behind := 0, 0, 0
	for {
		ev, ok := s.Next()
		for !ok && p.Deadline() <= p.now {
			p.HandleTimeout(p.now)
			ev, ok = s.Next()
		}
		switch {
		case !ok:
			if told != many+1 || marks != 1 || behind > 1 {
				t.Errorf("%d bindings and %d marks, %d of the bindings behind it", told, marks, behind)
			}
			return
		case ev.Complete:
			marks++
		default:
			told++
			behind += marks
		}
	}
}
