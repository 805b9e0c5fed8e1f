// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// Invariants 1, 2 and 3: what becomes of packets and messages.

// outcomes is what should have happened to messages in one call.
type outcomes struct {
	in, local    int // into ports, from others and from own ports
	noPort, over int // dropped and counted
	open         int // looked up again: what became of them is not known yet
	back         []back
}

// A back is a message to be returned to the node it came from, or an open one, of
// which that is not sure.
type back struct {
	m    *message
	to   *node
	open bool
}

func (o *outcomes) all() int { return o.in + o.noPort + o.over + len(o.back) }

// consumed judges a call that handed the engine a packet of a node.
func (l *life) consumed(k *look, from *node) {
	w, s := l.n.w, k.was[from.idx]
	o := &outcomes{}
	if s == l.peers[from.idx].cur {
		for range k.moved[from.idx] {
			l.consume(s, o, from, math.MaxInt)
		}
	} else {
		// The session ended in this call, so how far it got shows only in what it did.
		did := k.in() + k.returned() + k.drops(engine.DropNoPort) + k.drops(engine.DropOverload) + k.drops(engine.DropLimit)
		for s.consumed < s.whole && o.all() < did {
			l.consume(s, o, from, did)
		}
	}
	if s.consumed > s.whole {
		w.violate(1, "node %d consumed packet %d of node %d and was handed only 1 to %d", l.n.idx, s.consumed, from.idx, s.whole)
	}
	l.settle(k, o)
}

// consume follows the messages of one packet to where they must go, until there are
// most outcomes.
func (l *life) consume(s *session, o *outcomes, from *node, most int) {
	w := l.n.w
	s.consumed++
	at := s.consumed
	a, ok := s.seen[at]
	delete(s.seen, at)
	if !ok {
		w.violate(1, "node %d consumed packet %d of node %d, which it was not handed", l.n.idx, at, from.idx)
		return
	}
	if s.from == nil {
		s.from = a.rec
	}
	if a.rec != s.from || at > uint64(len(a.rec.sent)) {
		w.violate(1, "node %d consumed packet %d of node %d from another session", l.n.idx, at, from.idx)
		return
	}
	c := &a.rec.sent[at-1]
	if c.sum != a.sum {
		w.violate(1, "node %d consumed packet %d of node %d with other bytes than were sent", l.n.idx, at, from.idx)
		return
	}
	for i := range c.payload {
		p := &c.payload[i]
		switch {
		case o.all() >= most: // the link ended within a bundle
			return
		case p.hop == nil:
		case p.hop.consumed:
			w.violate(3, "message %d was consumed twice, by node %d in the end", p.hop.m.id, l.n.idx)
		default:
			p.hop.consumed = true
			l.place(p, o, from)
		}
	}
}

// place follows a message from a link to a port, back, on, or out.
func (l *life) place(c *carriedPayload, o *outcomes, from *node) {
	m, imp := c.hop.m, c.imp
	if c.err != frame.OK {
		imp = frame.System
	}
	p := l.port(c.destPort)
	switch {
	case p != nil && p.fits(c.size, imp):
		o.in++
		l.enter(p, m, c.err != frame.OK, 1)
	case p == nil && c.named && c.err == frame.OK && c.reroute == 0:
		for _, p := range l.ports {
			if f := p.fresh(); f != nil && m.is(f.data, false) && f.from == m.from {
				o.in++
				l.enter(p, m, false, 1)
				return
			}
		}
		o.open++
		o.back = append(o.back, back{m, from, true})
	case c.dropable || c.err != frame.OK:
		m.at = finished
		if p == nil {
			o.noPort++
		} else {
			o.over++
		}
	default:
		o.back = append(o.back, back{m, from, false})
	}
}

// enter has a message be the next one in a port.
func (l *life) enter(p *port, m *message, returned bool, invariant int) {
	w := l.n.w
	f := p.fresh()
	if f != nil && w.mutate(DropUncounted) {
		f = nil
	}
	switch {
	case f == nil:
		w.violate(2, "message %d did not enter port %v, which has room for it", m.id, p.e.Addr())
		return
	case !m.is(f.data, returned) || f.returned != returned || !returned && f.from != m.from:
		w.violate(invariant, "port %v was given %d bytes from %v in the place of message %d from %v", p.e.Addr(), len(f.data), f.from, m.id, m.from)
	case f.imp != m.imp:
		w.violate(1, "message %d entered a port with importance %v, not %v", m.id, f.imp, m.imp)
	}
	p.admit(m, returned, len(f.data))
	m.holder, m.at = l, inPort
	if returned {
		m.at = backPort
	}
}

// settle compares what happened with what should have.
func (l *life) settle(k *look, o *outcomes) {
	w := l.n.w
	noPort, over := k.drops(engine.DropNoPort)-o.noPort, k.drops(engine.DropOverload)-o.over
	limit := k.drops(engine.DropLimit)
	n := o.open
	back := k.returned() + limit - len(o.back) + n
	if k.in() != o.in || k.local() != o.local || noPort < 0 || over < 0 || back < 0 || noPort+over+back > n {
		w.violate(2, "node %d counted %d in, %d local, %d no port, %d overload, %d returned, %d limit where %d, %d, %d, %d, %d were due (and %d open)",
			l.n.idx, k.in(), k.local(), k.drops(engine.DropNoPort), k.drops(engine.DropOverload), k.returned(), limit,
			o.in, o.local, o.noPort, o.over, len(o.back)-n, n)
		return
	}
	for _, p := range l.ports {
		if f := p.fresh(); f != nil {
			w.violate(1, "port %v was given %d bytes from %v that nobody sent there", p.e.Addr(), len(f.data), f.from)
			p.skip()
		}
	}
	vague := noPort+over+back != 0 && noPort+over != n && back != n
	for _, x := range o.back {
		m := x.m
		if x.open && (vague || noPort+over+back == 0) {
			m.at, m.holder, m.endings, m.vague = forwarded, l, l.ended, vague
			l.forwards = append(l.forwards, m)
		}
		switch {
		case x.open && !vague && back == 0 && noPort+over == 0: // it went on
		case x.open && !vague && back == 0:
			m.at = finished
		case k.returned() == 0:
			if !m.vague {
				m.at = finished // it could not be sent back, and that was counted
			}
		default:
			l.queue(k, m, x.to, true, limit > 0 || m.vague)
		}
	}
}

