// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// A part of a subscription's initial list is charged when it begins to wait, not when the
// subscriber takes its first event: until then other subscriptions of the account would have
// parts of their own for the same room.
//
// Mutations: Next, or part, does not charge after listPart.
//
// Proves: daemon.limits
func TestPartsOfAListAreCharged(t *testing.T) {
	const many = 20 * listingPart
	p := newScriptedPeer(t)
	for i := range uint32(many) {
		p.table.Insert(at(100, i, i, 5, popAddr))
	}
	a := NewAccount(AccountConfig{Limit: 1 << 20})
	var subs [2]*Subscription
	charged := func(what string) {
		want := 0
		for _, s := range subs {
			if s != nil {
				want += s.Pending() * eventCost
			}
		}
		if got := a.Stats().Held; got != want {
			t.Fatalf("%s: %d bytes are charged, want %d", what, got, want)
		}
	}
	for i := range subs {
		var err error
		if subs[i], err = p.Subscribe(p.now, SubscriptionConfig{Range: frame.Range{Type: 100, Upper: many}, Account: a}); err != nil {
			t.Fatal(err)
		}
		charged("Subscribe")
	}
	var listed struct{ byNext, byTimeout int }
	for read := 0; read < len(subs)*many; {
		for _, s := range subs {
			before := s.Pending()
			if _, ok := s.Next(); ok {
				read++
			}
			charged("Next")
			if s.Pending() >= before && before > 0 {
				listed.byNext++
			}
		}
		if p.Deadline() <= p.now {
			before := subs[0].Pending() + subs[1].Pending()
			p.HandleTimeout(p.now)
			charged("HandleTimeout")
			if subs[0].Pending()+subs[1].Pending() > before {
				listed.byTimeout++
			}
		}
	}
	if listed.byNext == 0 || listed.byTimeout == 0 {
		t.Errorf("parts that came with Next and HandleTimeout: %+v, want some of each", listed)
	}
}
