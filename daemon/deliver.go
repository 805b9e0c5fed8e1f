// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"sync"
	"sync/atomic"

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
	read  bool     // that the peer writes no more; of who serves
	from  end      // what is left came from it; of who serves
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

// bytes is how much waits with it, which is more than nothing.
func (o *outgoing) bytes() int { return attach.HeaderLen + len(o.data) }

// scratch is memory for a message.
type scratch [attach.MaxData]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// deliverAll delivers what comes from other nodes, and what sessions leave.
func (s *Server) deliverAll() {
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
		default:
			return
		}
	}
}

// run delivers until there is no more, or no room. r is nil of a goroutine of the port's
// own, which goes on when it is stalled: once that is not, the port is somebody else's.
func (p *port) run(r *stack.Polled, buf *scratch) (isStalled bool) {
	for {
		switch p.pass(buf) {
		case passStalled:
			p.from.hold(p.left.bytes()) // before it counts as stalled: who sees that sees the bytes
			p.x.client.stalled.Add(1)
			p.x.srv.counters.stalled.Add(1)
			p.state.Store(stalled)
			if r != nil {
				p.x.srv.wg.Go(p.drain)
			}
			return true
		case passMore:
			if r != nil { // others have their turn
				p.state.Store(idle)
				r.Again()
				return false
			}
			continue
		}
		if p.state.CompareAndSwap(serving, idle) {
			return false
		}
		p.state.Store(serving) // more came
	}
}

// drain waits for the program to read, and delivers then.
func (p *port) drain() {
	for isStalled := true; isStalled; {
		left := p.left
		p.left = outgoing{}
		held := left.bytes()
		var err error
		if left.done != nil {
			err = p.x.c.WriteFD(&left.h, left.data, left.pass)
			left.done(err)
		} else {
			err = p.x.c.Write(&left.h, left.data)
		}
		p.from.hold(-held)
		switch {
		case err == nil:
			p.delivered(&left)
		case !p.undelivered(&left, err):
			return
		}
		p.state.Store(serving)
		buf := scratches.Get().(*scratch)
		isStalled = p.run(nil, buf)
		scratches.Put(buf)
	}
}
