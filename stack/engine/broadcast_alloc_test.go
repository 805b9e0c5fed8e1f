// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// hotCast is $1 peers of two whose frames are made beforehand.
type hotCast struct {
	*peers
	from, to *Port
	acks     [2]*netdev.Buffer // a STATE of each peer
	in       *netdev.Buffer    // a broadcast of the first
	buf      [2048]byte
	payload  [64]byte
}

func newHotCast(t testing.TB, m Method) *hotCast {
	c, p := broadcastPeers(t, 1, 2)
	h := &hotCast{peers: c, from: p, to: c.OpenPort(PortConfig{})}
	p.SetMethod(m)
	if err := h.to.Bind(c.now, frame.Range{Type: 2000, Upper: 9}, frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.allAck()
	}
	c.forget()
	h.keepAcks()
	h.in = c.on(0, 0).keptFor(frame.BroadcastMAC, c.peerList[0].mcast(frame.Range{Type: 2000, Upper: 9}, nil, string(h.payload[:])))
	return h
}

// keepAcks makes the STATEs.
func (h *hotCast) keepAcks() {
	for i, p := range h.peerList {
		f := frame.StateFields{Common: frame.Common{Prev: p.addr}, LinkInfo: p.info()}
		h.acks[i] = p.kept(f.Append(nil, nil))
	}
}

// acknowledge takes the frames out and lets all acknowledge.
func (h *hotCast) acknowledge() {
	h.discard()
	for i, b := range h.acks {
		x := h.peerList[i].links[0]
		msg := b.Bytes()[frame.EthernetLen:]
		frame.StampAcks(msg, h.node(i).links[0].Look().SndNxt-1, h.cast.sender.Last())
		frame.StampSeq(msg, x.state)
		x.state++
		h.HandleFrame(h.now, 0, b)
	}
}

// sendOne sends a message to all, takes the frames out and lets all acknowledge.
func (h *hotCast) sendOne() {
	if err := h.from.SendRange(h.now, allRange, h.payload[:]); err != nil {
		h.t.Fatal(err)
	}
	h.acknowledge()
}

// receiveOne lets the broadcast come and reads it.
func (h *hotCast) receiveOne() {
	frame.StampBroadcast(h.in.Bytes()[frame.EthernetLen:], h.peerList[0].bcast, frame.DefaultNetID)
	h.peerList[0].bcast++
	h.HandleFrame(h.now, 0, h.in)
	if n, _, ok := h.to.Read(h.buf[:]); !ok || n != len(h.payload) {
		h.t.Fatalf("read %d bytes, %v", n, ok)
	}
	h.ready = h.ready[:0]
	h.to.readied = false
	h.discard()
}

// 64 bytes to all, by either method, and their reception allocate nothing.
func TestNoAllocsMulticast(t *testing.T) {
	b, r := newHotCast(t, Broadcast), newHotCast(t, Replicast)
	for _, c := range []struct {
		name string
		f    func()
	}{{"by broadcast", b.sendOne}, {"by copies", r.sendOne}, {"receive and read", b.receiveOne}} {
		for range 100 {
			c.f()
		}
		if got := testing.AllocsPerRun(500, c.f); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", c.name, got)
		}
	}
	if b.Unsent() != 0 || r.Unsent() != 0 {
		t.Errorf("got %d, %d unsent", b.Unsent(), r.Unsent())
	}
}

func BenchmarkBroadcast(b *testing.B) {
	h := newHotCast(b, Broadcast)
	for b.Loop() {
		h.sendOne()
	}
}

func BenchmarkReplicast(b *testing.B) {
	h := newHotCast(b, Replicast)
	for b.Loop() {
		h.sendOne()
	}
}

func BenchmarkReceiveBroadcast(b *testing.B) {
	h := newHotCast(b, Broadcast)
	for b.Loop() {
		h.receiveOne()
	}
}
