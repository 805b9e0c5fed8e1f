// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// What must hold of connections. What an end reads is a prefix of what the other one
// wrote, byte for byte, and message for message where it reads messages. An end that
// reads the other's Close, or its Abort, has read all that was written before; a Close is
// never read as anything else. An end hears of a lost contact in the same turn, of none
// that was not lost, and when the other end's node is gone for good within the tolerance.
// A dial ends within its time, and is refused only by who does not listen. Whoever waits,
// to write, read, accept or connect, has a reason that exists: see checkWaits. When the
// network has been quiet all is read, both ends stand alike, and nothing waits.

// A call is a connection, from the Dial that asks for it until both of its ends are gone.
type call struct {
	id    uint32
	from  *side
	to    *side // nil until it is accepted
	at    *acceptor
	named bool
	sent  [2]ledger // by from, and by to
	first int       // bytes sent with the request
}

// A ledger is what one end of a call has sent, and how much of it the other one has read.
type ledger struct {
	start int   // where in the pattern it begins
	sizes []int // of its messages
	sent  int   // bytes
	read  int   // bytes
	next  int   // the message to be read next, where messages are read
}

// add counts a message that was sent.
func (l *ledger) add(n int) {
	l.sizes = append(l.sizes, n)
	l.sent += n
}

// data is what comes next.
func (l *ledger) data(n int) []byte { return patternAt(l.start+l.sent, n) }

// A side is one end of a call.
type side struct {
	t      *term
	c      *call
	e      *engine.Conn // nil while the dial waits for room
	other  int          // index in sent of what it reads
	stream bool
	ticket engine.Ticket
	began  time.Duration // of the dial
	limit  time.Duration // of the dial
	lost   int           // how often contact with the other's node had been lost, when established
	up     bool          // it was established
	done   bool          // closed

	job    *callJob
	waits  waitKind
	every  time.Duration // between its reads; 0: it reads at once
	some   int           // messages it reads then
	soon   bool          // it is about to read
	closed closing

	resting time.Duration     // it reads nothing until then
	end     *engine.ConnError // as it was read
}

// A callJob is a burst of messages.
type callJob struct {
	left, size int
	tried      int // length of a message that was turned away
}

// A waitKind is what the write of a side, or its dial, waits for.
type waitKind uint8

const (
	waitNothing waitKind = iota
	waitWindow           // the other end to read
	waitRoom             // room on the link, or memory
	waitTurn             // the writer itself takes a rest
)

// A closing is how a side was closed by its owner.
type closing uint8

const (
	notClosed closing = iota
	closedInOrder
	aborted
	closedEarly // before it was established, or after it had ended
)

// peerSide is the other end, or nil.
func (s *side) peerSide() *side {
	if s.other == 0 {
		return s.c.from
	}
	return s.c.to
}

// out and in are what it sends, and what it reads.
func (s *side) out() *ledger { return &s.c.sent[1-s.other] }
func (s *side) in() *ledger  { return &s.c.sent[s.other] }

// dial begins a call to a listening socket, which may be gone, by its name or its
// address.
func (t *term) dial(a *acceptor, named bool) {
	c, r := t.m.c, t.m.c.work
	c.nextID++
	s := &side{t: t, other: 1, stream: r.IntN(2) == 0, began: c.clock.now}
	s.c = &call{id: c.nextID, from: s, at: a, named: named}
	for i := range s.c.sent {
		s.c.sent[i].start = r.IntN(patternLen)
	}
	s.limit = []time.Duration{0, 0, 50 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}[r.IntN(5)]
	if r.IntN(3) == 0 {
		s.c.first = 1 + r.IntN([]int{100, 1000, 5000, frame.MaxPayload}[r.IntN(4)])
	}
	s.manner()
	s.ticket.Owner = s
	t.sides = append(t.sides, s)
	c.report.Dials++
	s.tryDial()
}

// manner draws how a side reads.
func (s *side) manner() {
	r := s.t.m.c.work
	s.some = 1 << 30
	s.pauses()
	switch r.IntN(6) {
	case 0:
		s.every, s.some = 1+s.t.m.c.upTo(20*time.Millisecond), 1+r.IntN(20)
	case 1: // it stops for a while
		s.every = 1 + s.t.m.c.upTo(2*time.Second)
	}
}

