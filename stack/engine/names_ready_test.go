// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// NamesReady knows of whatever TakeNameEvents and TakeSubscriptions would return or go on with.
//
// Mutations: NamesReady does not look at the table, at the changes of it that were not taken, at
// those that were not told, or at the subscriptions that are ready; it does not end the turn.
func TestNamesReady(t *testing.T) {
	s := newService(t, ownAddr)
	want := func(when string, want bool) {
		t.Helper()
		if got := s.NamesReady(); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	s.TakeNameEvents(nil) // the node's own names
	want("nothing has changed", false)
	s.table.Insert(at(100, 1, 1, 5, ownAddr))
	want("the table has changed", true)
	x, err := s.Subscribe(s.now, SubscriptionConfig{Range: frame.Range{Type: 100, Upper: 9}})
	if err != nil {
		t.Fatal(err)
	}
	want("the subscription took the change for itself", true)
	s.TakeNameEvents(nil)
	want("it was taken", false)

	s.table.Insert(at(100, 2, 2, 5, ownAddr))
	s.did(WorkFrames, 4*turnWork)
	s.TakeNameEvents(nil)
	want("the turn has done too much to tell of it", true)
	s.TakeSubscriptions(nil)
	want("it was told", false)

	s.did(WorkFrames, 4*turnWork)
	want("nothing has changed since", false)
	if s.work.done != 0 {
		t.Errorf("the turn goes on, with %d done", s.work.done)
	}
	s.table.Insert(at(100, 3, 3, 5, ownAddr))
	s.TakeNameEvents(nil)
	want("the subscription is ready", true)
	s.TakeSubscriptions(nil)
	want("that was said", false)
	x.Close()
}
