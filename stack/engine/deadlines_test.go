// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// entry makes a link that has no more than its place among others.
func entry(addr frame.NodeAddr, id uint8) *link {
	return &link{n: &node{addr: addr}, bearer: &bearer{id: id}, due: flowctl.Never}
}

func placesOf(links []*link) (s []string) {
	for _, l := range links {
		s = append(s, fmt.Sprint(l.n.addr, "/", l.bearer.id))
	}
	return s
}

// Whatever is entered, moved and taken out, the first is the earliest, and due are
// those whose time has come, by node and bearer.
//
// Proves: link.timers
func TestDeadlinesAsSortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var d deadlines
	var all []*link
	for a := range frame.NodeAddr(60) {
		all = append(all, entry(a, 0), entry(a, 1))
	}
	for step := range 20_000 {
		l := all[r.IntN(len(all))]
		at := time.Duration(r.IntN(200))
		if r.IntN(4) == 0 {
			at = flowctl.Never
		}
		d.move(l, at)
		if l.due != at {
			t.Fatalf("step %d: the link's time is %v, want %v", step, l.due, at)
		}
		first, now := flowctl.Never, time.Duration(r.IntN(60))
		var want []*link
		for _, l := range all {
			if first = min(first, l.due); l.due <= now {
				want = append(want, l)
			}
		}
		if d.first() != first {
			t.Fatalf("step %d: first is %v, want %v", step, d.first(), first)
		}
		if got := d.due(now); !slices.Equal(got, want) {
			t.Fatalf("step %d: due at %v: got %v, want %v", step, now, placesOf(got), placesOf(want))
		}
	}
	if len(d.links) > len(all) {
		t.Errorf("%d numbers given out for %d links", len(d.links), len(all))
	}
}

// What is due does not depend on the order in which it was entered.
//
// Proves: link.timers
func TestDueInOrderOfNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var want []string
	for range 20 {
		var d deadlines
		for _, i := range r.Perm(40) {
			d.move(entry(frame.NodeAddr(i/2), uint8(i%2)), time.Second)
		}
		got := placesOf(d.due(time.Second))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || !slices.IsSortedFunc(d.due(time.Second), func(a, b *link) int {
			return int(a.n.addr)*2 + int(a.bearer.id) - int(b.n.addr)*2 - int(b.bearer.id)
		}) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// A timeout touches the links that are due and no others: those are without an
// endpoint here, and to look at one would panic.
//
// Proves: link.timers
func TestTimeoutTouchesWhatIsDue(t *testing.T) {
	c := newManyPeers(t, 50)
	for range 200 {
		now := c.Deadline()
		endpoints := map[*link]*flowctl.Link{}
		due := 0
		for _, n := range c.nodes {
			l := n.links[0]
			if l.Deadline() <= now {
				due++
				continue
			}
			endpoints[l] = l.Link
			l.Link = nil
		}
		c.now = now
		c.HandleTimeout(now)
		for l, ep := range endpoints {
			l.Link = ep
		}
		// Each sends a probe; discovery and forgetting have deadlines of their own.
		if frames := c.take(); frames != due && !(due == 0 && frames == 1) {
			t.Fatalf("at %v: %d frames, %d links are due", now, frames, due)
		}
	}
}

// Serving a deadline at which nothing is due does not happen: the engine's deadline is
// always that of something.
//
// Proves: link.timers
func TestDeadlineIsExact(t *testing.T) {
	c := newManyPeers(t, 20)
	r := rand.New(rand.NewPCG(5, 6))
	for step := range 2000 {
		first := c.slow
		for x := range c.Timers {
			first = min(first, x.Due)
		}
		if got := c.Deadline(); got != first {
			t.Fatalf("step %d: got %v, want %v", step, got, first)
		}
		c.now = c.Deadline()
		c.HandleTimeout(c.now)
		if i := r.IntN(c.n); r.IntN(2) == 0 && c.link(i).IsUp() {
			c.hear(i)
			c.port.Send(c.now, frame.SocketAddr{Port: 77, Node: c.addr(i)}, c.msg[:8])
		}
		c.take()
	}
}

// Links that are gone have no deadline, and their numbers are used again.
func TestGoneLinksHaveNoDeadline(t *testing.T) {
	p := newScriptedPeer(t).up()
	want := func(what string, n int) {
		t.Helper()
		if got := len(p.deadlines.heap); got != n || len(p.deadlines.links) > 1 {
			t.Errorf("%s: %d deadlines, %d numbers, want %d", what, got, len(p.deadlines.links), n)
		}
	}
	want("up", 1)
	p.wait(p.now + 5*time.Second) // silence
	want("lost", 1)
	p.disc(frame.Request, func(f *frame.DiscoveryFields) { f.MAC[5], f.Signature = 9, 7 })
	want("moved to another station", 1)
	p.wait(p.now + forgetAfter + 2*slowTick)
	want("forgotten", 0)
	if got := len(p.nodes) + len(p.identities) + p.gone.n + p.strangers.n; got != 0 {
		t.Errorf("%d entries for nodes are left", got)
	}
	p.drain()
	p.up()
	want("back", 1)
	p.done()
	want("left", 0)
	if p.Deadline() != flowctl.Never {
		t.Errorf("left: got deadline %v", p.Deadline())
	}
}

func TestIdleDoesNotAllocate(t *testing.T) {
	c := newManyPeers(t, 100)
	if got := testing.AllocsPerRun(3000, func() {
		c.now = c.Deadline()
		c.HandleTimeout(c.now)
		c.take()
	}); got != 0 && !raceEnabled { // the race detector allocates
		t.Errorf("a tick: got %v allocations, want 0", got)
	}
}
