// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A connUser is a part of the engine that has connections, which hears of them in calls
// instead of by TakeReadyConns. In each call it may use any method of any Conn.
type connUser interface {
	// accepted says that c is there, and answered; data that came with the request
	// comes next as a message.
	accepted(now time.Duration, c *Conn)
	// message hands over a message, which counts as read; data is only valid in the
	// call.
	message(now time.Duration, c *Conn, data []byte)
	// writable says that there is room after a Write that found none.
	writable(now time.Duration, c *Conn)
	// ended says that the peer has closed, or is gone. c is closed after it. Close and
	// Abort do not call it.
	ended(now time.Duration, c *Conn)
}

// A callKind is what the owner of a connection is to be told.
type callKind uint8

const (
	callReadable callKind = 1 << iota
	callWritable
	callEnded
)

// conns are what an engine keeps for all of its connections.
type conns struct {
	now       time.Duration        // the latest time known
	calls     flowctl.Queue[*Conn] // of users, that are to be told, each once
	ready     []*Conn              // of owners
	listeners []*Listener
	loop      loopback
	stores    stores
	lingerers lingerers
	joined    *link // of a message that is being delivered and has joined a packet, see overtaken
	rooms     rooms
}

// tell notes what the owner of a connection is to be told. A user hears of it when the
// engine has done what it is doing.
func (s *conns) tell(c *Conn, kind callKind) {
	switch {
	case c.user != nil:
		if c.due == 0 {
			s.calls.Push(c)
		}
		c.due |= kind
	case c.origin != nil: // nobody has it yet
	case c.due == 0:
		c.due = kind
		s.ready = append(s.ready, c)
	}
}

func (s *conns) tellListener(l *Listener) {
	if !l.readied {
		l.readied = true
		s.listeners = append(s.listeners, l)
	}
}

// deadline is when users are to be called: at once, or Never.
func (s *conns) deadline() time.Duration {
	if s.calls.Len() == 0 {
		return flowctl.Never
	}
	return s.now
}

// TakeReadyConns appends to dst the connections that can be read, or written to again,
// or whose state has changed since the last call, each once; of closed ones those that
// WatchClose speaks of.
func (e *Engine) TakeReadyConns(dst []*Conn) []*Conn {
	if len(e.conns.ready) == 0 {
		return dst
	}
	for _, c := range e.conns.ready {
		c.due = 0
		if c.state != ConnClosed || c.watched && c.Gone() {
			dst = append(dst, c)
		}
	}
	clear(e.conns.ready)
	e.conns.ready = e.conns.ready[:0]
	return dst
}

// TakeReadyListeners appends to dst the listeners that were given requests, each once.
func (e *Engine) TakeReadyListeners(dst []*Listener) []*Listener {
	if len(e.conns.listeners) == 0 {
		return dst
	}
	for _, l := range e.conns.listeners {
		l.readied = false
	}
	dst = append(dst, e.conns.listeners...)
	clear(e.conns.listeners)
	e.conns.listeners = e.conns.listeners[:0]
	return dst
}

// serveConns calls the users that are to be told something; of what that brings about
// they hear at the next deadline, which is now.
func (e *Engine) serveConns(now time.Duration) {
	s := &e.conns
	s.now = now
	for range s.calls.Len() {
		c := s.calls.Pop()
		due := c.due
		c.due = 0
		switch {
		case c.state == Ended:
			c.user.ended(now, c)
			if c.state == Ended {
				c.state = ConnClosed
				c.release(now)
			}
		case c.state == Established && due&callWritable != 0:
			c.user.writable(now, c)
			if c.ticket.invited { // it has nothing to send
				e.Quit(now, &c.ticket)
			}
		}
	}
}

// A loopback carries the messages of connections within the node: as they would be on
// the wire, but without a link. A message that comes of another waits until that one
// is done. Source: docs/spec/07-sockets.md §9.
type loopback struct {
	busy  bool
	buf   []byte // of the message that is being delivered
	queue flowctl.Queue[[]byte]
}

// loop delivers a payload message to a socket of this node.
func (e *Engine) loop(now time.Duration, f *frame.PayloadFields, data []byte) {
	h := f.Len()
	msg := e.conns.loop.take(h + len(data))
	f.Put(msg, len(data))
	copy(msg[h:], data)
	e.deliverLoop(now, msg)
}

// loopManager delivers a message of the connection manager.
func (e *Engine) loopManager(now time.Duration, f *frame.ConnFields) {
	msg := e.conns.loop.take(frame.IntLen)
	f.Append(msg[:0])
	e.deliverLoop(now, msg)
}

// take returns room for a message of n bytes.
func (s *loopback) take(n int) []byte {
	if s.busy {
		return make([]byte, n)
	}
	if n > cap(s.buf) {
		s.buf = make([]byte, n)
	}
	return s.buf[:n]
}

// deliverLoop delivers a message, and those that come of it.
func (e *Engine) deliverLoop(now time.Duration, msg []byte) {
	s := &e.conns.loop
	e.conns.now = now
	if s.busy {
		s.queue.Push(msg)
		return
	}
	s.busy = true
	for {
		if m, err := frame.Parse(msg); err == nil {
			e.deliverMessage(now, e.self, m, nil, false)
		}
		if s.queue.Len() == 0 {
			break
		}
		msg = s.queue.Pop()
	}
	s.busy = false
}
