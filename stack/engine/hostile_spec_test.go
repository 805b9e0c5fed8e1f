// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Spec 02 §12.9: tunnel messages that no sender builds are dropped, counted, and have
// no other effect: both links stay up, and nothing of them is kept.
//
// Proves: hostile.docs
func TestHostileTunnelMalformed(t *testing.T) {
	hi := data(1, nil, "hello")
	set := func(b []byte, change func(b []byte)) []byte {
		b = bytes.Clone(b)
		change(b)
		return b
	}
	for _, c := range []struct {
		name string
		msg  func(d *scriptedPeer) []byte
		drop string
	}{
		{"count 0", func(d *scriptedPeer) []byte { return d.tunnel(func(f *frame.TunnelFields) { f.Count = 0 }, hi) }, "malformed=1"},
		{"count 65535", func(d *scriptedPeer) []byte { return d.tunnel(func(f *frame.TunnelFields) { f.Count = 65535 }, hi) }, "malformed=1"},
		{"count 32767", func(d *scriptedPeer) []byte { return d.tunnel(func(f *frame.TunnelFields) { f.Count = 32767 }, hi) }, "malformed=1"},
		{"piece 0", func(d *scriptedPeer) []byte {
			return d.tunnel(func(f *frame.TunnelFields) { f.Piece, f.Pieces = 0, 3 }, hi)
		}, "malformed=1"},
		{"piece beyond the last", func(d *scriptedPeer) []byte {
			return d.tunnel(func(f *frame.TunnelFields) { f.Piece, f.Pieces = 4, 3 }, hi)
		}, "malformed=1"},
		{"piece of none", func(d *scriptedPeer) []byte { return d.tunnel(func(f *frame.TunnelFields) { f.Piece = 1 }, hi) }, "malformed=1"},
		{"65535 pieces", func(d *scriptedPeer) []byte {
			return d.tunnel(func(f *frame.TunnelFields) { f.Piece, f.Pieces = 1, 65535 }, hi)
		}, "malformed=1"},
		{"first piece of 23 bytes", func(d *scriptedPeer) []byte {
			return d.tunnel(func(f *frame.TunnelFields) { f.Piece, f.Pieces = 1, 2 }, hi[:23])
		}, "malformed=1"},
		{"nothing inside", func(d *scriptedPeer) []byte { return d.tunnel(nil, nil) }, "malformed=1"},
		{"23 bytes inside", func(d *scriptedPeer) []byte { return d.tunnel(nil, hi[:23]) }, "malformed=1"},
		{"type 2", func(d *scriptedPeer) []byte { return set(d.tunnel(nil, hi), func(b []byte) { b[4] = 2 << 5 }) }, "unknown user or type=1"},
		{"type 7", func(d *scriptedPeer) []byte { return set(d.tunnel(nil, hi), func(b []byte) { b[4] = 7 << 5 }) }, "unknown user or type=1"},
		{"header of 36", func(d *scriptedPeer) []byte {
			return set(d.tunnel(nil, hi), func(b []byte) { b[0], b[1] = b[0]|1, b[1]&0x1f|1<<5 })
		}, "malformed=1"},
		{"header of 44", func(d *scriptedPeer) []byte {
			return set(d.tunnel(nil, hi), func(b []byte) { b[0], b[1] = b[0]|1, b[1]&0x1f|3<<5 })
		}, "malformed=1"},
		{"synch with count 0 and a packet", func(d *scriptedPeer) []byte {
			return d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, 0 }, hi)
		}, "malformed=1"},
		{"synch in pieces", func(d *scriptedPeer) []byte {
			return d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Piece, f.Pieces = frame.TunnelSynch, 1, 2 }, hi)
		}, "malformed=1"},
		{"to another node", func(d *scriptedPeer) []byte { return d.tunnel(func(f *frame.TunnelFields) { f.Dest = 0x1001009 }, hi) }, "not for this station or node=1"},
	} {
		d := newTwoLinks(t)
		d.links[0].packet(c.msg(d))
		if got := d.drops(); got != c.drop {
			t.Errorf("%s: dropped %q, want %q", c.name, got, c.drop)
		}
		if !d.bothUp() || d.links[0].drain() != nil || d.links[1].drain() != nil {
			t.Errorf("%s: got %v, %v, %v", c.name, d.node().contact, d.link(0).State(), d.link(1).State())
		}
		d.settle(c.name)
		d.done(c.name)
	}
}

