// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A Handler takes a port's messages in calls, in place of its queue. What r and data say
// is valid in the call only, and data may be read by others, so it is not changed. The
// handler may use Send of its port, and SetHandler, and of the engine nothing else.
type Handler func(r *Received, data []byte)

// handlers are what an engine keeps for all ports with a Handler.
//
//	arrives ──(nothing waits in the port, LetHandle allows it)──► handler
//	   │                                                            ▲
//	   └──────► the port's queue ──(ServeHandlers, by turns)────────┘
//
// A message from this node is queued in any case, so that handlers that answer each
// other take turns and do not nest.
type handlers struct {
	left    int  // messages that may be handed over until LetHandle is called again
	busy    bool // a handler runs
	waiting flowctl.Queue[*Port]
	message Received // that is handed over
	buf     []byte   // its data, if that came out of a port's ring
}

// LetHandle says how many messages handlers may take from now on, until it is called
// again. More wait in their ports.
func (e *Engine) LetHandle(k int) { e.handlers.left = k }

// HandlersWait reports whether messages wait for a handler, see ServeHandlers.
func (e *Engine) HandlersWait() bool { return e.handlers.waiting.Len() > 0 }

// SetHandler makes h take the port's messages from now on; nil: they wait to be read,
// as those do that wait already.
func (p *Port) SetHandler(h Handler) { p.Handler = h }

// handsOver reports whether a port's handler can have a message at once.
func (p *Port) handsOver() bool {
	s := &p.e.handlers
	return p.Handler != nil && p.queue.Len() == 0 && s.left > 0 && !s.busy
}

// handOver gives the message that is described in handlers.message to a port's handler.
func (e *Engine) handOver(p *Port, data []byte) {
	s := &e.handlers
	s.left--
	s.busy = true
	p.Handler(&s.message, data)
	s.busy = false
	e.count.Handled++
}

// ServeHandlers hands over what waits in ports, one message of each in turn, as far as
// LetHandle allows.
func (e *Engine) ServeHandlers() {
	if e.HandlersWait() {
		e.serveWaiting()
	}
}

func (e *Engine) serveWaiting() {
	s := &e.handlers
	for s.left > 0 && s.waiting.Len() > 0 {
		p := s.waiting.Pop()
		p.readied = false
		if p.queue.Len() == 0 {
			continue // closed
		}
		if p.Handler != nil {
			e.handNext(p)
		}
		if p.queue.Len() > 0 {
			p.makeReady()
		}
	}
}

// handNext hands over the first message of a port's queue.
func (e *Engine) handNext(p *Port) {
	s := &e.handlers
	s.message = *p.queue.At(0)
	p.queue.Drop()
	r := &s.message
	p.queued -= r.Len + recordCost
	p.recount()
	lent, data := r.lent, r.data
	r.lent, r.data = nil, nil
	if data == nil {
		data = s.room(r.Len)
		p.data.pop(data, r.Len)
	}
	e.handOver(p, data)
	if lent != nil {
		lent.Release()
	}
}

// room returns memory for n bytes, which no message has more of than frame.MaxPayload.
func (s *handlers) room(n int) []byte {
	if n > cap(s.buf) {
		s.buf = make([]byte, min(max(2*n, CopyBreak), max(n, frame.MaxPayload)))
	}
	return s.buf[:n]
}

// makeReady notes that messages wait in a port, for its handler or its owner.
func (p *Port) makeReady() {
	switch {
	case p.readied:
	case p.Handler != nil:
		p.readied = true
		p.e.handlers.waiting.Push(p)
	default:
		p.readied = true
		p.e.ready = append(p.e.ready, p)
	}
}
