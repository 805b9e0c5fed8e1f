// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// queues are the senders of a node that wait, but for those in the lines of links.
type queues struct {
	as     *Ticket   // whose sends these are; nil: of somebody who has not waited
	serial uint64    // of the last ticket that began to wait
	memory [2]line   // for small and for jumbo chunks
	called []*Ticket // to be woken
}

// senders are those who wait for a link, by importance, and what they were told last.
type senders struct {
	lines   [frame.System]line
	blocked [frame.System]Blocked
}

// SendAs says whose the sends from now on are: a call's that may wait, and whose
// place t is, or with nil of nobody that waits. Such a send that is blocked, or finds
// no memory, enters t in a line; when TakeCalled returns it the call tries again. An
// attempt ends with Tried, and the call, with or without success, with Quit.
//
// Nobody overtakes a call that waits: see line.
func (e *Engine) SendAs(t *Ticket) { e.queues.as = t }

// Tried ends an attempt to send that SendAs began. A call whose attempt met anything but
// a full link or want of memory leaves the line it stood in: room is kept for nobody who
// waits for something else, and no invitation outlives the attempt that it was for.
func (e *Engine) Tried(now time.Duration) {
	t := e.queues.as
	e.queues.as = nil
	if t == nil {
		return
	}
	if !t.refused {
		e.Quit(now, t)
	}
	t.refused = false
}

// Quit ends the waiting of a call. It is harmless for one that does not wait.
func (e *Engine) Quit(now time.Duration, t *Ticket) {
	e.leaveLine(now, t)
	t.serial = 0
	if t.turn != nil {
		t.turn.calls--
		t.turn = nil
	}
	if t.called {
		t.called = false
		q := &e.queues
		q.called = slices.DeleteFunc(q.called, func(x *Ticket) bool { return x == t })
	}
}

// Invited reports whether there is room for what a call waits for.
func (t *Ticket) Invited() bool { return t.invited }

// Called reports whether TakeCalled will return it.
func (t *Ticket) Called() bool { return t.called }

// Since is when the call began to wait, and whether it does.
func (t *Ticket) Since() (at time.Duration, waits bool) { return t.since, t.serial != 0 }

// TakeCalled appends the tickets of the calls that should try again to dst, each once.
func (e *Engine) TakeCalled(dst []*Ticket) []*Ticket {
	q := &e.queues
	for i := range q.memory {
		if ln := &q.memory[i]; ln.waiting > 0 {
			e.inviteMemory(i)
		}
	}
	if len(q.called) == 0 {
		return dst
	}
	for i, t := range q.called {
		t.called = false
		dst = append(dst, t)
		q.called[i] = nil
	}
	q.called = q.called[:0]
	return dst
}

// Waiting is the number of calls that stand in line, for whatever.
func (e *Engine) Waiting() (k int) {
	for i := range e.queues.memory {
		k += e.queues.memory[i].waiting
	}
	count := func(l *link) {
		if l != nil && l.senders != nil {
			for imp := range l.senders.lines {
				k += l.senders.lines[imp].waiting
			}
		}
	}
	for _, n := range e.nodes {
		for _, l := range n.links {
			count(l)
		}
	}
	count(e.cast.link)
	return k
}

// WantsMemory reports whether calls or frames wait for chunks, which may come back at any
// time: TakeCalled and NextFrame look for them.
func (e *Engine) WantsMemory() bool {
	return e.queues.memory[0].waiting > 0 || e.queues.memory[1].waiting > 0 || e.crypt != nil && e.sealingWaits()
}

// Why says what a call waits for: *Blocked, ErrMemory, or nil if for nothing.
func (e *Engine) Why(t *Ticket) error {
	switch {
	case t.line == nil:
		return nil
	case t.link == nil:
		return ErrMemory
	}
	b := t.link.describe(t.imp)
	if t.link == e.cast.link {
		b.Node = e.lastMember()
	}
	for x := t.prev; x != nil; x = x.prev {
		b.Ahead++
	}
	return &b
}

// call notes that a ticket's owner should try again.
func (e *Engine) call(t *Ticket) {
	switch c := t.conn; {
	case c == nil:
	case c.user == nil: // the request, or what it holds
		e.alarms.set(&c.again, e.conns.now)
		return
	default:
		e.conns.tell(c, callWritable)
		return
	}
	if !t.called {
		t.called = true
		e.queues.called = append(e.queues.called, t)
	}
}

// waitersOf returns those who wait for a link.
func (l *link) waitersOf() *senders {
	if l.senders == nil {
		l.senders = &senders{}
	}
	return l.senders
}

// mayTry reports whether a port may try to send on a link now, or has to wait behind
// others.
func (e *Engine) mayTry(p *Port, l *link) bool {
	if !l.IsUp() {
		return false // until reapFailed
	}
	if l.senders == nil {
		return true
	}
	ln := &l.senders.lines[p.Importance]
	if ln.waiting == 0 {
		return true
	}
	t := e.queues.as
	return ln.admits(t, l.Vacant(p.Importance), 1) && (t != nil && t.line == ln || !ln.spent(&p.turn))
}