// Spec 02 §12.9, 03 §4.3: a FAILOVER says that the other link is down at the peer, and
// takes it down here. That is the most it can do: contact stays, with the link it came on;
// what is inside is judged like what comes by itself, and dropped where it cannot be.
//
// Proves: hostile.docs
func TestHostileTunnelForgedFailover(t *testing.T) {
	hi := func() []byte { return data(4711, func(f *frame.PayloadFields) { f.DestDroppable = true }, "hello") }
	for _, c := range []struct {
		name  string
		inner func(d *scriptedPeer) []byte
		drop  string
	}{
		{"what would be next", func(d *scriptedPeer) []byte { return inside(d.links[1].seq, hi()) }, "nobody to take it, and not to be returned=1"},
		{"what came before", func(d *scriptedPeer) []byte { return inside(d.links[1].seq-1, hi()) }, "duplicate, early or late=1"},
		{"far ahead", func(d *scriptedPeer) []byte { return inside(d.links[1].seq+8192, hi()) }, "duplicate, early or late=1"},
		{"half way round", func(d *scriptedPeer) []byte { return inside(d.links[1].seq+32768, hi()) }, "duplicate, early or late=1"},
		{"link message", func(d *scriptedPeer) []byte {
			return (&frame.StateFields{Common: frame.Common{Prev: popAddr}, LinkInfo: frame.LinkInfo{Orig: popAddr, Dest: ownAddr, Priority: 31}}).Append(nil, nil)
		}, "malformed=1"},
		{"discovery", func(d *scriptedPeer) []byte {
			f := frame.DiscoveryFields{Capabilities: popCaps, Prev: 0x1001005, NetID: frame.DefaultNetID, MAC: frame.MAC{2, 9}, Identity: frame.Identity{5}}
			return f.Append(nil)
		}, "malformed=1"},
		{"broadcast", func(d *scriptedPeer) []byte {
			return inside(d.links[1].seq, onBroadcast(data(1, mcastOnBroadcast(1, 2), "x")))
		}, "malformed=1"},
		{"version 1", func(d *scriptedPeer) []byte { b := hi(); b[0] = b[0]&0x1f | 1<<5; return b }, "version=1"},
		{"shorter than it says", func(d *scriptedPeer) []byte { return hi()[:32] }, "truncated=1"},
		{"for another node", func(d *scriptedPeer) []byte {
			return inside(d.links[1].seq, data(1, func(f *frame.PayloadFields) { f.DestNode = 0x1001009 }, "x"))
		}, "not for this station or node=1"},
		{"bundle with a link message", func(d *scriptedPeer) []byte {
			return inside(d.links[1].seq, bundle(nil, (&frame.StateFields{Common: frame.Common{Prev: popAddr}, LinkInfo: frame.LinkInfo{Dest: ownAddr}}).Append(nil, nil)))
		}, "not allowed inside a bundle=1"},
		{"keys", func(d *scriptedPeer) []byte {
			b := inside(d.links[1].seq, connMsg(1, nil))
			b[0] = 2<<5 | byte(frame.UserCrypto)<<1 | b[0]&1
			return b
		}, "a key that came plain=1"},
		{"FAILOVER", func(d *scriptedPeer) []byte { return inside(d.links[1].seq, d.tunnel(nil, inside(1, hi()))) }, ""},
		{"SYNCH", func(d *scriptedPeer) []byte {
			return inside(d.links[1].seq, d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, 65535 }, nil))
		}, ""},
		{"FAILOVER in FAILOVER in FAILOVER", func(d *scriptedPeer) []byte {
			return inside(d.links[1].seq, d.tunnel(nil, inside(1, d.tunnel(nil, inside(2, d.tunnel(nil, inside(3, hi())))))))
		}, ""},
	} {
		for bearer := uint8(0); bearer < 8; bearer += 7 { // of 3 bits, 3 to 7 are no bearer: none is an index
			d := newTwoLinks(t)
			d.links[0].packet(d.tunnel(func(f *frame.TunnelFields) { f.Bearer = bearer }, c.inner(d)))
			if got := d.drops(); got != c.drop {
				t.Errorf("%s: dropped %q, want %q", c.name, got, c.drop)
			}
			if n := d.node(); !n.up() || !n.links[0].IsUp() || n.links[1].IsUp() || n.contact != FailingOver {
				t.Errorf("%s: got %v, %v, %v, want the second link failing over", c.name, n.contact, n.links[0].State(), n.links[1].State())
			}
			if got := d.links[0].drain(); len(got) != 1 || !strings.HasPrefix(got[0], "tunnel/failover") {
				t.Errorf("%s: sent %q, want what the other link had: one packet", c.name, got)
			}
			if len(d.nodes) != 1 || d.table.Count(popAddr) == 0 {
				t.Errorf("%s: %d nodes, %d names", c.name, len(d.nodes), d.table.Count(popAddr))
			}
			d.links[0].report(nil) // behind the end point: the failover is over
			d.links[0].packet(hi())
			if n := d.node(); n.contact != UpUp || !n.links[1].IsReset() {
				t.Errorf("%s: then %v, %v", c.name, n.contact, n.links[1].State())
			}
			d.links[0].report(nil)
			if free, total := d.arena.Free(), d.arena.Total(); free != total {
				t.Errorf("%s: %d of %d chunks free", c.name, free, total)
			}
			d.done(c.name)
		}
	}
}

