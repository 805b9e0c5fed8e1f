// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"
)

// One short life is forgiven; then each doubles the wait, up to a bound, until the
// link has been up for long.
//
// Proves: link.flapping
func TestDamper(t *testing.T) {
	var d damper
	now := time.Duration(0)
	live := func(up time.Duration) (wait time.Duration) {
		d.up(now)
		now += up
		d.down(now)
		for d.waits(now + wait) {
			wait += 500 * time.Millisecond
		}
		now += wait
		return wait
	}
	for i, want := range []time.Duration{0, 1, 2, 4, 8, 16, 16} {
		if got := live(time.Second); got != want*time.Second {
			t.Errorf("short life %d: waits %v, want %v", i, got, want*time.Second)
		}
	}
	for i, want := range []time.Duration{0, 0, 1} {
		up := dampSteady
		if i > 0 {
			up = time.Second
		}
		if got := live(up); got != want*time.Second {
			t.Errorf("after a long life, %d: waits %v, want %v", i, got, want*time.Second)
		}
	}
}

// A flapping link is kept out of use while another works, and contact never waits for it.
//
// Proves: link.flapping
func TestFlappingLinkIsHeldBack(t *testing.T) {
	w := newTwin(t, BearerConfig{})
	ups := func() (n int) {
		for _, ev := range w.x.events {
			if ev.Kind == LinkUp {
				n++
			}
		}
		return n
	}
	before, start := ups(), w.now
	for w.now < start+20*time.Second {
		w.cut = func(_, _, bearer int) bool { return bearer == 1 }
		w.x.SetMTU(w.now, 1, 0)
		w.pass(100 * time.Millisecond)
		w.cut = nil
		w.x.SetMTU(w.now, 1, 1500)
		w.pass(time.Second)
	}
	if got := ups() - before; got < 3 || got > 8 {
		t.Errorf("in 20 s of flapping the link came up %d times, want 3 to 8", got)
	}
	w.send()
	w.done()
	// The only link comes up as fast as it can.
	w.x.RemoveBearer(w.now, 0)
	w.x.SetMTU(w.now, 1, 0)
	w.pass(5 * time.Second)
	back := w.now
	w.x.SetMTU(w.now, 1, 1500)
	w.waitFor(w.bothUp(1))
	if got := w.now - back; got > 3*time.Second {
		t.Errorf("contact was made after %v", got)
	}
}

// A bearer that is removed frees its number, and the node goes on with the other.
//
// Proves: link.failover
func TestRemoveBearer(t *testing.T) {
	w := newTwin(t, BearerConfig{})
	w.work(2 * time.Millisecond)
	w.x.RemoveBearer(w.now, 0)
	w.x.RemoveBearer(w.now, 0) // harmless
	w.x.SetMTU(w.now, 0, 1400) // also
	w.work(2 * time.Millisecond)
	w.waitFor(w.bothUp(1))
	if w.x.nodes[0].links[0] != nil {
		t.Error("the link is still there")
	}
	w.done()
	if id, err := w.x.AddBearer(w.now, BearerConfig{Name: "eth0", MAC: w.x.macs[0], MTU: 1500}); id != 0 || err != nil {
		t.Errorf("got bearer %d, %v; want 0", id, err)
	}
	w.waitFor(w.bothUp(2))
	w.x.RemoveBearer(w.now, 1)
	w.x.RemoveBearer(w.now, 0)
	w.settle()
	for i, n := range w.nodes {
		if ev := n.events[len(n.events)-1]; n.nodes[0].up() || w.now > time.Hour {
			t.Errorf("node %d: contact after the last bearer went; last event %v", i, ev.Kind)
		}
	}
}
