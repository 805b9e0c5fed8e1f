// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Packet is one Ethernet interface through packet sockets, a netdev.Device.
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
	mtu     atomic.Int64                // what MTU returns
	granted struct{ receive, send int } // bytes of socket buffer, as the kernel counts
	bypass  bool                        // sends around the queueing discipline
	claim   *claim
	watch   *linkWatch

	// Prepared, so that no frame sent into a dead interface costs an allocation.
	errDown, errNoCarrier, errRemoved *InterfaceError

	// mu guards what follows. It is free but for Close, and no call under it
	// waits, so the datapath takes it once a batch (10 ns).
	mu          sync.Mutex
	rx, tx      int // sockets, or -1; rx may be a dead descriptor, see Close
	closed      bool
	removed     bool  // the interface is gone for good
	pending     error // what Receive says next, having had frames to give first
	arena       *netdev.Arena
	wake        func()
	linkMTU     int // the interface's in bytes, 0 while down, without carrier or a port
	fate        fate
	long        bool           // frames that need a large chunk are to be expected
	spare       *netdev.Buffer // taken from the arena, not yet filled
	burst       burst
	refusals    refusals // of frames, by the interface
	lostIn      uint64
	lostOut     uint64
	deadCleanup runtime.Cleanup // closes the dead descriptor if nobody comes by
}

// Name is the interface's name at the time it was opened.
func (p *Packet) Name() string { return p.name }

// Addr is the interface's address at the time it was opened.
func (p *Packet) Addr() frame.MAC { return p.mac }

// MTU is the longest message a frame may carry now, in bytes, the Ethernet header
// not counted: what the interface takes, or less when the arena's largest chunk
// takes less; 0 while the interface is down, without carrier, removed, or a port of another. It costs
// an atomic load and is safe for concurrent use. When it changes the wake of
// Attach is called.
func (p *Packet) MTU() int { return int(p.mtu.Load()) }

// String tells an operator on one line what was opened and what was granted.
func (p *Packet) String() string {
	way := "through the queueing discipline"
	if p.bypass {
		way = "around the queueing discipline"
	}
	return fmt.Sprintf("AF_PACKET on %s %v mtu %d, receive buffer %d KiB, send buffer %d KiB, %s",
		p.name, p.mac, p.MTU(), p.granted.receive>>10, p.granted.send>>10, way)
}

// Attach lets Receive take chunks from arena, and keeps one of them, empty, from
// then until Close: a large one where the MTU needs it. Frames have been collected
// since the device was opened. An arena without chunks for the longest frame makes
// MTU smaller.
//
// wake may be nil. It is called from any goroutine when MTU has changed, and by
// Close, since a descriptor that is closed does not wake who sleeps on it. Errors:
// ErrAttached; ErrArena when no chunk is free; net.ErrClosed.
func (p *Packet) Attach(arena *netdev.Arena, wake func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return p.closedLocked()
	case p.arena != nil:
		return ErrAttached
	}
	p.arena, p.wake = arena, wake
	p.measureLocked()
	if !p.spareLocked() {
		p.arena, p.wake = nil, nil
		return ErrArena
	}
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

// LevelTriggered reports true: FD is readable as long as frames wait.
func (p *Packet) LevelTriggered() bool { return true }

// Dropped counts, on the way in, frames that found the receive buffer full or
// were longer than the arena's chunks; on the way out, those that Transmit
// refused. What the interface itself loses after it took a frame the kernel counts
// with everybody else's ("ip -s link"), not here. It costs a system call. It is safe
// for concurrent use, and still tells after Close.
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
