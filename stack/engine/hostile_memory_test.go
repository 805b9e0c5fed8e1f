// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Peers that send all but the packet that has its turn, and fragments that never end, on
// their links and broadcast links, are kept no more than the pool has; one that has lost a
// packet is kept what it sent behind, and all comes back with contact.
//
// Proves: hostile.docs, hostile.bounded
func TestHostileMemoryOfAllPeers(t *testing.T) {
	const peers, limit, share = 9, 4 << 20, 64 << 10
	c := newPeers(t, 1, peers)
	c.pool.Limit = limit
	text := strings.Repeat("x", 1000)
	for i := range peers - 1 {
		first := c.peerData(i, 4711, strings.Repeat(text, 60))
		c.on(i, 0).packet(c.fragment(i, first[:1400]))
		x := c.peerList[i].links[0]
		was, bwas := x.seq, c.peerList[i].bcast
		for k := range 2000 {
			x.seq++
			c.on(i, 0).packet(c.peerData(i, 4711, text))
			c.peerList[i].bcast++
			c.on(i, 0).broadcast(c.peerList[i].mcast(allRange, nil, text))
			c.sent = nil
			if got := c.Kept(); got > limit+peers*2*share {
				t.Fatalf("peer %d, packet %d: %d bytes are kept", i, k, got)
			}
		}
		x.seq, c.peerList[i].bcast = was, bwas
	}
	i := peers - 1
	before := c.Kept()
	x := c.peerList[i].links[0]
	x.seq++
	for range 20 {
		c.on(i, 0).packet(c.peerData(i, 4711, text))
	}
	if got := c.Kept() - before; got < 20*1000 {
		t.Errorf("of the honest peer %d bytes are kept, want 20 packets", got)
	}
	if before < limit/2 {
		t.Errorf("only %d bytes were kept of the others", before)
	}
	for i := range peers {
		if !c.node(i).up() {
			t.Errorf("peer %d is gone", i)
		}
	}
	c.done("")
}

func (c *peers) peerData(i int, port uint32, text string) []byte {
	return data(port, func(f *frame.PayloadFields) { f.Prev, f.OrigNode = c.peerList[i].addr, c.peerList[i].addr }, text)
}

func (c *peers) fragment(i int, piece []byte) []byte {
	f := frame.FragmentFields{Common: frame.Common{Prev: c.peerList[i].addr}, Type: frame.FirstFragment, Number: 1, Orig: c.peerList[i].addr, Dest: ownAddr}
	return f.Append(nil, piece)
}
