// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cilium/ebpf"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// An XSK is one Ethernet interface through AF_XDP sockets, a netdev.Device.
//
//	opened --Attach--> attached --Close--> closed
//	   \----------------Close-----------/
//
//	arena ═ memory shared with the kernel
//	  │ ▲
//	  │ └─ Receive ◄── receive ring ◄── kernel ◄── map ◄── program ◄── 0x88CA ◄─┐
//	  │                fill ring ─────► kernel                                  │ interface
//	  └── Transmit ──► transmit ring ─► kernel ─────────────────────────────────┘
//	                   completion ring ◄┘
//
// Everything but Close, MTU, Dropped, Statistics and the getters belongs to one
// side at a time, the one that turns the engine. Close may come from anywhere.
type XSK struct {
	info    ifInfo
	config  XSKConfig
	mode    Mode // ModeAuto: somebody else's program, in a mode we were not told
	pieces  bool // frames of several chunks
	refused []error
	claim   *claim
	watch   *linkWatch
	closing sync.Once

	mtu     atomic.Int64 // what MTU returns
	removed atomic.Bool  // the interface is gone for good

	// Prepared, so that no frame sent into a dead interface costs an allocation.
	errDown, errNoCarrier, errRemoved *InterfaceError

	// mu guards what follows. It is free but for Close, and no call under it
	// waits, so the datapath takes it once a batch (10 ns).
	mu          sync.Mutex
	sockets     []*socket
	sockmap     *ebpf.Map // queue to socket
	program     io.Closer // ours on the interface, or nil
	zeroCopy    bool
	poll        int  // what FD returns, or -1; may be a dead descriptor, see Close
	epoll       bool // poll is an epoll descriptor
	deadFD      int  // the dead descriptor to be, or -1
	closed      bool
	failed      error           // what Attach said
	deadCleanup runtime.Cleanup // closes the dead descriptor if nobody comes by
	arena       *netdev.Arena
	wake        func()
	linkMTU     int // the interface's in bytes, 0 while it carries nothing
	fate        fate
	pending     error   // what Receive says next
	limit       int     // the largest MTU that can be served, in bytes
	chunks      []chunk // what the kernel has of each chunk of the arena, by Buffer.Index
	turn        int     // the socket that Receive begins with
	counts      counts
}

// A chunk is what the kernel has of one chunk of the arena.
type chunk struct {
	buf    *netdev.Buffer // the chunk, once the kernel has had it
	sent   uint16         // descriptors of it that are to be completed, each with a loan
	inFill uint16         // 1 + index of the socket that may receive into it, 0 none
}

// Name is the interface's name at the time it was opened.
func (x *XSK) Name() string { return x.info.name }

// Addr is the interface's address at the time it was opened.
func (x *XSK) Addr() frame.MAC { return x.info.mac }

// MTU is the interface's, in bytes, the Ethernet header not counted, or less if
// the device was not opened for so much or the arena has no chunk for it; 0 while
// the interface is down, without carrier or gone. It costs an atomic load and is
// safe for concurrent use. When it changes the wake of Attach is called.
func (x *XSK) MTU() int { return int(x.mtu.Load()) }

// Mode says where frames are taken out: ModeNative, ModeGeneric, or ModeAuto when
// it was somebody else who set that up and did not tell.
func (x *XSK) Mode() Mode { return x.mode }

// ZeroCopy reports whether card and arena share memory without a copy; false
// before Attach.
func (x *XSK) ZeroCopy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.zeroCopy
}

// Refused lists why what was tried before, or goes without, was refused.
func (x *XSK) Refused() []error { return x.refused }

// String tells an operator on one line what was opened, how, and what was refused.
func (x *XSK) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "AF_XDP on %s %v mtu %d, driver %s, ", x.info.name, x.info.mac, x.MTU(), x.info.driver)
	switch {
	case x.mode == ModeAuto:
		b.WriteString("mode not known")
	case x.arena == nil && x.mode == ModeNative:
		b.WriteString("native mode")
	case x.zeroCopy:
		fmt.Fprintf(&b, "%s mode, zero-copy", x.mode)
	default:
		fmt.Fprintf(&b, "%s mode, copied", x.mode)
	}
	if x.config.foreign() {
		fmt.Fprintf(&b, ", XSKMAP %s", x.config.mapName())
	}
	fmt.Fprintf(&b, ", queues %s of %d", x.queuesLocked(), x.info.queues)
	if x.pieces {
		b.WriteString(", frames of several chunks")
	}
	for _, err := range x.refused {
		fmt.Fprintf(&b, "; refused: %v", err)
	}
	return b.String()
}

// queuesLocked lists the queues that are listened to.
func (x *XSK) queuesLocked() string {
	var all []string
	for _, s := range x.sockets {
		all = append(all, fmt.Sprint(s.queue))
	}
	return strings.Join(all, ",")
}

// FD polls readable when frames have arrived: the one socket, or with several an
// epoll descriptor of them all. After Close it polls readable, or is -1. It is -1
// before Attach.
func (x *XSK) FD() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.poll
}
