// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// bcastKernelTicks is how many ticks of its clock a kernel lets pass before it repeats a
// broadcast packet: 10 ms, rounded up. Source: docs/spec/02-link.md §1.3; capture 15,
// frames 85 to 90.
const bcastKernelTicks = 3

// HandleAck takes the acknowledgement in a sequenced unicast packet of a member: it has
// all up to ack. One of packets that were never sent is ignored and counted (BadAcks),
// one that others overtook is ignored, and so is all before the member is confirmed.
// Source: docs/spec/04-broadcast.md §5.
func (s *BroadcastSender) HandleAck(now time.Duration, m *Member, ack frame.Seq) {
	if ack != m.acked {
		s.HandleReport(now, m, ack, 0, frame.GapBlocks{})
	}
}

// HandleReport takes what a STATE of a member tells: it has all up to ack, the gap
// packets behind that are missing, and blocks tell what came and what is missing behind
// those. What is missing is repeated, to all, unless that was done a moment ago. Acknowledgements
// are believed as in HandleAck; of a gap or blocks that cannot be, which are counted
// (BadBlocks), nothing is. failed means that the first packet missing
// was repeated for longer than 10 tolerances: the node resets its links to that peer.
// Source: docs/spec/04-broadcast.md §5.
func (s *BroadcastSender) HandleReport(now time.Duration, m *Member, ack frame.Seq, gap int, blocks frame.GapBlocks) (failed bool) {
	switch {
	case m.s != s || !m.confirmed || ack.Before(m.acked):
		return false
	case !ack.Before(s.sndNxt):
		s.BadAcks++
		return false
	}
	gap, blocks = s.credible(ack, gap, blocks)
	before := s.Unacked()
	n := m.advance(ack)
	if gap > 0 {
		s.RecvNacks++
		if failed = m.hopeless(now); !failed {
			n = m.handleGap(now, gap, blocks, n)
		}
	}
	m.measure(now, n, n.released >= ackEvery || gap > 0)
	m.normalize()
	s.settle(now, before-s.Unacked())
	return failed
}

// credible returns of a gap and blocks behind ack what may be believed.
func (s *BroadcastSender) credible(ack frame.Seq, gap int, blocks frame.GapBlocks) (int, frame.GapBlocks) {
	switch {
	case gap <= 0 && blocks.Len() == 0:
		return 0, blocks
	case gap <= 0 || gap >= ack.Distance(s.sndNxt): // blocks stand behind a gap
		gap = 0
	case blocks.Monotonic(ack, gap) && within(blocks, ack, s.sndNxt):
		return gap, blocks
	}
	s.BadBlocks++
	return gap, frame.GapBlocks{}
}

// hopeless reports whether the member misses a packet that has been repeated for too long.
func (m *Member) hopeless(now time.Duration) bool {
	if m.beyond&1 != 0 {
		return false
	}
	p := m.s.packet(m.acked + 1)
	return p.retransmits > 0 && now-p.first > failureTolerance*m.s.sup.tolerance
}

// handleGap repeats what the member misses, and notes what it has behind that. All of it
// lies before the next packet to be sent.
func (m *Member) handleGap(now time.Duration, gap int, blocks frame.GapBlocks, n news) news {
	i, end := 0, gap // places behind acked
	for k := 0; ; k++ {
		for ; i < end; i++ {
			m.misses(now, i)
		}
		if k == blocks.Len() {
			return n
		}
		block := blocks.At(k)
		end = m.acked.Distance(block.Ack)
		n.late = false // what is told in blocks is told at once
		for ; i < end; i++ {
			if m.beyond>>i&1 == 0 {
				m.beyond |= 1 << i
				p := m.s.packet(m.acked + 1 + frame.Seq(i))
				n = n.with(p)
				m.s.has(p)
			}
		}
		end += int(block.Gap)
	}
}

// misses repeats the packet i places behind the first the member owes, unless the member
// has had it, whatever it says now, or it was sent a moment ago.
func (m *Member) misses(now time.Duration, i int) {
	if m.beyond>>i&1 == 0 {
		if p := m.s.packet(m.acked + 1 + frame.Seq(i)); !m.tooSoon(now, p) {
			m.s.resend(now, p)
		}
	}
}

// tooSoon reports whether a packet was sent just before, whoever had asked for it, so that
// the member which misses it may not know of that yet. A kernel counts from the first
// time as well.
func (m *Member) tooSoon(now time.Duration, p *sent) bool {
	if m.s.cfg.AsKernel {
		return now/kernelTick-p.at/kernelTick < bcastKernelTicks
	}
	return p.retransmits > 0 && now < p.at+m.holdOff()
}

// holdOff is the time between two repetitions of one packet that the member asks for: two
// of its round trips.
func (m *Member) holdOff() time.Duration {
	return min(max(leastWait, 2*m.rtt), m.s.sup.Interval())
}

// normalize makes the first packet behind acked one that the member does not have. Only
// who contradicts an earlier report of its own has it.
func (m *Member) normalize() {
	for m.beyond&1 != 0 {
		m.acked++
		m.beyond >>= 1
	}
}