// A forged FAILOVER out of the receive window, or of a number that was used, has no
// effect on the other link (spec 02 §12.8).
//
// Proves: hostile.docs
func TestHostileTunnelOutsideTheWindow(t *testing.T) {
	for _, ahead := range []frame.Seq{65535, 60000, 32768, 32767, 8192} {
		d := newTwoLinks(t)
		b := d.tunnel(nil, inside(d.links[1].seq, data(4711, nil, "x")))
		frame.StampSeq(b, d.links[0].seq+ahead)
		d.links[0].hear(b)
		if got := d.drops(); got != "duplicate, early or late=1" || !d.bothUp() {
			t.Errorf("%d ahead: dropped %q, %v, %v, %v", ahead, got, d.node().contact, d.link(0).State(), d.link(1).State())
		}
		d.settle("")
		d.done("")
	}
}

// Spec 02 §12.9: pieces that do not follow each other are dropped, and what was joined of
// them is forgotten; the packets that come after them are taken.
//
// Proves: hostile.docs
func TestHostileTunnelPieces(t *testing.T) {
	d := newTwoLinks(t)
	defer d.done("")
	port := d.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	long := data(port.number, nil, strings.Repeat("x", 1400))
	piece := func(no, of uint16, b []byte) {
		d.links[0].packet(d.tunnel(func(f *frame.TunnelFields) { f.Piece, f.Pieces, f.Count = no, of, 1000 }, b))
	}
	inside(d.links[1].seq, long)
	for _, c := range []struct {
		name string
		do   func()
		drop string
	}{
		{"second without a first", func() { piece(2, 3, long[500:1000]) }, "malformed=1"},
		{"third behind the first", func() { piece(1, 3, long[:500]); piece(3, 3, long[1000:]) }, "malformed=1"},
		{"second twice", func() { piece(1, 3, long[:500]); piece(2, 3, long[500:1000]); piece(2, 3, long[500:1000]) }, "malformed=1"},
		{"the whole is no packet", func() { piece(1, 2, make([]byte, 500)); piece(2, 2, nil) }, "version=1"},
		{"the whole is short", func() { piece(1, 2, long[:500]); piece(2, 2, nil) }, "truncated=1"},
		{"a link message", func() {
			b := (&frame.StateFields{Common: frame.Common{Prev: popAddr}, LinkInfo: frame.LinkInfo{Orig: popAddr, Dest: ownAddr}}).Append(nil, nil)
			piece(1, 2, b)
			piece(2, 2, nil)
		}, "malformed=1"},
	} {
		c.do()
		if got := d.drops(); got != c.drop || !d.link(0).IsUp() {
			t.Errorf("%s: dropped %q, want %q", c.name, got, c.drop)
		}
	}
	for i := range 56 { // more than the longest message has, all of one packet
		piece(uint16(i+1), 1000, long[:1200])
		if i%8 == 0 {
			d.links[0].report(nil)
		}
	}
	if got := d.drops(); got != "malformed=1" || !d.link(0).IsUp() {
		t.Errorf("67200 bytes: dropped %q", got)
	}
	piece(1, 3, long[:500])
	piece(2, 3, long[500:1000])
	piece(3, 3, long[1000:])
	wantLines(t, "then", read(port), "<1001002:77> 1400 bytes")
	d.links[0].report(nil)
	if free, total := d.arena.Free(), d.arena.Total(); free != total {
		t.Errorf("%d of %d chunks free", free, total)
	}
}

