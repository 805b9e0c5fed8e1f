// SPDX-License-Identifier: Apache-2.0

package conversation

import "github.com/utipc/utipc/frame"

// linkMessage takes a message of the link protocol from one end of l.
func (t *Tracker) linkMessage(p Packet, k frame.LinkMessage, l *Link, from int) {
	c, own, other := &l.Sent[from], &l.lines[from], 1-from
	if r, ok := k.Reset(); ok {
		if k.IsReset() {
			c.Resets++
		} else {
			c.Activates++
		}
		t.v.Reset = true
		l.Ends[from].Interface = r.IfName()
		own.begin(0) // the first number is 1. Source: docs/spec/02-link.md §1.2
		own.probed, own.fragment = false, fragment{}
		return
	}
	s, _ := k.State()
	c.States++
	if s.Probe() {
		c.Probes++
		own.probed, own.probe = true, p.Time
	} else if s.Keepalive() {
		if back := &l.lines[other]; back.probed {
			back.probed = false
			if p.Time >= back.probe {
				l.Sent[other].ProbeRoundTrip.add(p.Time - back.probe)
			}
		}
	}
	t.acks(p, s.Message, l, from)
	g, _, err := s.GapAcks(s.GuessRecord())
	if err != nil {
		return
	}
	n := t.report(&l.lines[other].sequence, s.Ack(), s.Gap(), g.Unicast())
	if s.Gap() > 0 {
		c.Naks++
	}
	if !s.BcastAckInvalid() && s.BcastGap() > 0 {
		c.BroadcastNaks++
		for _, x := range t.sendersAt(l.Ends[other].Node) {
			n += t.report(&x.line.sequence, s.BcastAck(), s.BcastGap(), g.Bcast())
		}
	}
	c.Reported += uint64(n)
	t.v.Reported = n
}

// report takes what a receiver misses: gap packets behind ack, and what the blocks
// add to that.
func (t *Tracker) report(q *sequence, ack frame.Seq, gap int, blocks frame.GapBlocks) (news int) {
	if gap == 0 {
		return 0
	}
	news = q.missing(ack+1, ack+frame.Seq(gap), &t.room)
	if !blocks.Monotonic(ack, gap) {
		return news
	}
	for b := range blocks.All() {
		if b.Gap > 0 {
			news += q.missing(b.Ack+1, b.Ack+frame.Seq(b.Gap), &t.room)
		}
	}
	return news
}

// broadcastNack takes the older message by which a node reports missing broadcasts.
func (t *Tracker) broadcastNack(m frame.Message, c *Counters) {
	n, err := frame.ParseBcastNack(m)
	if err != nil {
		return
	}
	c.BroadcastNaks++
	f := n.Fields()
	if d := f.After.Distance(f.To); d == 0 || d >= mostSlots {
		return
	}
	for _, x := range t.sendersAt(t.v.To) {
		t.v.Reported += x.line.missing(f.After+1, f.To, &t.room)
	}
	c.Reported += uint64(t.v.Reported)
}

// sendersAt returns the broadcasts of a node, one for each of its stations. They share
// their numbers.
func (t *Tracker) sendersAt(a frame.NodeAddr) (list []*Sender) {
	for _, x := range t.senders {
		if x.End.Node == a && x.line.begun {
			list = append(list, x)
		}
	}
	return list
}
