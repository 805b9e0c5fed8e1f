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
	most         int // as many as there were, where that is all that is known
	in, local    int // into ports, from others and from own ports
	noPort, over int // dropped and counted
	open         int // looked up again: what became of them is not known yet
	casts        int // multicasts, that may be counted under no port
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
func (l *life) consumed(k *look, from *node, net int) {
	w, s := l.n.w, k.was[from.idx][net]
	o := &outcomes{most: math.MaxInt}
	if s == l.peers[from.idx].ends[net].cur {
		for range k.moved[from.idx][net] {
			l.consume(s, o, from)
		}
	} else {
		// The session ended in this call, so how far it got shows only in what it did.
		o.most = k.in() + k.returned() + k.drops(engine.DropNoPort) + k.drops(engine.DropOverload) + k.drops(engine.DropLimit)
		for s.consumed < s.whole && o.all() < o.most {
			l.consume(s, o, from)
		}
	}
	if s.consumed > s.whole {
		w.violate(1, "node %d consumed packet %d of node %d and was handed only 1 to %d", l.n.idx, s.consumed, from.idx, s.whole)
	}
	l.settle(k, o)
}

// consume follows the messages of one packet to where they must go, until there are
// as many outcomes as there may be.
func (l *life) consume(s *session, o *outcomes, from *node) {
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
	l.inOrder(a.rec, at, from)
	o.casts += c.casts
	for i := range c.payload {
		p := &c.payload[i]
		switch {
		case o.all() >= o.most: // the link ended within a bundle
			return
		case p.hop == nil:
		case p.hop.consumed:
			w.report.Doubled++
			w.violate(3, "message %d was consumed twice, by node %d in the end", p.hop.m.id, l.n.idx)
		default:
			p.hop.consumed = true
			l.place(p, o, from)
		}
	}
	if c.inner != nil {
		l.inherit(c.inner, o, from)
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
// Complex: one account of what a poll counted, whose terms depend on each other.
//
//gocyclo:ignore
func (l *life) settle(k *look, o *outcomes) {
	w := l.n.w
	for _, p := range l.ports {
		p.fresh()
	}
	k.after.MessagesIn -= uint64(l.castsIn)
	k.after.MessagesLocal -= uint64(l.castsLocal)
	l.castsIn, l.castsLocal = 0, 0
	noPort, over := k.drops(engine.DropNoPort)-o.noPort, k.drops(engine.DropOverload)-o.over
	limit := k.drops(engine.DropLimit)
	n := o.open
	back := k.returned() + limit - len(o.back) + n
	if back > n && limit > 0 {
		less := min(limit, back-n) // a broadcast for one of the networks, for which there was no chunk
		back, limit = back-less, limit-less
	}
	unsure := noPort > 0 && o.casts > 0 && n > 0 // is nobody here bound to a multicast, or to what was looked up again
	switch {
	case unsure:
		noPort = max(noPort-o.casts, min(noPort, n-over-back))
	case noPort > 0:
		noPort -= min(noPort, o.casts)
	}
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
	vague := unsure || noPort+over+back != 0 && noPort+over != n && back != n
	for _, x := range o.back {
		m := x.m
		if x.open && (vague || noPort+over+back == 0) {
			m.at, m.holder, m.endings, m.vague, m.sentOn = forwarded, l, l.ended, vague, true
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
	e := l.peers[to.idx].epoch
	switch {
	case e == nil && maybe:
		m.at = finished // it could not be sent back, and that was counted
		return
	case e == nil:
		l.n.w.violate(2, "node %d sent message %d to node %d, with which it has no contact", l.n.idx, m.id, to.idx)
		return
	}
	m.hop = &hop{m: m, epoch: e, net: k.grown(to), imp: m.imp, back: back, maybe: maybe}
	if back {
		m.hop.imp = frame.System
	}
	if !m.vague {
		m.at = onLink
	}
	e.expect = append(e.expect, m.hop)
}

// grown returns the network over whose link messages for a node went in a call, or -1
// where that is not the only one.
func (k *look) grown(to *node) int {
	net, n := -1, 0
	for i := range maxNetworks {
		if k.grew[to.idx][i] > 0 {
			net = i
			n++
		}
	}
	if n != 1 {
		return -1
	}
	return net
}

// leaves finds the message that leaves for the first time, in a packet of its own, in
// a bundle or in fragments. It may have overtaken messages on the other link, and
// where nodes bundle those of another importance, but not by coming back.
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
	if s.epoch == nil {
		w.violate(1, "node %d sent a message from %v before there was contact", l.n.idx, p.From())
		return nil
	}
	if p.Reroute() > 0 && !isBack {
		for i, m := range l.forwards {
			if matches(m) {
				l.forwards = append(l.forwards[:i:i], l.forwards[i+1:]...)
				w.report.Forwarded++
				m.vague, m.at = false, onLink
				m.hop = &hop{m: m, epoch: s.epoch, net: s.net, imp: m.imp}
				return m.hop
			}
		}
		w.violate(1, "node %d sent on a message from %v that it was not given", l.n.idx, p.From())
		return nil
	}
	expect := s.epoch.expect
	at := slices.IndexFunc(expect, func(h *hop) bool {
		return h.back == isBack && (h.net < 0 || h.net == s.net) && matches(h.m)
	})
	if at < 0 {
		w.violate(1, "node %d sent %d bytes from %v that nobody gave it, or twice; %s", l.n.idx, len(p.Data()), p.From(), s.due())
		return nil
	}
	h := expect[at]
	var rest []*hop
	for _, x := range expect[:at] {
		switch {
		case x.net != h.net || h.net < 0,
			x.imp != h.imp && h.imp != frame.System && !w.faults.NoBundles:
			rest = append(rest, x)
		case !x.maybe:
			w.violate(2, "node %d sent message %d before message %d, which it accepted earlier", l.n.idx, h.m.id, x.m.id)
			return nil
		case x.m.hop == x && !x.m.vague:
			x.m.at = finished
		}
	}
	s.epoch.expect = append(rest, expect[at+1:]...)
	if h.m.vague {
		h.m.vague = false
		l.forgetForward(h.m)
	}
	h.net = s.net
	h.m.at = onLink
	return h
}

// due says which message is the next to leave.
func (s *session) due() string {
	for _, h := range s.epoch.expect {
		if !h.maybe && (h.net < 0 || h.net == s.net) {
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
		if m.cast != nil {
			continue // see judgeCasts
		}
		if m.hop == nil && m.at == onLink {
			continue // lost to a violation
		}
		switch m.at {
		case onLink:
			switch {
			case m.hop.epoch.crashed:
				w.report.LostInCrash++
			case m.hop.epoch.ended || m.hop.maybe:
				w.report.LostAtReset++
			case done && !w.cfg.Hostile:
				w.report.Lost++
				w.violate(2, "message %d was lost, and there was contact all the time", m.id)
			}
		case forwarded:
			if m.holder.dead || m.vague || m.endings != m.holder.ended {
				w.report.LostAtReset++
			} else if done && !w.cfg.Hostile {
				w.report.Lost++
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
	for _, link := range l.links {
		w.report.Retransmits += link.Retransmits
		w.report.NoChunk += link.NoChunk
		w.report.Bundles += link.SentBundles
		w.report.Bundled += link.SentBundled
	}
}
