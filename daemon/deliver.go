// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// A deliverer sees to it that one goroutine at a time takes messages out of a port and
// writes them to its program.
//
//	     ┌──(something came)──► serving ──(all is written)──► idle
//	idle ┘                      │  ▲   └──(and more came)──► again ──► serving
//	                            │  └──(the program has read)──┐
//	                            └──(no room to write)──► stalled, a goroutine waits
type deliverer struct {
	state atomic.Uint32
	left  outgoing // what there was no room for; of who serves
	told  bool     // that nothing comes any more; of who serves
}

const (
	idle uint32 = iota
	serving
	again
	stalled
)

// An outgoing is a record to be written.
type outgoing struct {
	h    attach.Header
	data []byte
	done func(error) // called when it is written, or never will be; or nil
	pass int         // a descriptor that goes with it, if done is not nil
}

// How much is delivered from one socket before others have their turn.
const passMessages = 32

// scratch is memory for a message.
type scratch [attach.MaxData]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// pump delivers what comes from other nodes, and what sessions leave.
func (s *Server) pump() {
	var ready [64]*stack.Polled
	for {
		k, err := s.poller.Wait(ready[:])
		if err != nil {
			return
		}
		serveAll(ready[:k])
	}
}

// mostRounds bounds what a session delivers for others.
const mostRounds = 4

// deliver delivers what a session has made ready.
func (s *Server) deliver() {
	var ready [16]*stack.Polled
	for range mostRounds {
		k := s.poller.Take(ready[:])
		if k == 0 {
			return
		}
		serveAll(ready[:k])
	}
}

func serveAll(ready []*stack.Polled) {
	buf := scratches.Get().(*scratch)
	for i, r := range ready {
		r.Owner.(*port).serve(r, buf)
		ready[i] = nil
	}
	scratches.Put(buf)
}

// serve delivers what there is, unless somebody does.
func (p *port) serve(r *stack.Polled, buf *scratch) {
	for {
		switch state := p.state.Load(); state {
		case idle:
			if p.state.CompareAndSwap(idle, serving) {
				p.run(r, buf)
				return
			}
		case serving:
			if p.state.CompareAndSwap(serving, again) {
				return
			}
		case stalled:
			p.queue()
			return
		default:
			return
		}
	}
}

// run delivers until there is no more. r is nil of a goroutine of the port's own, which
// goes on.
func (p *port) run(r *stack.Polled, buf *scratch) {
	for {
		switch p.pass(buf) {
		case passStalled:
			p.x.client.stalled.Add(1)
			p.x.srv.counters.stalled.Add(1)
			p.state.Store(stalled)
			p.queue()
			if r == nil {
				return
			}
			p.x.srv.wg.Go(p.drain)
			return
		case passMore:
			if r != nil { // others have their turn
				p.state.Store(idle)
				r.Again()
				return
			}
			continue
		}
		if p.state.CompareAndSwap(serving, idle) {
			return
		}
		p.state.Store(serving) // more came
	}
}

// drain waits for the program to read, and delivers then.
func (p *port) drain() {
	for p.state.Load() == stalled {
		left := p.left
		p.left = outgoing{}
		var err error
		if left.done != nil {
			err = p.x.c.WriteFD(&left.h, left.data, left.pass)
			left.done(err)
		} else {
			err = p.x.c.Write(&left.h, left.data)
		}
		if err != nil { // it has gone, and its session ends
			p.x.end(false)
			return
		}
		p.state.Store(serving)
		buf := scratches.Get().(*scratch)
		p.run(nil, buf)
		scratches.Put(buf)
	}
	p.settle()
}

type passed uint8

const (
	passDone    passed = iota // there is no more
	passMore                  // there may be
	passStalled               // the program does not read
)