// Spec 02 §12.9: a SYNCH where there is no other link, one that is not the first packet,
// and one whose point never comes. No data are lost by it, and at most the new link is
// held back.
//
// Proves: hostile.docs
func TestHostileTunnelSynch(t *testing.T) {
	synch := func(d *scriptedPeer, point uint16) []byte {
		return d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, point }, nil)
	}
	p := newScriptedPeer(t).up() // one link
	port := p.bound(t, PortConfig{}, 18888, 17)
	for _, point := range []uint16{0, 1, 32767, 32768, 65535} {
		f := frame.TunnelFields{Common: frame.Common{Prev: popAddr}, Type: frame.TunnelSynch, Count: point, Orig: popAddr, Dest: ownAddr}
		p.packet(f.Append(nil, nil))
	}
	p.packet(data(port.number, nil, "x"))
	if n := p.byAddr[popAddr]; n.contact != UpUp || !n.links[0].IsUp() || n.links[0].RecvPackets < 6 {
		t.Errorf("one link: got %v, %v", n.contact, n.links[0].State())
	}
	wantLines(t, "one link", read(port), "<1001002:77> x")
	p.done()

	d := newTwoLinks(t) // two, and not the first packet
	for i := range 2 {
		for _, point := range []uint16{0, 1, 32767, 32768, 65535} {
			d.links[i].packet(synch(d, point))
		}
	}
	if !d.bothUp() || d.link(0).RecvPackets < 5 || d.link(1).RecvPackets < 5 {
		t.Errorf("not the first: got %v, %v, %v", d.node().contact, d.link(0).State(), d.link(1).State())
	}
	d.settle("not the first")
	d.done("not the first")

	// The second link's first packet, with a point that never comes: the first link works
	// on; what comes on the second is dropped, counted, and comes again.
	d = newTwoLinks(t)
	sock := d.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	d.links[1].session++
	d.links[1].reset(false, func(f *frame.ResetFields) { f.PeerStopping = true })
	d.links[0].packet(d.tunnel(nil, inside(d.links[1].seq, data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, ""))))
	d.links[0].packet(data(4711, func(f *frame.PayloadFields) { f.DestDroppable = true }, "x"))
	if d.node().contact != UpUp || d.link(1).IsUp() {
		t.Fatalf("the second link is not down: %v %v", d.node().contact, d.link(1).State())
	}
	for range 3 {
		d.now += 375_000_000
		d.HandleTimeout(d.now)
		d.collect()
		d.links[0].report(nil)
	}
	d.links[1].reset(false)
	for range 2 {
		d.now += 375_000_000
		d.HandleTimeout(d.now)
		d.collect()
		d.links[0].report(nil)
	}
	x := d.links[1]
	x.seq, x.ack, x.state = 1, 0, 1
	d.links[1].reset(true)
	d.links[1].packet(synch(d, uint16(d.links[0].seq+32766)))
	if n := d.node(); n.contact != Synching || !n.links[1].IsUp() {
		t.Fatalf("got %v, %v, want the second link held back", n.contact, n.links[1].State())
	}
	d.drops()
	d.links[1].packet(data(sock.number, nil, "held"))
	if got := d.drops(); got != "while contact is being lost or made=1" {
		t.Errorf("on the link that is held back: dropped %q", got)
	}
	d.links[0].packet(data(sock.number, nil, "goes on"))
	wantLines(t, "the first link", read(sock), "<1001002:77> goes on")
	if n := d.node(); !n.up() || !n.links[0].IsUp() {
		t.Errorf("got %v, %v", n.contact, n.links[0].State())
	}
	d.done("a point that never comes")
}

// Spec 02 §12.9, 12.13: a flood of FAILOVERs for a link that never was, each of them a new
// one, is answered with at most one packet each, and keeps no more than the limits of the
// link although nothing is acknowledged; at worst that link is given up.
//
// Proves: hostile.docs
func TestHostileTunnelHalfFailoverFlood(t *testing.T) {
	p := scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 4096})).up()
	dummy := func() []byte { return data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, "") }
	tunnel := func() []byte {
		f := frame.TunnelFields{Common: frame.Common{Prev: popAddr}, Type: frame.TunnelFailover, Count: 1, Orig: popAddr, Dest: ownAddr}
		return f.Append(nil, inside(1, dummy()))
	}
	l := p.byAddr[popAddr].links[0]
	ack, kept := p.ack, 0
	for i := range 4000 {
		p.ack = ack // nothing is acknowledged
		p.packet(tunnel())
		if n := len(p.sent); n > 2 {
			t.Fatalf("packet %d: %d frames in answer", i, n)
		}
		p.sent = nil
		if !l.IsUp() {
			break
		}
		if kept = l.Unacked() + l.Backlog(); kept > l.Limit(frame.System)+l.Window() {
			t.Fatalf("packet %d: %d packets are kept, want at most %d", i, kept, l.Limit(frame.System)+l.Window())
		}
	}
	if l.IsUp() || kept < l.Limit(frame.System) {
		t.Errorf("%d packets kept, up %v: want the link given up at its limit", kept, l.IsUp())
	}
	p.done()

	// With acknowledgements, and with two links, the flood has no end, and no cost.
	d := newTwoLinks(t)
	for i := range 2000 {
		d.links[0].packet(d.tunnel(nil, inside(frame.Seq(i), dummy())))
		if n := len(d.sent); n > 3 {
			t.Fatalf("two links, packet %d: %d frames in answer", i, n)
		}
		d.sent = nil
		if n := d.node(); !n.up() || !n.links[0].IsUp() || d.held() != 0 {
			t.Fatalf("two links, packet %d: %v, %v, %d chunks of nobody", i, n.contact, n.links[0].State(), d.held())
		}
	}
	d.links[0].report(nil)
	if free, total := d.arena.Free(), d.arena.Total(); free != total {
		t.Errorf("two links: %d of %d chunks free", free, total)
	}
	d.done("two links")
}
