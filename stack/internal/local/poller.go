// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net"
	"sync/atomic"

	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A poller is the Poller of a node in this process.
type poller struct {
	n      *Node
	inside atomic.Int32 // between Enter and Leave
	some   atomic.Bool  // a socket is ready

	// Guarded by the node's lock.
	ready  []*pollEntry // from first on
	first  int
	wait   poll.List
	notify func() // called when a socket has become ready; nil: nobody is told
	closed bool
}

// A pollEntry is a socket that was added to a poller.
type pollEntry struct {
	polled *socket.Polled
	p      *poller
	listed bool // it is ready; guarded by the node's lock
}

// NewPoller implements backend.Node.
func (n *Node) NewPoller() (backend.Poller, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if n.closing {
		return nil, backend.OpError("poll", "tipc", nil, nil, net.ErrClosed)
	}
	p := &poller{n: n}
	if n.pollers == nil {
		n.pollers = map[*poller]struct{}{}
	}
	n.pollers[p] = struct{}{}
	return p, nil
}

// addTo makes p hand out the socket of n that r is of.
func (r *readHalf) addTo(p backend.Poller, n *Node, owner any) *socket.Polled {
	own, ok := p.(*poller)
	if !ok || n != own.n {
		panic(backend.OtherNode)
	}
	n.loop.Lock()
	defer n.loop.Unlock()
	if r.polled != nil {
		panic("stack: the socket has a Poller")
	}
	r.polled = &pollEntry{p: own}
	r.polled.polled = socket.NewPolled(owner, r.polled.again)
	r.polled.note()
	return r.polled.polled
}

// again implements Polled.Again.
func (s *pollEntry) again() {
	s.p.n.loop.Lock()
	defer s.p.n.loop.Unlock()
	s.note()
}

// note lists the socket as ready. The node's lock is held.
func (s *pollEntry) note() {
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
	if p.notify != nil {
		p.notify()
	}
}

// Wait implements backend.Poller.
func (p *poller) Wait(ready []*socket.Polled) (int, error) {
	n := p.n
	n.loop.Lock()
	defer n.loop.Unlock()
	c := poll.Wait{List: &p.wait}
	none := len(ready) == 0 // the closure is not to keep ready
	n.loop.Await(&c, func() bool { return none || p.first < len(p.ready) || p.closed })
	k := p.take(ready)
	n.loop.Leave(&c)
	if p.first < len(p.ready) && p.inside.Load() == 0 {
		n.loop.RouseFirst(p.wait)
	}
	if k == 0 && p.closed {
		return 0, backend.OpError("poll", "tipc", nil, nil, net.ErrClosed)
	}
	return k, nil
}

// Take implements backend.Poller.
func (p *poller) Take(ready []*socket.Polled) int {
	if !p.some.Load() {
		return 0
	}
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	return p.take(ready)
}

// PollOnce implements backend.Poller.
func (p *poller) PollOnce(ready []*socket.Polled) int {
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	p.n.loop.PollNow()
	return p.take(ready)
}

// Rest implements backend.Poller.
func (p *poller) Rest() {
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	p.n.loop.Rest()
}

// Notify implements backend.Poller.
func (p *poller) Notify(f func()) {
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	p.notify = f
}

// take is called with the node's lock held.
func (p *poller) take(ready []*socket.Polled) int {
	k := min(len(ready), len(p.ready)-p.first)
	for i := range k {
		s := p.ready[p.first+i]
		s.listed = false
		ready[i] = s.polled
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

// Enter implements backend.Poller.
func (p *poller) Enter() { p.inside.Add(1) }

// Leave implements backend.Poller.
func (p *poller) Leave() {
	if p.inside.Add(-1) > 0 || !p.some.Load() { // note looks the other way round
		return
	}
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	if p.first < len(p.ready) {
		p.n.loop.RouseFirst(p.wait)
	}
}

// Await is hosting.Await.
func (p *poller) Await() error {
	n := p.n
	n.loop.Lock()
	defer n.loop.Unlock()
	c := poll.Wait{List: &p.wait}
	n.loop.Await(&c, func() bool { return p.first < len(p.ready) || p.closed })
	n.loop.Leave(&c)
	if p.closed {
		return backend.OpError("poll", "tipc", nil, nil, net.ErrClosed)
	}
	return nil
}

// Settle is hosting.Settle.
func (p *poller) Settle() {
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	p.n.deliverPackets()
	p.n.deliverRequests()
	p.n.deliverGroups()
}

// Close implements backend.Poller.
func (p *poller) Close() error {
	p.n.loop.Lock()
	defer p.n.loop.Unlock()
	p.close()
	return nil
}

// close is called with the node's lock held.
func (p *poller) close() {
	p.closed = true
	delete(p.n.pollers, p)
	p.n.loop.RouseAll(p.wait)
}