// pass delivers some messages.
func (p *port) pass(buf *scratch) passed {
	e := p.is()
	if e.listener != nil {
		return p.passListener(e.listener)
	}
	for range passMessages {
		var h attach.Header
		var k int
		var ok bool
		switch {
		case e.packet != nil:
			k, ok = readPacket(e.packet, &h, buf[:])
		case e.conn != nil:
			if p.told {
				return passDone
			}
			var data []byte
			if data, ok = p.readConn(e.conn, &h, buf); h.Op == attach.OpEnd {
				k = copy(buf[:], data)
			} else {
				k = len(data)
			}
		case e.group != nil:
			k, ok = readGroup(e.group, &h, buf[:])
		}
		if !ok {
			return passDone
		}
		switch err := p.x.c.TryWrite(&h, buf[:k]); err {
		case nil:
			p.delivered(k)
		case syscall.EAGAIN:
			p.left = outgoing{h: h, data: append([]byte(nil), buf[:k]...)}
			return passStalled
		default: // the program has gone; who reads from it knows
			return passDone
		}
	}
	return passMore
}

func (p *port) delivered(bytes int) {
	for _, c := range [...]*counters{&p.x.client.counters, &p.x.srv.counters} {
		c.messages.Add(1)
		c.bytesOut.Add(uint64(bytes))
	}
}

// readPacket reads a message of a connectionless socket.
func readPacket(c *stack.PacketConn, h *attach.Header, buf []byte) (int, bool) {
	k, m, err := c.TryReadMsg(buf)
	if err != nil {
		return 0, false
	}
	h.Op, h.Addr = attach.OpMessage, attach.SocketSockaddr(m.From)
	h.Arg0, h.Arg1 = uint32(m.Importance), uint32(m.Error)
	switch {
	case m.Named && m.Error != 0:
		h.Addr2 = attach.ServiceSockaddr(stack.Service{Type: m.Name.Type, Instance: m.Name.Lower}, 0)
	case m.Named:
		h.Addr2 = attach.RangeSockaddr(m.Name, 0)
	}
	return k, true
}

// readGroup reads a message, or an event, of a group.
func readGroup(g *stack.Group, h *attach.Header, buf []byte) (int, bool) {
	k, m, err := g.TryReadMsg(buf)
	if err != nil {
		return 0, false
	}
	h.Op, h.Addr = attach.OpMessage, attach.SocketSockaddr(m.From)
	h.Addr2 = attach.ServiceSockaddr(m.Member, 0)
	h.Arg0 = uint32(m.Importance) | uint32(m.Kind)<<8
	if m.Private {
		h.Flags |= attach.FlagPrivate
	}
	return k, true
}

// readConn reads from a connection, or tells of its end.
func (p *port) readConn(c *stack.Conn, h *attach.Header, buf *scratch) ([]byte, bool) {
	k, _, err := c.TryReadMsg(buf[:])
	if err == nil {
		h.Op = attach.OpMessage
		return buf[:k], true
	}
	if err == syscall.EAGAIN {
		return nil, false
	}
	p.told = true
	h.Op = attach.OpEnd
	if err == io.EOF {
		return nil, true
	}
	var data []byte
	h.Errno, data = encode(err)
	h.Arg1 = uint32(codeOf(err))
	return data, true
}

// queue counts what waits for a program that does not read, and makes the socket refuse
// what comes when that is too much.
func (p *port) queue() {
	e := p.is()
	bytes := e.stats().Bytes
	p.mu.Lock()
	more := bytes - p.queued
	refuse := false
	if p.state.Load() == stalled && !p.closed {
		p.queued = bytes
		refuse = !p.x.client.move(queuedBytes, more) && more > 0 && e.packet != nil && !p.refusing
		p.refusing = p.refusing || refuse
	}
	p.mu.Unlock()
	if refuse {
		p.x.client.overQueue.Add(1)
		p.x.srv.counters.overQueue.Add(1)
		e.packet.SetReceiveLimit(1)
	}
}

// settle ends that.
func (p *port) settle() {
	p.mu.Lock()
	queued, refusing, e := p.queued, p.refusing, p.now
	p.queued, p.refusing = 0, false
	limit := p.limit
	p.mu.Unlock()
	if queued != 0 {
		p.x.client.move(queuedBytes, -queued)
	}
	if refusing && e.packet != nil {
		e.packet.SetReceiveLimit(limit)
	}
}

func (p *port) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusing
}
