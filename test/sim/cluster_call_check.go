// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// attend lets everybody whom the engine calls do what they waited for, and reports
// whether there was anybody: what they did may bring about more.
func (t *term) attend() (more bool) {
	if !t.m.c.Connections {
		return false
	}
	t.asked = t.eng.TakeReadyListeners(t.asked[:0])
	for _, l := range t.asked {
		l.Owner.(*acceptor).acceptSoon()
	}
	t.news = t.eng.TakeReadyConns(t.news[:0])
	for i, e := range t.news {
		if s, ok := e.Owner.(*side); ok && !t.m.c.mutate(ForgetWriter, s.waits == waitWindow) {
			s.told()
		}
		t.news[i] = nil
	}
	t.called = t.called[:0]
	if c := t.m.c; c.clock.now >= t.m.starved { // else it finds the same again and again
		t.called = t.eng.TakeCalled(t.called)
	}
	for _, k := range t.called {
		switch s := k.Owner.(*side); {
		case s.e == nil:
			s.tryDial()
		case !s.done:
			s.write()
		}
	}
	return len(t.asked)+len(t.news)+len(t.called) > 0
}

// turn makes a call of a user's of connections.
func (t *term) turn(call func()) {
	call()
	t.settle()
}

// checkWaits is invariant 4 for connections: whoever waits has a reason that exists.
func (t *term) checkWaits() {
	c := t.m.c
	bad := func(s *side, format string, a ...any) {
		c.violate("waits", "call %d, end %d at node %d: "+format, append([]any{s.c.id, 1 - s.other, t.m.idx}, a...)...)
	}
	for _, s := range t.sides {
		if s.waits == waitRoom {
			t.checkLine(s, bad)
		}
		if s.e == nil {
			if s.waits != waitRoom {
				bad(s, "a dial waits for nothing")
			}
			continue
		}
		switch state := s.e.State(); {
		case state == engine.Connecting:
			if late := c.clock.now - s.began - s.timeout(); late > time.Millisecond {
				bad(s, "no answer, and no end %v after its time", late)
			}
		case state == engine.Ended && !s.soon:
			bad(s, "it has ended, %v, and nobody was told", s.e.Err())
		case state == engine.Established && !s.up:
			bad(s, "it was answered, and nobody was told")
		case state == engine.Established && t.lost[s.e.Peer().Node] != s.lost:
			bad(s, "contact with %v was lost, and it is established", s.e.Peer().Node)
		case s.e.Pending() > 0 && !s.soon:
			bad(s, "%d messages wait, and nobody was told", s.e.Pending())
		}
		if n, limit := s.e.Queued(); n > limit {
			c.violate("memory", "call %d: %v has %d bytes, limit %d", s.c.id, s.e.Addr(), n, limit)
		}
		if s.waits == waitWindow {
			if unacked, window := s.e.Window(); s.e.State() == engine.Established && unacked <= window {
				bad(s, "a write waits with %d of %d not acknowledged", unacked, window)
			}
		}
		if s.waits == waitNothing && s.job != nil {
			bad(s, "nobody goes on with a write")
		}
	}
	for _, a := range t.acceptors {
		n := a.e.Pending()
		if n > 0 && !a.soon {
			c.violate("waits", "node %d: %d requests wait at %v, and nobody was told", t.m.idx, n, a.addr)
		}
		if n > a.limit {
			c.violate("memory", "node %d: %d requests wait at %v, at most %d may", t.m.idx, n, a.addr, a.limit)
		}
	}
}

// checkLine looks at a write or a dial that waits for room on a link, or for memory.
func (t *term) checkLine(s *side, bad func(*side, string, ...any)) {
	why := t.eng.Why(&s.ticket)
	b, ok := why.(*engine.Blocked)
	switch {
	case s.ticket.Called() && t.m.c.clock.now < t.m.starved: // it is called when there is memory
	case why == nil:
		bad(s, "it waits for no room")
	case t.m.c.clock.now < t.m.starved:
	case s.ticket.Invited():
		bad(s, "there is room, and it was not called")
	case ok && b.Ahead == 0:
		for n, link := range t.links {
			if n.Node == b.Node && link.IsUp() && b.Bearer == t.bearerName(n.net) && link.Vacant(b.Importance) > 0 {
				bad(s, "it is the first that waits for %s, where there is room for %d", b.Link, link.Vacant(b.Importance))
			}
		}
	}
}

