// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A triad is two nodes on three networks.
type triad struct {
	bed
	kernel int   // the node that behaves as a kernel; -1: none
	dead   []int // networks that carry nothing
	oneWay bool  // they carry what the second node sends
	mute   bool  // announcements are not carried
}

func newTriad(t *testing.T, kernel int) *triad {
	b := &triad{bed: bed{t: t}, kernel: kernel}
	for i, a := range []frame.NodeAddr{0x1001001, 0x1001002} {
		b.add(Config{Address: a, AsKernel: i == kernel}, uint64(i))
	}
	for range 2 {
		for _, n := range b.nodes {
			b.attach(n, BearerConfig{MTU: 1500})
		}
	}
	return b
}

// run carries frames by network, which is in the sender's address, until a condition holds.
func (b *triad) run(limit time.Duration, cond func() bool) bool {
	b.lose = func(from int, f []byte) bool {
		return b.mute && frame.MAC(f).IsGroup() || slices.Contains(b.dead, int(f[10])) && (from == 0 || !b.oneWay)
	}
	return b.until(limit, cond)
}

// over returns the bearers of a node's links that are up.
func (b *triad) over(i int) (bearers []int) {
	for s := range b.nodes[i].Peers(b.now) {
		if s.Up {
			bearers = append(bearers, s.Bearer)
		}
	}
	return bearers
}

// ends returns the bearers on which a node has ends of links, up or not.
func (b *triad) ends(i int) (bearers []int) {
	for s := range b.nodes[i].Peers(b.now) {
		bearers = append(bearers, s.Bearer)
	}
	return bearers
}

// links waits until both nodes have links over these bearers alone, and looks whether they stay.
func (b *triad) links(limit time.Duration, want ...int) {
	b.t.Helper()
	is := func() bool { return slices.Equal(b.over(0), want) && slices.Equal(b.over(1), want) }
	began := b.now
	if !b.run(limit, is) {
		b.t.Fatalf("after %v the links are up over %v and %v, want %v", limit, b.over(0), b.over(1), want)
	}
	took := b.now - began
	if b.run(140*time.Second, func() bool { return !is() }) {
		b.t.Fatalf("after %v more the links are up over %v and %v, want %v", b.now-began-took, b.over(0), b.over(1), want)
	}
	b.t.Logf("links over %v after %v", want, took)
}

// spares says of how many nodes a node shows that they have no link, by bearer.
func (b *triad) spares(i int) (all [3]int) {
	for id := range all {
		all[id] = b.nodes[i].Spares(b.now, id)
	}
	return all
}

// Two nodes on three networks hear each other first on two of them, other ones at either end:
// both links come up all the same, and stay, none is called one-way, and both ends show which
// bearer has none. The links come up as well with a peer that does not follow, as a kernel, and
// where nothing is announced any more, as where multicast is lost. Without one of the bearers
// the third has its link at once, and at the other end soon.
// Mutations: handleUnicast does not call stray; stray does not call earn; accept does not call
// spares; an end that is the kernel's follows; both ends wait for as long; replace does not call
// end; RemoveBearer accepts nobody.
func TestLinksOverThreeBearers(t *testing.T) {
	for _, kernel := range []int{-1, 0, 1} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("kernel %d silent %v", kernel, silent), func(t *testing.T) {
				b := newTriad(t, kernel)
				// The first node's announcements are heard on 1 and 2, the second's on 0 and 1.
				b.lose = func(from int, f []byte) bool { return int(f[10]) == map[int]int{0: 0, 1: 2}[from] }
				b.settle()
				b.mute = silent
				want, spare := []int{1, 2}, [3]int{1, 0, 0}
				if kernel == 0 {
					want, spare = []int{0, 1}, [3]int{0, 0, 1}
				}
				b.links(20*time.Second, want...)
				b.mute = false
				b.links(0, want...)
				for i, n := range b.nodes {
					if all := n.impaired(); kernel < 0 && len(all) > 0 {
						t.Errorf("got %+v", all)
					}
					for s := range n.Peers(b.now) {
						if s.Impaired != Unimpaired {
							t.Errorf("node %d shows %q of a link that is up", i, s.Impaired)
						}
					}
					if got := b.spares(i); got != spare {
						t.Errorf("node %d shows nodes without a link on the bearers: %v, want %v", i, got, spare)
					}
				}
				if kernel >= 0 {
					return
				}
				b.nodes[0].RemoveBearer(b.now, 1)
				if got := b.ends(0); !slices.Equal(got, []int{0, 2}) {
					t.Errorf("with a bearer less, ends on the bearers %v", got)
				}
				b.settle()
				if got := b.spares(0); got != [3]int{} {
					t.Errorf("with a bearer less, nodes without a link on the bearers: %v", got)
				}
				b.links(15*time.Second, 0, 2)
			})
		}
	}
}

// Of the networks between two nodes one or two fail, in one direction or both, or an interface loses
// its carrier: the spare has a link in their place, also when both fail at once, and has it still
// when they return. A kernel's link is not given up, and comes up again.
// Mutations: HandleTimeout does not call replace; replace works for a kernel, or takes a kernel's
// spare.
func TestSpareTakesOver(t *testing.T) {
	for _, kernel := range []int{-1, 0, 1} {
		for _, c := range []struct {
			name            string
			dead            []int
			oneWay, carrier bool
			rest, later     []int // bearers with links to a node of utipc, and when the networks are back
		}{
			{"first", []int{0}, false, false, []int{1, 2}, []int{1, 2}},
			{"second", []int{1}, false, false, []int{0, 2}, []int{0, 2}},
			{"one-way", []int{0}, true, false, []int{1, 2}, []int{1, 2}},
			{"carrier", []int{1}, false, true, []int{0, 2}, []int{0, 2}},
			{"both", []int{0, 1}, false, false, []int{2}, []int{0, 2}},
		} {
			t.Run(fmt.Sprintf("kernel %d %s", kernel, c.name), func(t *testing.T) {
				b := newTriad(t, kernel)
				b.links(2*time.Second, 0, 1)
				if kernel >= 0 {
					c.rest = slices.DeleteFunc([]int{0, 1}, func(i int) bool { return slices.Contains(c.dead, i) })
					c.later = []int{0, 1}
				}
				if b.oneWay = c.oneWay; c.carrier {
					b.nodes[0].SetMTU(b.now, c.dead[0], 0)
				} else {
					b.dead = c.dead
				}
				b.links(20*time.Second, c.rest...)
				if got := b.ends(0); kernel == 1 && !slices.Equal(got, []int{0, 1}) {
					t.Errorf("beside a kernel, ends on the bearers %v", got)
				}
				if b.dead = nil; c.carrier {
					b.nodes[0].SetMTU(b.now, c.dead[0], 1500)
				}
				b.links(20*time.Second, c.later...)
			})
		}
	}
}
