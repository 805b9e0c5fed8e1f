// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A Ticket is the place of one call in a line of senders that wait for room: on a
// link at an importance, or in the node's memory. The zero Ticket stands nowhere.
type Ticket struct {
	Owner any   // the owner's own word for the call
	conn  *Conn // with a user in the engine, whose call it is; else nil

	line       *line
	prev, next *Ticket
	need       int    // room it asks for
	invited    bool   // there is room for it
	refused    bool   // the attempt to send that goes on has found none
	spent      uint64 // the round in which its sender has had its share
	called     bool   // it is in the list of those to be woken
	link       *link  // nil: it waits for memory
	imp        frame.Importance
	port       uint32        // of the sender
	turn       *turn         // the sender's; nil before it waits for a link
	serial     uint64        // its place among all calls that ever waited; 0: it does not yet
	since      time.Duration // when it began to wait
}

// A line is senders that wait for the same room, in the order they began to wait, be
// it here or for something else before.
//
//	enter ──► waiting ──(invite: the first, as far as room goes)──► invited ──► leave
//	             ▲                                                     │
//	             └───(refuse: the room is gone, for all behind too)────┘
//
// Room is kept for those invited, so that nobody takes it before they come. Who is
// not in the line may go only when all in it are invited, and there is room beyond
// what is kept. So nobody is overtaken while he waits to be invited.
//
// To go back to the end of the line after each message would cost a wake-up each. So
// in a round, which ends when all those invited have gone, a sender may have its share
// of the room there was, and go on without waiting.
//
// Whoever leaves, invited or not, makes the next be looked at; so while anybody
// waits the first is invited, or there is no room.
type line struct {
	first, last *Ticket
	next        *Ticket // the first that is not invited
	waiting     int     // tickets in the line
	kept        int     // room that those invited ask for
	round       uint64
	share       int // messages that one sender may send in the round
}

// A turn is what a sender has had of a line's round.
type turn struct {
	line  *line
	round uint64
	count int // messages that took room
	calls int // of the sender, that wait now: each has a share
}

// took counts a message that a sender sent while others wait, and that took room: one
// that shares a packet which waits already takes none.
func (ln *line) took(p *turn) {
	if p.line != ln || p.round != ln.round {
		*p = turn{line: ln, round: ln.round, calls: p.calls}
	}
	p.count++
}

// spent reports whether a sender has had its share of the round.
func (ln *line) spent(p *turn) bool {
	return p.line == ln && p.round == ln.round && p.count >= ln.share*max(1, p.calls)
}

// enter puts t behind all that began to wait before it.
func (ln *line) enter(t *Ticket) {
	before := ln.last
	for before != nil && before.serial > t.serial {
		before = before.prev
	}
	t.line, t.prev = ln, before
	if before == nil {
		t.next, ln.first = ln.first, t
	} else {
		t.next, before.next = before.next, t
	}
	if t.next == nil {
		ln.last = t
	} else {
		t.next.prev = t
	}
	ln.waiting++
	if before == nil || before.invited {
		ln.refuse(t)
	}
}

// leave takes t out.
func (ln *line) leave(t *Ticket) {
	if t.invited {
		t.invited = false
		ln.kept -= t.need
	}
	if ln.next == t {
		ln.next = t.next
	}
	if t.prev == nil {
		ln.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		ln.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.line, t.prev, t.next, t.link = nil, nil, nil, nil
	ln.waiting--
}

// refuse makes t, of those invited or the next one, and all behind it wait for an
// invitation again, at their places.
func (ln *line) refuse(t *Ticket) {
	ln.next = t
	for ; t != nil; t = t.next {
		if t.invited {
			t.invited = false
			ln.kept -= t.need
		}
	}
}

// admits reports whether a sender that asks for so much may try now: t, or with nil
// one that has not waited. Who has waited elsewhere for longer than all in the line is before
// them: of those who need both of two things the first gets on when both are there, however the
// others take turns in asking for one of them.
func (ln *line) admits(t *Ticket, room, need int) bool {
	switch {
	case t != nil && t.line == ln:
		return t.invited
	case t != nil && t.serial != 0 && ln.first != nil && t.serial < ln.first.serial:
		return room >= need
	}
	return ln.next == nil && room-ln.kept >= need
}

// invite calls the next in the line for whom there is room; one who asks for much is
// not passed by those who ask for less. It reports whether there is none for the first.
func (ln *line) invite(room int, call func(*Ticket)) (stuck bool) {
	if ln.kept == 0 && ln.next != nil {
		ln.round++
		ln.share = max(1, room/ln.waiting)
	}
	for ; ln.next != nil && ln.kept+ln.next.need <= room && ln.next.spent != ln.round; ln.next = ln.next.next {
		ln.next.invited = true
		ln.kept += ln.next.need
		call(ln.next)
	}
	return ln.next != nil && ln.next == ln.first
}
