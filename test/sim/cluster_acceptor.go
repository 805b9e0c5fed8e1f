// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// listenType is the service type of listening sockets' names: one each, or several that
// share one.
const listenType = 4000

// An acceptor is a listening socket, and how it accepts.
type acceptor struct {
	t      *term
	e      *engine.Listener
	addr   frame.SocketAddr
	name   frame.Service
	bound  bool
	stream bool
	limit  int           // requests that may wait
	every  time.Duration // between looks; 0: it accepts at once
	some   int           // requests that it accepts then
	soon   bool          // it is about to look
	closed bool
}

func (a *acceptor) open() bool { return !a.closed && !a.t.dead }

// listen opens a listening socket, most with a name.
func (t *term) listen() {
	c, r := t.m.c, t.m.c.work
	a := &acceptor{t: t, stream: r.IntN(2) == 0, some: 1 << 30, limit: []int{0, 0, 1, 4, 50}[r.IntN(5)]}
	if r.IntN(3) == 0 {
		a.every, a.some = 1+c.upTo(500*time.Millisecond), 1+r.IntN(30)
	}
	k := engine.ListenConfig{Stream: a.stream, AnyKind: true, Backlog: a.limit, Owner: a} // those that dial choose by chance
	if r.IntN(4) == 0 {
		k.ReceiveLimit = engine.MinConnReceiveLimit
	}
	if a.limit == 0 {
		a.limit = engine.DefaultBacklog
	}
	a.e = t.eng.Listen(k)
	a.addr = a.e.Addr()
	c.nextID++
	a.name = frame.Service{Type: listenType, Instance: c.nextID}
	if r.IntN(3) == 0 {
		a.name = frame.Service{Type: listenType + 1, Instance: uint32(r.IntN(3))}
	}
	if a.bound = r.IntN(5) > 0; a.bound {
		if err := a.e.Bind(c.clock.now, a.name.Range(), frame.ClusterScope); err != nil {
			c.violate("tables", "node %d: bind %v: %v", t.m.idx, a.name, err)
		}
		c.report.Binds++
	}
	c.tracef("node %d: %v listens as %v, bound %v, backlog %d", t.m.idx, a.addr, a.name, a.bound, a.limit)
	t.acceptors = append(t.acceptors, a)
}

// close closes a listening socket.
func (a *acceptor) close() {
	t := a.t
	i := slices.Index(t.acceptors, a)
	t.acceptors = slices.Delete(t.acceptors, i, i+1)
	a.closed = true
	t.m.c.tracef("node %d: %v listens no more, %d requests wait", t.m.idx, a.addr, a.e.Pending())
	t.turn(func() { a.e.Close(t.m.c.clock.now) })
}

// acceptSoon has an acceptor accept, at once unless it is slow.
func (a *acceptor) acceptSoon() {
	c := a.t.m.c
	switch {
	case a.closed || a.soon || a.e.Pending() == 0:
	case a.every == 0 || !c.busy:
		a.accept(1 << 30)
	default:
		a.soon = true
		c.clock.after(a.every, func() {
			a.soon = false
			if a.open() {
				a.t.turn(func() {
					a.accept(a.some)
					a.acceptSoon()
				})
			}
		})
	}
}

// accept accepts as many requests as it may.
func (a *acceptor) accept(most int) {
	c := a.t.m.c
	for range most {
		e, ok := a.e.Accept(c.clock.now)
		if !ok {
			return
		}
		a.accepted(e)
	}
}

// accepted takes the end of a call that was accepted.
func (a *acceptor) accepted(e *engine.Conn) {
	t, c := a.t, a.t.m.c
	x := c.dialled[e.Peer()]
	name, named := e.Name()
	switch {
	case x == nil:
		c.violate("connections", "%v accepted %v, which asked nobody", a.addr, e.Peer())
		return
	case x.to != nil:
		c.violate("connections", "%v accepted call %d of %v again", a.addr, x.id, e.Peer())
		return
	case named != x.named || named && (name.Type != x.at.name.Type || name.Instance != x.at.name.Instance) || !named && a != x.at:
		c.violate("connections", "%v accepted call %d of %v, by name %v %v, which went to %v %v", a.addr, x.id, e.Peer(), named, name, x.at.addr, x.at.name)
	}
	s := &side{t: t, c: x, e: e, other: 0, stream: a.stream}
	x.to = s
	e.Owner, s.ticket.Owner = s, s
	s.manner()
	t.sides = append(t.sides, s)
	c.report.Accepted++
	c.note('a', t.m.idx, nil, uint64(x.id))
	c.tracef("node %d: %v accepts call %d of %v as %v", t.m.idx, a.addr, x.id, e.Peer(), e.Addr())
	s.established()
	s.readSoon()
}