// queue notes that a message waits to leave for a node.
func (l *life) queue(k *look, m *message, to *node, back, maybe bool) {
	s := k.was[to.idx]
	if s == nil {
		l.n.w.violate(2, "node %d sent message %d to node %d, to which it has no link", l.n.idx, m.id, to.idx)
		return
	}
	m.hop = &hop{m: m, rec: s, imp: m.imp, back: back, maybe: maybe}
	if back {
		m.hop.imp = frame.System
	}
	if !m.vague {
		m.at = onLink
	}
	s.expect = append(s.expect, m.hop)
}

// leaves finds the message that leaves for the first time, in a packet of its own
// or in a bundle. It may have overtaken messages of another importance where nodes
// bundle, but not by coming back.
func (l *life) leaves(s *session, p frame.Payload) *hop {
	w := l.n.w
	isBack := p.Error() != frame.OK
	matches := func(m *message) bool {
		from := p.From()
		if isBack {
			from.Port = p.DestPort()
			return from.Port == m.from.Port && m.is(p.Data(), true)
		}
		return from == m.from && m.is(p.Data(), false)
	}
	if p.Reroute() > 0 && !isBack {
		for i, m := range l.forwards {
			if matches(m) {
				l.forwards = append(l.forwards[:i:i], l.forwards[i+1:]...)
				w.report.Forwarded++
				m.vague, m.at = false, onLink
				m.hop = &hop{m: m, rec: s, imp: m.imp}
				return m.hop
			}
		}
		w.violate(1, "node %d sent on a message from %v that it was not given", l.n.idx, p.From())
		return nil
	}
	at := slices.IndexFunc(s.expect, func(h *hop) bool { return h.back == isBack && matches(h.m) })
	if at < 0 {
		w.violate(1, "node %d sent %d bytes from %v that nobody gave it, or twice; %s", l.n.idx, len(p.Data()), p.From(), s.due())
		return nil
	}
	h := s.expect[at]
	var rest []*hop
	for _, x := range s.expect[:at] {
		switch {
		case x.imp != h.imp && h.imp != frame.System && !w.faults.NoBundles:
			rest = append(rest, x)
		case !x.maybe:
			w.violate(2, "node %d sent message %d before message %d, which it accepted earlier", l.n.idx, h.m.id, x.m.id)
			return nil
		case x.m.hop == x && !x.m.vague:
			x.m.at = finished
		}
	}
	s.expect = append(rest, s.expect[at+1:]...)
	if h.m.vague {
		h.m.vague = false
		l.forgetForward(h.m)
	}
	h.m.at = onLink
	return h
}

// due says which message is the next to leave.
func (s *session) due() string {
	for _, h := range s.expect {
		if !h.maybe {
			return fmt.Sprintf("message %d was due", h.m.id)
		}
	}
	return "none was due"
}

func (l *life) forgetForward(m *message) {
	for i, f := range l.forwards {
		if f == m {
			l.forwards = append(l.forwards[:i:i], l.forwards[i+1:]...)
			return
		}
	}
}

// sum counts at the end what became of every message, and finds those that are
// neither here nor there: invariant 2.
func (w *world) sum() {
	done := !w.stop()
	for _, m := range w.messages {
		if m.hop == nil && m.at == onLink {
			continue // lost to a violation
		}
		switch m.at {
		case onLink:
			switch {
			case m.hop.rec.owner.dead && !w.closing:
				w.report.LostInCrash++
			case m.hop.rec.ended || m.hop.maybe:
				w.report.LostAtReset++
			case done && !w.cfg.Hostile:
				w.violate(2, "message %d is still on a link that stayed up", m.id)
			}
		case forwarded:
			if m.holder.dead || m.vague || m.endings != m.holder.ended {
				w.report.LostAtReset++
			} else if done && !w.cfg.Hostile {
				w.violate(2, "message %d was to go on from node %d and did not", m.id, m.holder.n.idx)
			}
		case inPort, backPort:
			if m.holder.dead {
				w.report.LostInCrash++
			} else if done && !w.cfg.Hostile {
				w.violate(2, "message %d waits in a port to which everything was read", m.id)
			}
		}
	}
	for _, n := range w.nodes {
		if n.life != nil {
			w.tally(n.life)
		}
	}
}

// tally adds a life's counters to the report.
func (w *world) tally(l *life) {
	c := l.eng.Counters()
	for i, n := range c.Drops {
		w.report.Drops[i] += n
	}
	w.report.DroppedNoPort += c.Drops[engine.DropNoPort]
	w.report.DroppedOverload += c.Drops[engine.DropOverload]
	w.report.DroppedLimit += c.Drops[engine.DropLimit]
	for p := range l.eng.Neighbours {
		if p.Link != nil {
			w.report.Retransmits += p.Link.Retransmits
			w.report.NoChunk += p.Link.NoChunk
			w.report.Bundles += p.Link.SentBundles
			w.report.Bundled += p.Link.SentBundled
		}
	}
}
