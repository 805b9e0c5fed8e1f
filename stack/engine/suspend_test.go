// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A host that was suspended, alone or with all others, finds the time hours later at once.
// Its links end once at most for each time, return within 5 s, names with them, and what was due meanwhile
// is done once, not as often as it was due.
//
// Mutation it catches: a timer that is set to its last time and an interval, not to now and
// an interval (b.next in discover.go).
func TestHostWasSuspended(t *testing.T) {
	for _, all := range []bool{true, false} {
		b := newBed(t, 3)
		name := frame.Range{Type: 500, Lower: 1, Upper: 1}
		if err := b.nodes[0].OpenPort(PortConfig{}).Bind(b.now, name, frame.ClusterScope); err != nil {
			t.Fatal(err)
		}
		whole := func() bool {
			for _, n := range b.nodes {
				up := 0
				for l := range n.Peers(b.now) {
					if l.Up {
						up++
					}
				}
				if up != 2 || !n.knows(name) {
					return false
				}
			}
			return true
		}
		if !b.until(5*time.Second, whole) {
			t.Fatal("no contact at first")
		}
		b.pass(5 * time.Second)
		frames := len(b.lines) // of making contact, and of some seconds
		for _, n := range b.nodes {
			n.events = nil
		}
		if all {
			b.now += 6 * time.Hour
		} else {
			b.withoutFirst(10 * time.Minute)
			b.now += 6 * time.Hour // and then all
		}
		b.lines = nil
		for _, n := range b.nodes {
			n.HandleTimeout(b.now)
		}
		b.pass(5 * time.Second)
		if !whole() {
			t.Errorf("all %v: contact does not return in 5 s", all)
		}
		if len(b.lines) > frames {
			t.Errorf("all %v: %d frames in 5 s, want at most the %d of making contact", all, len(b.lines), frames)
		}
		most := 1 // for each suspension
		if !all {
			most = 2
		}
		for i, n := range b.nodes {
			down := map[frame.NodeAddr]int{}
			for _, ev := range n.events {
				if ev.Kind == LinkDown {
					if down[ev.Node]++; down[ev.Node] > most {
						t.Errorf("all %v: node %d lost its link to %v %d times", all, i+1, ev.Node, down[ev.Node])
					}
				}
			}
		}
	}
}

// withoutFirst lets time pass for all nodes but the first.
func (b *bed) withoutFirst(d time.Duration) {
	first, end := b.nodes[0], b.now+d
	b.cut = func(from, to, _ int) bool { return from == 0 || to == 0 }
	for b.now < end {
		b.settle()
		next := end
		for _, n := range b.nodes[1:] {
			next = min(next, n.Deadline())
		}
		b.now = next
		for _, n := range b.nodes {
			if n != first {
				n.HandleTimeout(b.now)
			}
		}
	}
	b.cut = nil
}
