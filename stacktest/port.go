// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// queueLimit is how many frames may be under way to a port; a receiver that is behind by so many
// loses the newest.
const queueLimit = 4096

// A port is a node's device: a station on a network of Ethernet whose frames are lost, or take their
// time, as the paths have it that they go by.
type port struct {
	net          *network
	bearer, node int
	arena        *netdev.Arena // of the engine's side
	due          []*port       // of the engine's side: whom to wake when a Transmit ends

	// The network's lock guards what follows.
	queue   []underWay // by when they arrive
	wake    func()     // nil: not attached
	armed   bool       // the receiver has seen the end of what has arrived: wake it
	gone    bool       // the node has crashed
	closed  bool
	timer   *time.Timer   // wakes the receiver when the first of those under way arrives
	timerAt time.Duration // when that is; 0: it does not run
	lostIn  uint64
	lostOut uint64
}

// An underWay is a frame that was sent and that the receiver has not taken.
type underWay struct {
	at   time.Duration // when it arrives
	from int
	data []byte
}

// Name implements netdev.Device.
func (p *port) Name() string { return fmt.Sprintf("eth%d", p.bearer) }

// Addr implements netdev.Device.
func (p *port) Addr() frame.MAC { return station(p.bearer, p.node) }

// MTU implements netdev.Device.
func (p *port) MTU() int { return p.net.mtu }

// FD implements netdev.Device: arrival is told by wake.
func (p *port) FD() int { return -1 }

// Dropped implements netdev.Device.
func (p *port) Dropped() (in, out uint64) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	return p.lostIn, p.lostOut
}

// Attach implements netdev.Device. Errors: hub.ErrAttached, hub.ErrArena, net.ErrClosed.
func (p *port) Attach(arena *netdev.Arena, wake func()) error {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	switch {
	case p.closed:
		return net.ErrClosed
	case p.wake != nil:
		return hub.ErrAttached
	}
	b := arena.Get(p.net.longest(), netdev.Control)
	if b == nil {
		return hub.ErrArena
	}
	b.Release()
	if wake == nil {
		wake = func() {}
	}
	p.arena, p.wake, p.armed = arena, wake, true
	return nil
}

func (p *port) attached() bool { return p.wake != nil && !p.closed }

// Transmit implements netdev.Device. What becomes of a frame is decided here, for each receiver.
// Errors: *hub.SizeError, net.ErrClosed.
func (p *port) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	p.net.mu.Lock()
	if p.closed {
		p.net.mu.Unlock()
		return 0, net.ErrClosed
	}
	now := p.net.now()
	for _, b := range bufs {
		data := b.Bytes()
		if len(data) < frame.EthernetLen || len(data) > p.net.longest() {
			p.lostOut++
			err = &hub.SizeError{Len: len(data), Max: p.net.longest()}
			break
		}
		n++
		if !p.gone {
			p.spread(now, data)
		}
	}
	for _, q := range p.net.ports[p.bearer] {
		if q != nil && q.armed && q.hasArrived(now) {
			q.armed = false
			p.due = append(p.due, q)
		}
	}
	p.net.mu.Unlock()
	for i, q := range p.due {
		p.due[i] = nil
		q.wake()
	}
	p.due = p.due[:0]
	return n, err
}

// spread sends a frame to the station that it is for, or to all.
func (p *port) spread(now time.Duration, data []byte) {
	if to := frame.MAC(data); !to.IsGroup() {
		if i := p.net.nodeOf(p.bearer, to); i >= 0 && i != p.node {
			p.net.send(p.bearer, p.node, i, now, data)
		}
		return
	}
	for i := range p.net.ports[p.bearer] {
		if i != p.node {
			p.net.send(p.bearer, p.node, i, now, data)
		}
	}
}

// enqueue puts a frame under way. Those of one sender stay in order; what arrives at one instant is
// in the order of the senders. The network is locked.
func (p *port) enqueue(f underWay, now time.Duration, data []byte) {
	if len(p.queue) == queueLimit {
		p.lostIn++
		return
	}
	f.data = p.net.copyOf(data)
	i, _ := slices.BinarySearchFunc(p.queue, f, func(a, f underWay) int {
		return cmp.Or(cmp.Compare(a.at, f.at), a.from-f.from, -1)
	})
	p.queue = slices.Insert(p.queue, i, f)
	p.wakeLater(now)
}

func (p *port) hasArrived(now time.Duration) bool { return len(p.queue) > 0 && p.queue[0].at <= now }

// wakeLater has the receiver woken when the first frame arrives that has not yet.
func (p *port) wakeLater(now time.Duration) {
	if len(p.queue) == 0 || p.queue[0].at <= now || p.queue[0].at == p.timerAt {
		return
	}
	p.timerAt = p.queue[0].at
	if p.timer == nil {
		p.timer = time.AfterFunc(p.timerAt-now, p.ring)
	} else {
		p.timer.Reset(p.timerAt - now)
	}
}

func (p *port) ring() {
	p.net.mu.Lock()
	p.timerAt = 0
	wake := p.armed && p.attached()
	p.armed = false
	p.net.mu.Unlock()
	if wake {
		p.wake()
	}
}

// Receive implements netdev.Device. Errors: net.ErrClosed, hub.ErrNotAttached.
func (p *port) Receive(bufs []*netdev.Buffer) (n int, err error) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	switch {
	case p.closed:
		return 0, net.ErrClosed
	case p.wake == nil:
		return 0, hub.ErrNotAttached
	}
	if len(p.queue) == 0 {
		p.armed = true
		return 0, nil
	}
	now := p.net.now()
	taken := 0
	for n < len(bufs) && taken < len(p.queue) && p.queue[taken].at <= now {
		f := p.queue[taken]
		if !p.gone && !p.net.paths[p.bearer][f.from][p.node].cut {
			b := p.arena.Get(len(f.data), netdev.Control)
			if b == nil {
				break
			}
			copy(b.Extend(len(f.data)), f.data)
			bufs[n] = b
			n++
		}
		p.net.recycle(f.data)
		taken++
	}
	p.queue = slices.Delete(p.queue, 0, taken)
	p.armed = n < len(bufs) || !p.hasArrived(now)
	p.wakeLater(now)
	return n, nil
}

// disconnect ends all traffic of the port, both ways.
func (p *port) disconnect() {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.gone = true
}

// Close implements netdev.Device. The address is free for another port.
func (p *port) Close() error {
	p.net.mu.Lock()
	attached := p.attached()
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, f := range p.queue {
		p.net.recycle(f.data)
	}
	p.queue, p.closed = nil, true
	if p.net.ports[p.bearer][p.node] == p {
		p.net.ports[p.bearer][p.node] = nil
	}
	p.net.mu.Unlock()
	if attached {
		p.wake()
	}
	return nil
}
