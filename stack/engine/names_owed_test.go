// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// One refused chunk costs no contact, wherever it is: three nodes come up, bind and unbind,
// by numbered updates and to a node that knows none, and the first is refused its k-th
// chunk, for every k in turn, or that and two more. All tables are the same in the end,
// and what is multicast arrives.
//
// Mutations that it catches: giveUp in place of oweNames in tellOne; a bulk that is not tried
// again in payNames.
func TestRefusedChunkCostsNoContact(t *testing.T) {
	for burst, caps := range map[int]frame.Capabilities{1: Capabilities, 3: Capabilities &^ frame.CapNamedBcast} {
		k := 0
		for ; refuseOne(t, caps, k, burst); k++ {
		}
		if k < 40 {
			t.Errorf("the first node took %d chunks in all", k)
		}
		t.Logf("%d refused at a time: %d places", burst, k)
	}
}

// known is what a node knows of the test's names.
func known(n *bedNode) string {
	var have []string
	for g := range n.table.Overlapping(frame.Range{Type: 500, Upper: 100}) {
		have = append(have, fmt.Sprint(g.Range.Lower))
	}
	slices.Sort(have)
	return strings.Join(have, " ")
}

// refuseOne refuses a burst of chunks from the k-th on, and reports whether there were so many.
func refuseOne(t *testing.T, caps frame.Capabilities, k, burst int) (there bool) {
	t.Helper()
	asked := 0
	b := &bed{t: t, short: func(node int) bool {
		if node != 0 {
			return false
		}
		asked++
		return asked > k && asked <= k+burst
	}}
	for i := range frame.NodeAddr(3) {
		c := Config{Address: 0x1001001 + i}
		if i == 2 {
			c.Capabilities = caps
		}
		b.add(c, uint64(i))
	}
	x := b.nodes[0]
	p := x.OpenPort(PortConfig{})
	bind := func(i uint32) { p.Bind(b.now, frame.Range{Type: 500, Lower: i, Upper: i}, frame.ClusterScope) }
	for i := range uint32(3) {
		bind(i) // for the bulk
	}
	together := func() bool { return b.nodes[0].ups == 2 && b.nodes[1].ups == 2 && b.nodes[2].ups == 2 }
	if !b.until(longTime, together) {
		t.Fatalf("chunk %d: no contact", k)
	}
	told := func() bool { return known(b.nodes[1]) == "0 1 2" && known(b.nodes[2]) == "0 1 2" }
	if !b.until(time.Second, told) { // by the bulk alone: no update asks for its rest
		t.Errorf("chunk %d: of 0 1 2 the others know %s, and %s", k, known(b.nodes[1]), known(b.nodes[2]))
	}
	for i := range uint32(6) {
		bind(10 + i)
		b.pass(7 * time.Millisecond)
		if i%2 == 1 {
			p.Unbind(b.now, frame.Range{Type: 500, Lower: 10 + i, Upper: 10 + i}, frame.ClusterScope)
		}
	}
	bind(20)
	var heard []*Port
	for _, n := range b.nodes[1:] {
		q := n.OpenPort(PortConfig{})
		q.Bind(b.now, frame.Range{Type: 600, Lower: 1, Upper: 1}, frame.ClusterScope)
		heard = append(heard, q)
	}
	b.pass(500 * time.Millisecond)
	err := ErrMemory
	for range 4 {
		if err == ErrMemory {
			err = p.SendRange(b.now, frame.Range{Type: 600, Lower: 1, Upper: 1}, []byte("to all"))
		}
	}
	if err != nil {
		t.Errorf("chunk %d: multicast: %v", k, err)
	}
	b.pass(time.Second)
	for i, n := range b.nodes {
		for _, ev := range n.events {
			if ev.Kind == PeerLost || ev.Kind == LinkDown {
				t.Errorf("chunk %d: node %d: %v of %v", k, i, ev.Kind, ev.Node)
			}
		}
		if got := known(n); got != "0 1 10 12 14 2 20" {
			t.Errorf("chunk %d: node %d knows %s", k, i, got)
		}
	}
	for i, q := range heard {
		if q.Pending() != 1 {
			t.Errorf("chunk %d: node %d has %d multicast messages", k, i+1, q.Pending())
		}
	}
	for _, n := range x.nodes {
		if n.owed != nil {
			t.Errorf("chunk %d: %v is owed something still", k, n.addr)
		}
	}
	if got := len(b.wire); got > 0 || x.arena.Free() != x.arena.Total() {
		t.Errorf("chunk %d: %d of %d chunks free", k, x.arena.Free(), x.arena.Total())
	}
	return asked > k
}
