// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"net"
	"sync"
	"sync/atomic"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Port is one station's attachment to a segment, a netdev.Device.
//
//	plugged in --Attach--> attached --Close--> closed
//	     \------------------Close--------------/
//
// Transmit and Receive belong to the side that turns the engine; Close, Dropped
// and the traffic of other ports may run beside them.
type Port struct {
	hub   *Hub
	name  string
	mac   frame.MAC
	arena *netdev.Arena // of the engine's side
	due   []*Port       // of the engine's side: whom to wake when a Transmit ends

	mu     sync.Mutex // guards what follows
	ring   *ring      // while attached
	armed  bool       // the receiver has seen the end of the ring: wake it
	wake   func()     // set by Attach, then never changed
	closed bool

	lostIn, lostOut atomic.Uint64
}

// Name is what the port was called when it was plugged in.
func (p *Port) Name() string { return p.name }

// Addr is the port's address.
func (p *Port) Addr() frame.MAC { return p.mac }

// MTU is the segment's, in bytes, the Ethernet header not counted.
func (p *Port) MTU() int { return p.hub.mtu }

// FD is -1: arrival is told by wake.
func (p *Port) FD() int { return -1 }

// longest is the length of the longest frame, in bytes.
func (p *Port) longest() int { return p.hub.mtu + frame.EthernetLen }

// Attach lets frames in. It must be able to take one chunk from arena that fits
// the longest frame, which it gives back. wake may be nil for a receiver that
// never sleeps; otherwise senders call it in their Transmit, and Close calls it
// once. A Transmit under way when the port is closed may call it just after.
// Errors: ErrAttached, ErrArena, net.ErrClosed.
func (p *Port) Attach(arena *netdev.Arena, wake func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return net.ErrClosed
	case p.ring != nil:
		return ErrAttached
	}
	b := arena.Get(p.longest(), netdev.Control)
	if b == nil {
		return ErrArena
	}
	b.Release()
	if wake == nil {
		wake = func() {}
	}
	p.arena, p.wake, p.armed = arena, wake, true
	p.ring = newRing(p.hub.queue, p.longest())
	return nil
}

// Dropped counts the frames that found the ring full, and those Transmit
// refused. It is safe for concurrent use.
func (p *Port) Dropped() (in, out uint64) { return p.lostIn.Load(), p.lostOut.Load() }

// Close unplugs the port and wakes who sleeps, to be told net.ErrClosed. Frames
// the port has not received are gone, uncounted. It always returns nil, and may
// be called from anywhere, once or again.
func (p *Port) Close() error {
	p.hub.remove(p)
	p.mu.Lock()
	attached := p.ring != nil
	p.closed, p.ring = true, nil
	p.mu.Unlock()
	if attached {
		p.wake()
	}
	return nil
}
