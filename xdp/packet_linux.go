// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// A Packet is one Ethernet interface through packet sockets, a stack.Device.
//
//	opened --Attach--> attached --Close--> closed
//	   \----------------Close-----------/
//
// Everything but Close, Dropped and the getters belongs to one side at a time,
// the one that turns the engine. Close may come from anywhere.
type Packet struct {
	name    string
	index   int // the interface's number; its name may change
	mac     frame.MAC
	mtu     int
	granted struct{ receive, send int } // bytes of socket buffer, as the kernel counts
	bypass  bool                        // sends around the queueing discipline
	claim   *claim

	// Prepared, so that no frame sent into a dead interface costs an allocation.
	errDown, errNoCarrier, errRemoved *InterfaceError

	// mu guards what follows. It is free but for Close, and no call under it
	// waits, so the datapath takes it once a batch (10 ns).
	mu      sync.Mutex
	rx, tx  int // sockets, or -1; rx may be a tombstone, see Close
	closed  bool
	removed bool  // the interface is gone for good
	pending error // what Receive says next, having had frames to give first
	arena   *frame.Arena
	wake    func()
	spare   *frame.Buffer // taken from the arena, not yet filled
	lostIn  uint64
	lostOut uint64
	tomb    runtime.Cleanup // closes the tombstone if nobody comes by
}

// Name is the interface's name at the time it was opened.
func (p *Packet) Name() string { return p.name }

// Addr is the interface's address at the time it was opened.
func (p *Packet) Addr() frame.MAC { return p.mac }

// MTU is the interface's at the time it was opened, in bytes, the Ethernet
// header not counted.
func (p *Packet) MTU() int { return p.mtu }

// room is the length of the longest frame, in bytes.
func (p *Packet) room() int { return p.mtu + frame.EthernetLen }

// String tells an operator on one line what was opened and what was granted.
func (p *Packet) String() string {
	way := "through the queueing discipline"
	if p.bypass {
		way = "around the queueing discipline"
	}
	return fmt.Sprintf("AF_PACKET on %s %v mtu %d, receive buffer %d KiB, send buffer %d KiB, %s",
		p.name, p.mac, p.mtu, p.granted.receive>>10, p.granted.send>>10, way)
}

// Attach lets Receive take chunks from arena, and keeps one of them, empty, from
// then until Close. Frames have been collected since the device was opened. wake
// may be nil; it is called once, by Close, since a descriptor that is closed
// does not wake who sleeps on it. Errors: ErrAttached, ErrArena, net.ErrClosed.
func (p *Packet) Attach(arena *frame.Arena, wake func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return p.closedLocked()
	case p.arena != nil:
		return ErrAttached
	}
	if p.spare = arena.Get(p.room(), frame.Control); p.spare == nil {
		return ErrArena
	}
	p.arena, p.wake = arena, wake
	return nil
}

// FD is the receive socket. It polls readable when frames have arrived, and with
// an error when the interface has gone down or away; Receive tells. After Close
// it polls readable, or is -1.
func (p *Packet) FD() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rx
}

// Dropped counts, on the way in, frames that found the receive buffer full or
// were longer than the MTU allows; on the way out, those that Transmit refused.
// It costs a system call. It is safe for concurrent use, and still tells after
// Close.
func (p *Packet) Dropped() (in, out uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.countLocked()
	return p.lostIn, p.lostOut
}

// countLocked adds what the kernel has dropped since it was last asked; asking
// sets its counter to zero.
func (p *Packet) countLocked() {
	if p.closed {
		return
	}
	if s, err := unix.GetsockoptTpacketStats(p.rx, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		p.lostIn += uint64(s.Drops)
	}
}