// tookTurn counts a message of a packet of its own that a port has sent on a link while
// others wait.
func (l *link) tookTurn(p *Port) {
	if l.senders == nil {
		return
	}
	if ln := &l.senders.lines[p.Importance]; ln.waiting > 0 {
		ln.took(&p.turn)
	}
}

// mayTake reports whether the present sender may take chunks now.
func (e *Engine) mayTake(size, chunks int) bool {
	ln := &e.queues.memory[e.class(size)]
	if ln.waiting == 0 {
		return true
	}
	free, _ := e.cfg.Arena.Available(size)
	return ln.admits(e.queues.as, free, chunks)
}

// class is 1 for a frame that needs a jumbo chunk, else 0.
func (e *Engine) class(size int) int {
	if size > e.cfg.Arena.SmallFrame() {
		return 1
	}
	return 0
}

// blocked says why a link takes nothing now, and enters the present sender among those
// who wait for it. What it returns is brought up to date by the next call that finds
// the same: under load a sender meets it again and again.
func (e *Engine) blocked(now time.Duration, l *link, p *Port) error {
	w, imp := l.waitersOf(), p.Importance
	if t := e.queues.as; t != nil {
		ln := &w.lines[imp]
		if t.turn == nil {
			t.turn = &p.turn
			p.turn.calls++
		}
		t.refused = true
		e.enterLine(now, t, ln, 1)
		t.link, t.imp, t.port = l, imp, p.number
		if t.spent = 0; ln.spent(&p.turn) {
			t.spent = ln.round
		}
		e.invite(now, l, imp)
	}
	w.blocked[imp] = l.describe(imp)
	return &w.blocked[imp]
}

// starved enters the present sender among those who wait for chunks.
func (e *Engine) starved(now time.Duration, size, chunks int) error {
	if t := e.queues.as; t != nil {
		t.refused = true
		e.enterLine(now, t, &e.queues.memory[e.class(size)], chunks)
	}
	return ErrMemory
}

// enterLine makes t wait in a line for an invitation.
func (e *Engine) enterLine(now time.Duration, t *Ticket, ln *line, need int) {
	if t.line == ln && t.need == need {
		if t.invited {
			ln.refuse(t)
		}
		return
	}
	e.leaveLine(now, t)
	if t.serial == 0 {
		e.queues.serial++
		t.serial, t.since = e.queues.serial, now
	}
	t.need = need
	ln.enter(t)
}

// leaveLine takes t out of its line, and lets those behind move up.
func (e *Engine) leaveLine(now time.Duration, t *Ticket) {
	ln, l := t.line, t.link
	if ln == nil {
		return
	}
	ln.leave(t)
	if l != nil {
		e.invite(now, l, t.imp)
		return
	}
	for i := range e.queues.memory {
		if ln == &e.queues.memory[i] {
			e.inviteMemory(i)
		}
	}
}

// invite calls those for whom a link has room, and has it tell of more.
func (e *Engine) invite(now time.Duration, l *link, imp frame.Importance) {
	if !l.IsUp() {
		return // they move, or are called, see moveSenders
	}
	if l.senders.lines[imp].invite(l.Vacant(imp), e.call) {
		l.Want(now, imp)
	}
}

// inviteMemory calls those for whom there are chunks.
func (e *Engine) inviteMemory(class int) {
	size := e.cfg.Arena.SmallFrame()
	if class == 1 {
		size = e.cfg.Arena.Largest()
	}
	free, _ := e.cfg.Arena.Available(size)
	e.queues.memory[class].invite(free, e.call)
}

// roomOn lets those who wait for a link know that it has room.
func (e *Engine) roomOn(now time.Duration, l *link) {
	l.TakeRoom()
	if l.senders != nil {
		for imp := range l.senders.lines {
			e.invite(now, l, frame.Importance(imp))
		}
	}
	e.events.Push(Event{Kind: Room, Node: l.n.addr})
}

// moveSenders makes those who wait for a node's links wait for the link that carries
// their messages now. Without any they are called, to find that out.
func (e *Engine) moveSenders(now time.Duration, n *node) {
	for _, l := range n.links {
		if l == nil || l.senders == nil {
			continue
		}
		for imp := range l.senders.lines {
			imp := frame.Importance(imp)
			from := &l.senders.lines[imp]
			for t := from.first; t != nil; {
				next, to := t.next, n.route(t.port)
				if to != l {
					from.leave(t)
					if to == nil {
						e.call(t)
					} else {
						to.waitersOf().lines[imp].enter(t)
						t.link = to
						e.invite(now, to, imp)
					}
				}
				t = next
			}
			if l.IsUp() {
				e.invite(now, l, imp)
			}
		}
	}
}

// describe says how a link stands for senders of an importance.
func (l *link) describe(imp frame.Importance) Blocked {
	if l.name == "" { // once, as waiting must not allocate
		l.name = l.label()
	}
	return Blocked{
		Node: l.n.addr, Bearer: l.bearer.Name, Link: l.name, Importance: imp,
		Unacked: l.Unacked(), Window: l.Window(),
		Backlog: l.Backlog(), Limit: l.Limit(imp),
	}
}