// tryDial asks for the connection, or waits for room to do so.
func (s *side) tryDial() {
	t, c, x := s.t, s.t.m.c, s.c
	k := engine.ConnConfig{Importance: frame.Importance(c.work.IntN(4)), Stream: s.stream, Timeout: s.limit, Owner: s, NoDelay: c.work.IntN(4) == 0}
	if c.work.IntN(4) == 0 {
		k.ReceiveLimit = engine.MinConnReceiveLimit
	}
	first := x.sent[0].data(x.first)
	s.waits = waitNothing
	t.eng.SendAs(&s.ticket)
	var err error
	if x.named {
		s.e, err = t.eng.DialService(c.clock.now, k, x.at.name, first)
	} else {
		s.e, err = t.eng.Dial(c.clock.now, k, x.at.addr, first)
	}
	t.eng.SendAs(nil)
	if passes(err) {
		c.report.CallWaits++
		s.waits = waitRoom
		return
	}
	t.eng.Quit(c.clock.now, &s.ticket)
	if err != nil {
		if !errors.Is(err, engine.ErrUnreachable) {
			c.violate("connections", "node %d: dial %d: %v", t.m.idx, x.id, err)
		}
		c.report.Unreachable++
		s.over()
		return
	}
	s.began = c.clock.now
	if x.first > 0 {
		x.sent[0].add(x.first)
	}
	c.dialled[s.e.Addr()] = x
	c.tracef("node %d: call %d from %v to %v, by name %v, %d bytes with it, limit %v", t.m.idx, x.id, s.e.Addr(), s.e.Peer(), x.named, x.first, s.limit)
}

// told is called when the engine says that something is new.
func (s *side) told() {
	if s.done {
		return
	}
	if !s.up && s.e.State() != engine.Connecting {
		s.answered()
	}
	if s.waits == waitWindow {
		s.write()
	}
	s.readSoon()
}

// answered is called when a dial was answered, or has ended without.
func (s *side) answered() {
	c, o := s.t.m.c, s.c.to
	if end, ok := s.e.Err().(*engine.ConnError); ok && end.Why.NoAnswer() {
		return
	}
	switch {
	case o == nil:
		c.violate("connections", "call %d: connected with %v, and nobody has accepted it", s.c.id, s.e.Peer())
	case s.e.Peer() != o.e.Addr():
		c.violate("connections", "call %d: connected with %v, accepted by %v", s.c.id, s.e.Peer(), o.e.Addr())
	}
	c.report.Connected++
	s.established()
}

// established begins the life of an end: it writes now and then, and some time later
// ends the call, if the other one does not.
func (s *side) established() {
	c, r := s.t.m.c, s.t.m.c.work
	s.up = true
	s.lost = s.t.lost[s.e.Peer().Node]
	if s.e.State() != engine.Established {
		s.lost = -1 // answered and lost in one turn
	}
	c.clock.after(c.upTo(50*time.Millisecond), s.talk)
	life := c.upTo(4 * time.Second)
	if r.IntN(3) == 0 {
		life = c.upTo(50 * time.Millisecond)
	}
	if r.IntN(4) > 0 {
		both := r.IntN(8) == 0 // at once
		c.clock.after(life, func() {
			o := s.peerSide()
			s.hangUp(r.IntN(3) == 0)
			if both && o != nil {
				o.hangUp(r.IntN(3) == 0)
			}
		})
	}
}

// talk begins a burst of messages, and comes back for the next.
func (s *side) talk() {
	c, r := s.t.m.c, s.t.m.c.work
	if s.done || s.t.dead || s.e.State() != engine.Established {
		return
	}
	c.clock.after(1+c.upTo(2*time.Second), s.talk)
	if !c.busy || s.job != nil {
		return
	}
	j := &callJob{left: 1 + r.IntN(20), size: []int{10, 200, 1000, 1400}[r.IntN(4)]}
	switch r.IntN(48) {
	case 0: // more than a window
		j.left, j.size = 200+r.IntN(500), 100
	case 1:
		j.left, j.size = 3+r.IntN(4), frame.MaxPayload
	case 2, 3, 4:
		j.left, j.size = 1, []int{4000, 20_000, frame.MaxPayload}[r.IntN(3)]
	}
	s.job = j
	s.t.turn(s.write)
}

// hangUp closes a side, in order or not.
func (s *side) hangUp(abort bool) {
	t, c := s.t, s.t.m.c
	if s.done || t.dead || s.e == nil {
		return
	}
	s.closed = closedInOrder
	switch {
	case s.e.State() != engine.Established:
		s.closed = closedEarly
	case abort:
		s.closed = aborted
	}
	c.tracef("node %d: call %d, %v hangs up, abort %v, state %v", t.m.idx, s.c.id, s.e.Addr(), abort, s.e.State())
	c.report.HangUps++
	t.turn(func() {
		if abort {
			s.e.Abort(c.clock.now)
		} else {
			s.e.Close(c.clock.now)
		}
		s.over()
	})
}

// over ends a side.
func (s *side) over() {
	t := s.t
	t.eng.Quit(t.m.c.clock.now, &s.ticket)
	if !s.done {
		t.past(s)
	}
	s.done, s.waits, s.job = true, waitNothing, nil
	if i := slices.Index(t.sides, s); i >= 0 {
		t.sides = slices.Delete(t.sides, i, i+1)
	}
}

// passes reports whether a call was turned away for a while, and waits in line.
func passes(err error) bool {
	var blocked *engine.Blocked
	return err == engine.ErrMemory || errors.As(err, &blocked)
}