// watchLost looks, when the tolerance is over, whether ends that led to a life that has
// ended know it.
func (c *cluster) watchLost(of *term) {
	for _, m := range c.members {
		t := m.term
		if t == nil || t == of {
			continue
		}
		var left []*side
		for _, s := range t.sides {
			if s.up && s.e.State() == engine.Established && s.peerSide() != nil && s.peerSide().t == of {
				left = append(left, s)
			}
		}
		if len(left) > 0 {
			c.watchEnds(t, left, of.m.purgeTime(m), func() bool { return true })
		}
	}
}

// watchApart is watchLost for two nodes that do not hear each other, as long as they
// stay so.
func (c *cluster) watchApart(t, of *term, after time.Duration, still func() bool) {
	var left []*side
	for _, s := range t.sides {
		if s.up && s.e.State() == engine.Established && s.e.Peer().Node == of.eng.Address() {
			left = append(left, s)
		}
	}
	if len(left) > 0 {
		c.watchEnds(t, left, after, still)
	}
}

// watchEnds looks whether ends have ended after a time.
func (c *cluster) watchEnds(t *term, left []*side, after time.Duration, still func() bool) {
	c.clock.after(after, func() {
		if t.dead || !still() {
			return
		}
		for _, s := range left {
			c.report.EndsLooked++
			if s.e.State() == engine.Established {
				c.violate("connections", "call %d: %v is established with %v, which is out of reach for %v", s.c.id, s.e.Addr(), s.e.Peer(), after)
			}
		}
	})
}

// idle reports whether nobody waits at a node, and both ends of all its calls stand
// alike: else what is wrong, if it is asked for.
func (t *term) idle(wrong func(format string, a ...any)) bool {
	if wrong == nil {
		ok := true
		t.look(func(string, ...any) { ok = false })
		return ok
	}
	t.look(wrong)
	return true
}

// look tells what would be wrong if the network had been quiet for long.
func (t *term) look(wrong func(format string, a ...any)) {
	for _, s := range t.sides {
		o := s.peerSide()
		switch {
		case s.e == nil:
			wrong("call %d waits to be dialled", s.c.id)
		case s.e.State() != engine.Established:
			wrong("call %d: %v is %v", s.c.id, s.e.Addr(), s.e.State())
		case o == nil || o.done || o.t.dead:
			wrong("call %d: %v is established, the other end gone", s.c.id, s.e.Addr())
		case s.job != nil:
			unacked, window := s.e.Window()
			wrong("call %d: %v has %d messages to write, waits %d, %d of %d not acknowledged", s.c.id, s.e.Addr(), s.job.left, s.waits, unacked, window)
		case s.in().read != s.in().sent:
			wrong("call %d: %v has read %d bytes of %d, and there was contact all the time", s.c.id, s.e.Addr(), s.in().read, s.in().sent)
		case t.m.c.clock.now < s.resting:
			wrong("call %d: %v does not read until %v", s.c.id, s.e.Addr(), s.resting)
		}
	}
	for _, a := range t.acceptors {
		if n := a.e.Pending(); n > 0 {
			wrong("%v has %d requests", a.addr, n)
		}
	}
	if got, want := t.eng.Ports(), len(t.socks)+len(t.sides)+len(t.acceptors); got != want {
		wrong("%d sockets, %d are open", got, want)
	}
}

// checkCalls is called when the network has been quiet.
func (c *cluster) checkCalls() {
	for _, m := range c.members {
		m.term.idle(func(format string, a ...any) {
			c.violate("connections", "node %d: "+format, append([]any{m.idx}, a...)...)
		})
		m.term.checkUnsent()
		if n := m.term.eng.Counters().OverAcks; n > 0 {
			c.violate("connections", "node %d: more was acknowledged than sent, %d times", m.idx, n)
		}
		if d := m.term.eng.Counters().Drops; d[engine.DropLimit] > 0 && !c.scarce && c.refusal == 0 {
			c.violate("connections", "node %d: %d messages could not go back", m.idx, d[engine.DropLimit])
		}
	}
}

// endCalls closes what is open, in any order, half of the calls from both ends, and
// looks whether anything is left.
func (c *cluster) endCalls() {
	for _, m := range c.members {
		for _, s := range append([]*side(nil), m.term.sides...) {
			c.clock.after(c.upTo(time.Second), func() { s.hangUp(c.work.IntN(2) == 0) })
		}
	}
	c.run(time.Second)
	for _, m := range c.members {
		for len(m.term.acceptors) > 0 {
			m.term.acceptors[0].close()
		}
	}
	c.run(time.Second)
	c.checkCalls()
	for _, m := range c.members {
		if n := m.term.eng.Alarms(); n > 0 {
			c.violate("memory", "node %d: %d alarms are set, and no connection is left", m.idx, n)
		}
	}
	clear(c.dialled)
}
