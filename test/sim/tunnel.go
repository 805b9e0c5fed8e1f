// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// Invariants 1 and 2 across two links: when one of them fails, what it had not got
// through leaves through the other, as it was or for the first time, every packet of
// it; and a second link that comes up does not overtake the first.

// A synch is where the first of two links stood when the second came up.
type synch struct {
	of    *session
	point frame.Seq
}

// A tunnelled packet is one of a link that failed.
type tunnelled struct {
	of    *session
	place uint64
}

// A tunnel is what leaves through one link of another that failed.
type tunnel struct {
	of          *session // nil: of a link that never was up
	count, left int      // packets of the tunnel
	last        uint64   // place of the last packet in it
	pieces      []byte   // of a packet that comes in pieces
	piece       int      // the last of them
}

// isDummy reports whether a message is the one that every receiver drops, and that
// ends a failed link's packets.
func isDummy(p frame.Payload) bool {
	return p.Error() == frame.NoPort && p.DestPort() == 0 && p.From().Port == 0 && len(p.Data()) == 0
}

// dummy is isDummy for any message.
func dummy(m frame.Message) bool {
	p, err := frame.ParsePayload(m)
	return err == nil && isDummy(p)
}

// isSynch reports whether a message says where the first of two links stood. It brings
// the second link up, and is delivered.
func isSynch(m frame.Message) bool {
	t, err := frame.ParseTunnel(m)
	return err == nil && t.Type() == frame.TunnelSynch
}

// tunnelLeaves follows a tunnel message that leaves for the first time.
func (l *life) tunnelLeaves(s *session, t frame.Tunnel, c *carried, bad func(string, ...any)) {
	l.n.w.report.Failovers++
	if t.Type() == frame.TunnelSynch {
		point, err := t.SyncPoint()
		switch {
		case s.synch == nil, len(s.sent) > 0 && s.sent[0].synch == nil:
			bad("as packet %d", len(s.sent)+1)
		case len(s.sent) > 0: // old peers are sent all that is on its way
		case err != nil || point != s.synch.point && l.n.w.cfg.Mutation != EarlySynch:
			bad("the other link had %d packets, %v", s.synch.point, err)
		}
		c.synch = s.synch
		return
	}
	if s.tunnel == nil || s.tunnel.left == 0 {
		s.tunnel = &tunnel{of: l.peers[s.peer.idx].ends[1-s.net].failed, count: t.Count(), left: t.Count()}
		if t.Count() == 1 {
			s.tunnel.of = l.fallen(s, t)
		}
	}
	x := s.tunnel
	if t.Count() != x.count {
		bad("one of %d, was one of %d", t.Count(), x.count)
	}
	x.left--
	m, whole := x.join(t, bad)
	if whole {
		l.innerLeaves(x, m, c, bad)
	}
	if x.left == 0 {
		l.checkTunnelled(s, x, m, bad)
	}
}

// fallen returns the session that a tunnel of one packet is of: of none, when the
// packet has no number.
func (l *life) fallen(s *session, t frame.Tunnel) *session {
	of := l.peers[s.peer.idx].ends[1-s.net].failed
	in, err := t.Inner()
	if of == nil || err != nil {
		return nil
	}
	if at := l.n.w.placeOf(in.Seq(), uint64(len(of.sent)+1)); in.Seq() == 0 || at != uint64(len(of.sent)+1) {
		return nil
	}
	return of
}

// join adds a piece and returns the packet with the last one.
func (x *tunnel) join(t frame.Tunnel, bad func(string, ...any)) (m frame.Message, whole bool) {
	no, of, pieces := t.Piece()
	var err error
	switch {
	case !pieces && x.piece > 0, pieces && no != x.piece+1:
		bad("behind piece %d", x.piece)
		return m, false
	case !pieces:
		m, err = t.Inner()
	default:
		x.pieces, x.piece = append(x.pieces, t.Data()...), no
		if no < of {
			return m, false
		}
		m, err = frame.Parse(x.pieces)
		x.pieces, x.piece = nil, 0
	}
	if err != nil {
		bad("what is in it: %v", err)
	}
	return m, err == nil
}

// innerLeaves follows a failed link's packet: it is what it was, or leaves first.
func (l *life) innerLeaves(x *tunnel, m frame.Message, c *carried, bad func(string, ...any)) {
	w, s := l.n.w, x.of
	if s == nil {
		return
	}
	due := uint64(len(s.sent) + 1)
	at, sum := w.placeOf(m.Seq(), due), content(m.Bytes())
	switch {
	case at == 0 || at > due || at <= x.last:
		bad("packet %d of the other link behind %d, of %d", at, x.last, due-1)
		return
	case at < due:
		if was := &s.sent[at-1]; was.sum != sum && !(was.tunnel && dummy(m)) {
			bad("packet %d of the other link is not what it was", at)
		}
	default:
		in := l.contents(s, m, bad)
		in.sum = sum
		s.sent = append(s.sent, in)
	}
	for p := max(x.last, s.ackSeen) + 1; p < at; p++ {
		if !s.got[p] {
			bad("packet %d of the other link is not in the tunnel, and was not acknowledged", p)
		}
	}
	x.last = at
	c.inner = &tunnelled{s, at}
}

// checkTunnelled is called for the last packet of a tunnel: the dummy, behind which
// there is nothing left.
func (l *life) checkTunnelled(s *session, x *tunnel, m frame.Message, bad func(string, ...any)) {
	if !dummy(m) {
		bad("the last in the tunnel")
	}
	if x.of == nil {
		return
	}
	for _, h := range s.epoch.expect {
		if h.net == x.of.net && !h.maybe {
			bad("the last in the tunnel, and message %d is not in it", h.m.id)
			return
		}
	}
}

// inherit consumes a packet of a failed link, and those that came early behind it.
func (l *life) inherit(t *tunnelled, o *outcomes, from *node) {
	s := l.successor(t.of, from)
	s.hand(t.place, t.of, t.of.sent[t.place-1].sum)
	for {
		a, ok := s.seen[s.consumed+1]
		if !ok || a.gone || o.all() >= o.most {
			return
		}
		l.consume(s, o, from)
	}
}

// successor returns the session that consumed the packets of another one before it ended.
func (l *life) successor(of *session, from *node) *session {
	e := &l.peers[from.idx].ends[of.net]
	for i := len(e.all) - 1; i >= 0; i-- {
		if e.all[i].from == of {
			return e.all[i]
		}
	}
	s := e.failed
	if s != nil && s.from == nil {
		for _, a := range s.seen { // in any order: all or none
			if a.rec != of {
				s = nil
				break
			}
		}
	}
	if s == nil || s.from != nil {
		s = &session{owner: l, peer: from, net: of.net, ended: true}
		e.all = append(e.all, s) // ours never was up
	}
	s.from = of
	return s
}

// inOrder: behind its first packet a second link delivers nothing before the first has
// delivered what was sent on it before.
func (l *life) inOrder(rec *session, at uint64, from *node) {
	w := l.n.w
	if rec.sent[0].synch == nil || rec.sent[at-1].synch != nil {
		return
	}
	of := rec.sent[0].synch.of
	end := w.placeOf(rec.sent[0].synch.point, uint64(len(of.sent)))
	e := &l.peers[from.idx].ends[of.net]
	if s := e.cur; s != nil && s.up && s.from == of && s.consumed < end {
		w.violate(1, "node %d consumed packet %d of node %d over network %d, with %d of %d before it over network %d",
			l.n.idx, at, from.idx, rec.net, s.consumed, end, of.net)
	}
}
