// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"sync/atomic"

	"github.com/utipc/utipc/stack/internal/poll"
)

// A Poller tells which of many sockets may be read, so that a few goroutines serve
// thousands of them: add each once, then read those that Wait and Take hand out with the
// Try calls until these fail with syscall.EAGAIN. A socket is handed out again when
// something has come since, when it has ended, or was closed; now and then without
// reason. Nobody else is to read a socket that was added.
//
//	for {
//		k, err := p.Wait(ready)                // drives the node while it waits
//		for _, s := range ready[:k] {
//			serve(s.Owner)
//		}
//	}
//
// A goroutine that sends on behalf of others calls Enter before and Leave after that, and
// Take in between: what it has made ready on this node it serves itself, and nobody is
// woken for it. Between the two it must not wait. All methods may be called by any number
// of goroutines.
type Poller struct {
	n      *localNode
	inside atomic.Int32 // between Enter and Leave
	some   atomic.Bool  // a socket is ready

	// Guarded by the node's lock.
	ready  []*Polled // from first on
	first  int
	wait   poll.List
	closed bool
}

// A Polled is a socket that was added to a Poller.
type Polled struct {
	Owner  any // as given to Add
	p      *Poller
	listed bool // it is ready; guarded by the node's lock
}

// A Pollable is a socket that can be added to a Poller: *PacketConn, *Conn, *Group or
// *Listener.
type Pollable interface {
	poll(p *Poller, owner any) *Polled
	hold(k int)
}

func (c *PacketConn) poll(p *Poller, owner any) *Polled { return c.b.poll(p, owner) }
func (c *Conn) poll(p *Poller, owner any) *Polled       { return c.b.poll(p, owner) }
func (g *Group) poll(p *Poller, owner any) *Polled      { return g.b.poll(p, owner) }
func (l *Listener) poll(p *Poller, owner any) *Polled   { return l.b.poll(p, owner) }

// NewPoller makes a Poller of the node's sockets. Errors: net.ErrClosed; errors.ErrUnsupported
// of an attached node.
func (n *Node) NewPoller() (*Poller, error) { return n.b.NewPoller() }

// Add makes the Poller hand out s, as Polled with that owner: at once, and from then on
// whenever there is something to read. A socket of another node, or one that has a Poller,
// is a mistake that panics.
func (p *Poller) Add(s Pollable, owner any) *Polled { return s.poll(p, owner) }

// errOtherNode is what Poller.Add panics with.
const errOtherNode = "stack: a socket of another node"

// Again makes the Poller hand out the socket once more: for who has not read all of it.
func (s *Polled) Again() {
	s.p.n.loop.Lock()
	defer s.p.n.loop.Unlock()
	s.note()
}

// note lists the socket as ready. The node's lock is held.
func (s *Polled) note() {
	p := s.p
	if s.listed {
		return
	}
	s.listed = true
	p.ready = append(p.ready, s)
	p.some.Store(true)
	if p.inside.Load() == 0 {
		p.n.loop.RouseFirst(p.wait)
	}
}

// Wait waits until sockets are ready, and takes as many as ready has room for, in the
// order in which they became so. While it waits it may drive the node, as every call does.
// Errors, inside *net.OpError: net.ErrClosed, when the Poller or the node is closed.
func (p *Poller) Wait(ready []*Polled) (int, error) {
	n := p.n
	n.loop.Lock()
	defer n.loop.Unlock()
	c := poll.Wait{List: &p.wait}
	n.loop.Await(&c, func() bool { return len(ready) == 0 || p.first < len(p.ready) || p.closed })
	k := p.take(ready)
	n.loop.Leave(&c)
	if p.first < len(p.ready) && p.inside.Load() == 0 {
		n.loop.RouseFirst(p.wait)
	}
	if k == 0 && p.closed {
		return 0, opError("poll", "tipc", nil, nil, net.ErrClosed)
	}
	return k, nil
}

// Take is Wait that does not wait: without ready sockets it returns 0.
func (p *Poller) Take(ready []*Polled) int {
	if !p.some.Load() {
		return 0
	}
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	return p.take(ready)
}

// take is called with the node's lock held.
func (p *Poller) take(ready []*Polled) int {
	k := copy(ready, p.ready[p.first:])
	for i, s := range ready[:k] {
		s.listed = false
		p.ready[p.first+i] = nil
	}
	if p.first += k; p.first == len(p.ready) {
		p.ready, p.first = p.ready[:0], 0
		p.some.Store(false)
	} else if p.first > len(p.ready)/2 {
		left := copy(p.ready, p.ready[p.first:])
		clear(p.ready[left:])
		p.ready, p.first = p.ready[:left], 0
	}
	return k
}

// enter is hosting.Enter.
func (p *Poller) enter() { p.inside.Add(1) }

// leave is hosting.Leave.
func (p *Poller) leave() {
	if p.inside.Add(-1) > 0 || !p.some.Load() { // note looks the other way round
		return
	}
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	if p.first < len(p.ready) {
		p.n.loop.RouseFirst(p.wait)
	}
}

// Close ends the calls of Wait with net.ErrClosed; the sockets stay as they are. Closing
// twice is harmless.
func (p *Poller) Close() error {
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	p.close()
	return nil
}

// close is called with the node's lock held.
func (p *Poller) close() {
	p.closed = true
	delete(p.n.pollers, p)
	p.n.loop.RouseAll(p.wait)
}
