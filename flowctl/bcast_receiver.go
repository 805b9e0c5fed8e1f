// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// bcastWindow is the largest number of packets a node has under way on its
// broadcast link; a "last sent" further ahead is not believed.
const bcastWindow = 50

// maxBcastGap is the largest broadcast gap a STATE message can tell of.
const maxBcastGap = 1<<10 - 1

// A BroadcastReceiver is the receiving end of a peer's broadcast link. What it has to
// tell the peer travels in the messages of the unicast link.
// Source: docs/spec/04-broadcast.md.
type BroadcastReceiver struct {
	self    frame.NodeAddr
	rcvNxt  frame.Seq
	peerNxt frame.Seq // the number after the last the peer says it has sent
	unacked int32     // delivered since a STATE was due for that
	count   uint32    // packets ever deferred, and doubles of those, for spreading reports
	watched frame.Seq // rcvNxt when moved was set for that
	repeats uint8     // reports since
	up      bool
	moved   time.Duration // when packets had their turn last, or a report of what is missing went out
	member  *Member       // what the peer is on the own broadcast link, if that is known
	pool    *Pool
	deferral

	Received, Duplicates, Deferred uint64
}

// NewBroadcastReceiver makes the end of a peer's broadcast link, not yet open.
func NewBroadcastReceiver(self frame.NodeAddr) *BroadcastReceiver {
	b := &BroadcastReceiver{self: self}
	b.Reset()
	return b
}

// Reset closes the link and drops what was deferred.
func (b *BroadcastReceiver) Reset() {
	b.deferral.clear()
	b.up, b.unacked, b.count = false, 0, 0
	b.rcvNxt, b.peerNxt = 1, 1
}

// SetPool makes what is deferred from now on count in a pool.
func (b *BroadcastReceiver) SetPool(p *Pool) { b.pool = p }

// Open begins reception behind the packet the peer sent last. A second opening
// has no effect.
func (b *BroadcastReceiver) Open(last frame.Seq) {
	if !b.up {
		b.up, b.rcvNxt, b.peerNxt = true, last+1, last+1
		b.watched = last // nothing yet
	}
}

// Up reports whether the link is open.
func (b *BroadcastReceiver) Up() bool { return b.up }

// Ack is the last packet received in order.
func (b *BroadcastReceiver) Ack() frame.Seq { return b.rcvNxt - 1 }

// Gap is the number of packets known to be missing behind Ack, at most what the
// field of a STATE message can hold.
func (b *BroadcastReceiver) Gap() int {
	switch {
	case !b.up:
		return 0
	case len(b.deferred()) > 0:
		return min(b.rcvNxt.Distance(b.deferred()[0].seq), maxBcastGap)
	case b.peerNxt.After(b.rcvNxt):
		return b.rcvNxt.Distance(b.peerNxt)
	}
	return 0
}

// HandlePacket takes a packet of the broadcast link; the caller keeps its hold of
// buf. report means a STATE is due on the unicast link, after the delivery.
func (b *BroadcastReceiver) HandlePacket(m frame.Message, buf *netdev.Buffer) (v Verdict, report bool) {
	if !b.up {
		return Dropped, false
	}
	if m.Seq().Before(b.rcvNxt) || b.rcvNxt.Distance(m.Seq()) > MaxWindow {
		b.Duplicates++
		return Dropped, false
	}
	b.Received++
	if m.Seq() == b.rcvNxt {
		return Deliver, b.advance()
	}
	v = Deferred
	switch b.add(m, buf, b.pool) {
	case deferredNow:
		b.Deferred++
	case deferredTwice: // it counts as well (capture 15, frame 114)
		b.Duplicates++
		v = Dropped
	case deferredNot:
		b.Duplicates++
		return Dropped, false
	}
	b.count++
	return v, b.count&15 == uint32(b.self)&15
}

// Next returns the next deferred packet that has its turn; report as for
// HandlePacket.
func (b *BroadcastReceiver) Next() (p Packet, report, ok bool) {
	if !b.up {
		return Packet{}, false, false
	}
	if p, ok = b.take(b.rcvNxt); ok {
		report = b.advance()
	}
	return p, report, ok
}

// advance counts a delivery and says whether an acknowledgement is due. The
// address spreads the acknowledgements of a cluster's nodes over time. A STATE that
// goes out for another reason acknowledges as well, but is not counted, as in the
// kernel: while unacked is not 0 every tick has a STATE (capture 07, frame 175).
func (b *BroadcastReceiver) advance() (report bool) {
	b.rcvNxt++
	b.unacked++
	report = b.unacked >= ackEvery && (uint16(b.rcvNxt)^uint16(b.self))&15 == 15
	if report {
		b.unacked = 0
	}
	return report
}

// HandleState notes what the peer has sent so far, and reports whether a STATE
// is due because something is missing.
func (b *BroadcastReceiver) HandleState(last frame.Seq) (report bool) {
	next := last + 1
	if !b.up || next.Before(b.rcvNxt) || b.rcvNxt.Distance(next) > bcastWindow {
		return false
	}
	b.peerNxt = next
	return b.Gap() > 0
}
