// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// A passage is a failed link's packets on their way through a tunnel.
type passage struct {
	of     *endpoint // of the failed link; nil where it is not known
	begun  bool      // the first of them was heard
	count  int       // how many it says there are
	left   int       // still to come
	last   frame.Seq // number of the last packet in it
	any    bool      // last counts
	pieces []byte    // of a packet too large for the tunnel
	piece  int       // the last of them
}

// parallel returns the endpoint of the link that t, which e has sent, speaks of, as it was when it
// was up: another link that e's node has to the same node, of several the one with the bearer at
// the other end that t names. It is nil where there is none, or more than one.
func (c *Conversation) parallel(e *endpoint, t frame.Tunnel) (o *endpoint) {
	others, named := 0, 0
	var last *endpoint
	for k, x := range c.ends {
		if k.from != e.from || k.to != e.to || x == e || !x.known {
			continue
		}
		others++
		last = x
		if r := c.end(x.reverse()); r.bearerKnown && r.bearer == t.Bearer() {
			named++
			o = x
		}
	}
	switch {
	case others == 1:
		o = last // named or not: the rule "tunnel-bearer" looks at that
	case named != 1:
		return nil
	}
	if !o.up && o.before != nil {
		o = o.before
	}
	return o
}

// twins reports whether e's node has another link to the same node.
func (c *Conversation) twins(e *endpoint) bool {
	for k, x := range c.ends {
		if k.from == e.from && k.to == e.to && x != e && x.known {
			return true
		}
	}
	return false
}

// tunnel holds a packet of e that speaks of the other link to the rules.
func (c *Conversation) tunnel(e *endpoint, m frame.Message) {
	c.contact(e.from, e.to).known = false // updates may be inside
	t, err := frame.ParseTunnel(m)
	if err != nil {
		return
	}
	o := c.parallel(e, t)
	if o != nil && o.up {
		r := c.end(o.reverse())
		c.addIf(r.bearerKnown && !r.stale && t.Bearer() != r.bearer, "tunnel-bearer", "w5 11:9", "bearer %d, the other link's is %d", t.Bearer(), r.bearer)
	}
	if t.Type() == frame.TunnelSynch {
		point, err := t.SyncPoint()
		if o != nil && o.up && o.nextKnown && err == nil && c.Slack == 0 && !e.synched {
			c.addIf(point.Before(o.next-1), "synch-point", "w9 31:16", "%d, the other link sent packets up to %d", point, o.next-1)
		}
		e.synched = true
		return
	}
	c.passes(e, o, t)
}

// passes holds a failed link's packet to the rules.
func (c *Conversation) passes(e, o *endpoint, t frame.Tunnel) {
	p := &e.passage
	if !p.begun || p.left == 0 {
		*p = passage{of: o, begun: true, count: t.Count(), left: t.Count()}
		if o != nil && o.up {
			o.failed = true
		}
	}
	c.addIf(t.Count() != p.count, "tunnel-count", "w9 31:16", "%d, %d with the first", t.Count(), p.count)
	p.left--
	m, ok := c.through(p, t)
	if !ok {
		return
	}
	d, err := frame.ParsePayload(m)
	end := err == nil && isDummy(d) // also in the place of a packet that may not be in a tunnel
	c.addIf(!end && p.left == 0, "tunnel-end", "data", "no empty message ends it")
	if p.count == 1 && m.Seq() == 0 {
		return // of a link that never was up
	}
	c.addIf(p.any && !m.Seq().After(p.last), "tunnel-order", "data", "packet %d behind %d", m.Seq(), p.last)
	p.last, p.any = m.Seq(), true
	if p.of == nil || end {
		return
	}
	// A session of which nothing else left its device is not known.
	if sum, ok := p.of.sums[m.Seq()]; ok && c.Slack == 0 {
		c.addIf(sum != content(m.Bytes()), "tunnel-repeat", "data", "packet %d is not what it was", m.Seq())
		return
	}
	if p.of.nextKnown && !m.Seq().Before(p.of.next) {
		c.carried(p.of, &p.of.pieces, m)
	}
}

// through returns the packet in a tunnel message, or with the last of its pieces.
func (c *Conversation) through(p *passage, t frame.Tunnel) (m frame.Message, ok bool) {
	no, of, pieces := t.Piece()
	if !pieces && p.piece == 0 {
		m, err := t.Inner()
		return m, err == nil
	}
	if !pieces || no != p.piece+1 {
		c.add("tunnel-pieces", "w4", "piece %d of %d behind piece %d", no, of, p.piece)
		p.pieces, p.piece = nil, 0
		return m, false
	}
	p.pieces, p.piece = append(p.pieces, t.Data()...), no
	if len(p.pieces) > frame.MaxMessage+frame.IntLen {
		p.pieces, p.piece = nil, 0
		return m, false
	}
	if no < of {
		return m, false
	}
	m, err := frame.Parse(p.pieces)
	p.pieces, p.piece = nil, 0
	return m, err == nil
}

// between is called for a packet of e that is not in a tunnel.
func (c *Conversation) between(e *endpoint) {
	if p := &e.passage; p.begun && p.left > 0 {
		c.add("tunnel-count", "w0 28:25", "another packet before the last %d of %d in the tunnel", p.left, p.count)
		p.left = 0
	}
}
