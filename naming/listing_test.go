// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"math/rand/v2"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A listing in parts, beside a table that changes between them: publications and
// withdrawals of each binding, or range, alternate; what is there all the time is told
// once; and in the end what was told is what is there. No part looks at more than was asked
// for, where many are bound to one range, or many ranges have one lower bound, too.
//
// Mutations that it catches: Reached that is always true, or false until the end; tell
// without the place reached; ascend without it; a tell that goes on beyond n.
func TestListingBesideChanges(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := &Subscription{Range: frame.Range{Type: 100, Lower: 20, Upper: 180}, Filter: frame.FilterPorts}
		if seed%2 == 1 {
			x.Filter = frame.FilterService
		}
		table := NewTable(1)
		var all []Binding
		make1 := func() {
			lower := uint32(r.IntN(200))
			if r.IntN(3) == 0 {
				lower = 77 // many of one lower bound
			}
			b := Binding{
				Range: frame.Range{Type: 100, Lower: lower, Upper: lower + uint32(r.IntN(4))*uint32(r.IntN(30))},
				Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: uint32(r.IntN(40)), Node: frame.NodeAddr(1 + r.IntN(3))}, Key: uint32(r.IntN(3)),
			}
			if table.Insert(b) {
				all = append(all, b)
			}
		}
		for range 600 {
			make1()
		}
		table.TakeEvents(nil)
		was := map[any]bool{} // there from the beginning, and all the time
		id := func(b Binding) any {
			if x.everyPort() {
				return b
			}
			return b.Range
		}
		for _, b := range all {
			was[id(b)] = b.Range.Overlaps(x.Range)
		}
		there, times := map[any]bool{}, map[any]int{}
		tell := func(b Binding, gone bool) {
			k := id(b)
			if there[k] != gone {
				t.Fatalf("seed %d: %v is told gone=%v twice", seed, b, gone)
			}
			there[k] = !gone
			if !gone {
				times[k]++
			}
		}
		var l Listing
		for parts := 0; !l.Done() || parts < 3; parts++ {
			if parts > 10000 {
				t.Fatalf("seed %d: it does not end", seed)
			}
			n := 0
			looked := l.Next(table, x, 20, func(b Binding) { n++; tell(b, false) })
			if n > 20 || looked < n || looked > 21 {
				t.Errorf("seed %d: a part of %d, which looked at %d", seed, n, looked)
			}
			for range r.IntN(12) {
				if i := r.IntN(len(all)); r.IntN(2) == 0 {
					table.Remove(all[i])
					all[i] = all[len(all)-1]
					all = all[:len(all)-1]
				} else {
					make1()
				}
			}
			for _, ev := range table.TakeEvents(nil) {
				if ev.Withdrawn && (ev.Edge || x.everyPort()) {
					was[id(ev.Binding)] = false
				}
				if ev.Binding.Range.Overlaps(x.Range) && x.wants(ev) && l.Reached(ev) {
					tell(ev.Binding, ev.Withdrawn)
				}
			}
		}
		want := map[any]bool{}
		for _, b := range all {
			if b.Range.Overlaps(x.Range) {
				want[id(b)] = true
			}
		}
		for k, is := range there {
			if is != want[k] {
				t.Errorf("seed %d: %v is told as there=%v", seed, k, is)
			}
		}
		for k := range want {
			if !there[k] {
				t.Errorf("seed %d: %v is not told", seed, k)
			}
		}
		for k, always := range was {
			if always && times[k] != 1 {
				t.Errorf("seed %d: %v was there all the time, told %d times", seed, k, times[k])
			}
		}
	}
}
