// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
)

const (
	inFlight = 8191  // packets that may be under way on a link
	kept     = 16384 // packets whose sums are kept: more than can be sent again
)

// remember keeps the sum of packet q and drops that of one no longer sent.
func remember(sums map[frame.Seq]uint32, q frame.Seq, b []byte) map[frame.Seq]uint32 {
	if sums == nil {
		sums = map[frame.Seq]uint32{}
	}
	sums[q] = content(b)
	delete(sums, q-kept)
	return sums
}

// packet holds a packet of the link from e to r to the rules.
func (c *Conversation) packet(e, r *endpoint, m frame.Message) {
	q := m.Seq()
	c.addIf(e.began && !e.up, "state-first", "w0", "a packet before any STATE")
	e.up = true
	c.acks(e, r, m, !bcastAckInvalid(m))
	c.unanswered(e, r)
	c.wentOn(e)
	if !e.nextKnown {
		return
	}
	if q.Before(e.next) {
		sum, ok := e.sums[q]
		c.addIf(ok && sum != content(m.Bytes()), "packet-repeat", "w2 15:0", "packet %d is not what it was", q)
		c.addIf(!ok && e.began, "packet-seq", "w2 15:0", "%d again, after %d", q, e.next-1)
		return
	}
	if e.failed {
		// It waited for a device while the rest went through a tunnel.
		c.addIf(c.Slack == 0, "failed-silent", "w2 15:0", "packet %d of a link that failed", q)
		return
	}
	if q != e.next {
		c.add("packet-seq", "w2 15:0", "%d, want %d", q, e.next)
		e.pieces = pieces{}
		c.talking.forget(e.from, e.to)
	}
	if e.next = q + 1; e.told != nil && !e.next.Before(e.told.next) {
		e.told = nil
	}
	e.pieces.begun = e.pieces.begun || q == c.first() && e.began
	e.sums = remember(e.sums, q, m.Bytes())
	if e.began && r.known && !r.stale && !e.stale {
		acked := c.first() - 1
		if r.up {
			acked = r.ack
		}
		n := acked.Distance(q)
		c.addIf(n > inFlight, "unacked", "w2 15:0", "packet %d, acknowledged %d", q, acked)
	}
	c.addIf(r.maxPacket > 0 && len(m.Bytes()) > r.maxPacket, "link-mtu", "w0 16:0", "%d bytes, the peer takes %d", len(m.Bytes()), r.maxPacket)
	if q == c.first() && e.began {
		c.firstPacket(e, m)
	}
	c.carried(e, &e.pieces, m)
}

// firstPacket holds packet 1 of a link to the rules.
func (c *Conversation) firstPacket(e *endpoint, m frame.Message) {
	second := false
	for k, o := range c.ends {
		second = second || o != e && k.from == e.from && k.to == e.to && o.up
	}
	t, err := frame.ParseTunnel(m)
	synch := err == nil && t.Type() == frame.TunnelSynch
	// The first link may not have said anything, or its device has not sent that.
	early := c.Slack > 0 || c.now-c.start < 3*time.Second
	ok := m.User() == frame.UserBroadcast || (second || early) && synch
	c.addIf(!ok, "first-packet", "w0 28:25", "%v, a second link: %v", m.User(), second)
}

// bcastAckInvalid reports whether the broadcast acknowledge of a packet does not
// count.
func bcastAckInvalid(m frame.Message) bool {
	if i, err := frame.ParseBcastInit(m); err == nil {
		return i.Fields().BcastAckInvalid
	}
	if n, err := frame.ParseNames(m); err == nil {
		return n.Fields().BcastAckInvalid
	}
	return false
}

// carried takes what a new packet carries: from e, or over the broadcast link when
// e has no other end.
func (c *Conversation) carried(e *endpoint, p *pieces, m frame.Message) {
	if m.User() == frame.UserTunnel {
		c.addIf(p.under, "fragments", "w0 28:25", "%v between fragments", m.User())
		*p = pieces{begun: true}
		c.tunnel(e, m)
		return
	}
	c.between(e)
	if f, err := frame.ParseFragment(m); err == nil {
		if whole := c.fragment(p, f); whole != nil {
			if in, err := frame.Parse(whole); err == nil {
				c.inner(e, in)
			}
		}
		return
	}
	c.addIf(p.under, "fragments", "w0 28:25", "%v between fragments", m.User())
	*p = pieces{begun: true}
	if u, err := frame.ParseBundle(m); err == nil {
		for in, err := range u.Messages() {
			if err != nil {
				return
			}
			c.inner(e, in)
		}
		return
	}
	c.inner(e, m)
}

// inner takes a whole message.
func (c *Conversation) inner(e *endpoint, m frame.Message) {
	if i, err := frame.ParseBcastInit(m); err == nil {
		c.lastBcast(e.from, i.LastBcast(), c.networks(e.from) > 1, true)
		c.listens(e, i.LastBcast())
	} else if n, err := frame.ParseNames(m); err == nil {
		c.names(e, n)
	} else if p, err := frame.ParsePayload(m); err == nil {
		c.payload(e, p)
		c.said(e, p)
	} else if m, err := frame.ParseConn(m); err == nil {
		c.manages(e, m)
	}
}
