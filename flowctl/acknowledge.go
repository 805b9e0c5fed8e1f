// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// failureTolerance is the number of tolerances after which repeating has failed.
// Source: docs/spec/02-link.md §1.3.
const failureTolerance = 10

// A news is what a report of the peer has changed. It goes from hand to hand by value, to
// stay in registers.
type news struct {
	released int           // packets
	once     time.Duration // when the newest was sent, if once, else -1
	late     bool          // some waited at the peer for one that was repeated
	repeated bool          // some packet was repeated now
}

// handleAck takes an acknowledgement, and lets the backlog follow.
func (l *Link) handleAck(now time.Duration, ack frame.Seq, gap int, blocks frame.GapBlocks) {
	l.acknowledge(now, ack, gap, blocks)
	if l.IsUp() {
		l.Flush(now)
	}
}

// acknowledge releases what the peer has, and repeats what it misses. gap packets are
// missing behind ack, and blocks tell what came and what is missing behind those. An
// acknowledgement of what was never sent is ignored, and so is a list of blocks that
// cannot be. The link fails when its oldest packet was repeated for too long.
// Source: docs/spec/02-link.md §6.3.
func (l *Link) acknowledge(now time.Duration, ack frame.Seq, gap int, blocks frame.GapBlocks) {
	oldest := l.sndNxt - frame.Seq(l.transmit.Len())
	switch {
	case !ack.Before(l.sndNxt):
		l.BadAcks++ // nothing was sent under that number yet
		return
	case ack.Before(oldest - 1):
		return // an old report, overtaken
	case ack == oldest-1 && gap == 0:
		return // nothing new, as with most packets that come
	}
	var n news
	for range oldest.Distance(ack + 1) {
		p := l.transmit.At(0)
		if p.waits() {
			n = n.with(p)
			l.hasGot(p.b)
		}
		l.letGo(p.b)
		l.transmit.Drop()
	}
	l.trim()
	if l.undelivered != nil {
		l.letGoInherited()
	}
	if gap > 0 && l.transmit.Len() > 0 {
		var ok bool
		if n, ok = l.handleGap(now, ack, gap, blocks, n); !ok {
			return
		}
	}
	if n.released > 0 {
		l.acknowledgedNew(now)
		if n.once >= 0 {
			l.acknowledged(now, n.once, !n.late && (n.released >= ackEvery || gap > 0))
		}
	}
	if n.released > 0 || n.repeated {
		l.adapt(n.released, n.repeated)
	}
}

// handleGap repeats what the peer misses, and releases what it has behind that. It
// reports false when the link fails.
func (l *Link) handleGap(now time.Duration, ack frame.Seq, gap int, blocks frame.GapBlocks, n news) (news, bool) {
	oldest := l.sndNxt - frame.Seq(l.transmit.Len())
	known := (ack + 1).Distance(oldest) // packets behind ack that earlier blocks acknowledged
	if p := l.transmit.At(0); gap > known && p.retransmits > 0 && now-p.first > failureTolerance*l.sup.tolerance {
		l.fail(Unacknowledged)
		return n, false
	}
	if !blocks.Monotonic(ack, gap) || !within(blocks, ack, l.sndNxt) {
		blocks = frame.GapBlocks{}
		l.BadBlocks++
	}
	i, end := 0, gap-known // places in transmit
	for k := 0; ; k++ {
		for end = min(end, l.transmit.Len()); i < end; i++ {
			n.repeated = l.repeat(now, l.transmit.At(i)) || n.repeated
		}
		if k == blocks.Len() {
			l.trim()
			return n, true
		}
		block := blocks.At(k)
		end = ack.Distance(block.Ack) - known
		n.late = false // what is told in blocks is told at once
		for ; i < min(end, l.transmit.Len()); i++ {
			if p := l.transmit.At(i); p.waits() {
				n = n.with(p)
				l.hasEarly(p)
			}
		}
		end += int(block.Gap)
	}
}

// within reports whether blocks that are monotonic speak of packets before next alone.
func within(blocks frame.GapBlocks, ack, next frame.Seq) bool {
	if blocks.Len() == 0 {
		return true
	}
	last := blocks.At(blocks.Len() - 1)
	return ack.Distance(last.Ack)+int(last.Gap) < ack.Distance(next)
}

// trim makes transmit begin with a packet that is not acknowledged.
func (l *Link) trim() {
	for l.transmit.Len() > 0 && !l.transmit.At(0).waits() {
		l.letGo(l.transmit.Pop().b)
	}
}

// hasEarly notes that the peer has a packet, and not all before it: it has not delivered it, and the
// packet is kept for Unsettled.
func (l *Link) hasEarly(p *sent) {
	l.hasGot(p.b)
	p.owing = hasLater
}

// with is the news that the peer has a packet, besides n.
func (n news) with(p *sent) news {
	n.released++
	n.once = p.at
	if p.retransmits > 0 {
		n.once, n.late = -1, true
	}
	return n
}

// hasGot counts a packet as acknowledged.
func (l *Link) hasGot(b *netdev.Buffer) {
	l.unacked--
	l.flight -= int32(b.Len())
}

// repeat sends a packet again unless that was done a moment ago.
func (l *Link) repeat(now time.Duration, p *sent) (done bool) {
	return p.waits() && !l.tooSoon(now, p) && l.resend(now, p)
}

// resend sends a packet again. Its number and content stay, the acknowledgements are
// today's; while a device still holds the Buffer a copy goes out instead.
func (l *Link) resend(now time.Duration, p *sent) (done bool) {
	b := p.b
	if b.Lent() {
		c := l.cfg.Arena.Get(b.Len(), netdev.Control)
		if c == nil {
			l.NoChunk++
			return false
		}
		copy(c.Extend(b.Len()), b.Bytes())
		b = c
	} else {
		b.Hold()
	}
	if l.cast == nil { // a broadcast packet acknowledges nothing
		frame.StampAcks(b.Bytes()[frame.EthernetLen:], l.rcvNxt-1, l.bcast.Ack())
	}
	l.out.Push(b)
	p.at = now
	if p.retransmits == 0 {
		p.first = now
	}
	p.retransmits++
	l.Retransmits++
	return true
}

// tooSoon reports whether a packet was sent just before, so that the report which
// misses it may not know of that yet. A kernel counts from the first time as well.
func (l *Link) tooSoon(now time.Duration, p *sent) bool {
	if l.cfg.AsKernel { // it waits for the next tick of its clock
		return now/kernelTick == p.at/kernelTick
	}
	return p.retransmits > 0 && now < p.at+l.holdOff()
}

// overdue reports whether the oldest packet has been under way for so long that it
// will never be acknowledged. The peer may be missing one that is no longer here to
// be repeated, after an acknowledgement that was not the peer's; without this the
// link would stay up and stand still.
func (l *Link) overdue(now time.Duration) bool {
	if l.unacked == 0 {
		return false
	}
	p := l.transmit.At(0)
	since := p.at
	if p.retransmits > 0 {
		since = p.first
	}
	return now-since > failureTolerance*l.sup.tolerance
}

// Repeats is how often the packet with a number, which is not acknowledged yet, was sent
// again; 0 of one that is, or was never sent.
func (l *Link) Repeats(seq frame.Seq) int {
	back := seq.Distance(l.sndNxt)
	if k := l.transmit.Len(); back >= 1 && back <= k {
		return int(l.transmit.At(k - back).retransmits)
	}
	return 0
}
