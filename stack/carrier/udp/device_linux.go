// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Device is one UDP bearer, a netdev.Device.
//
//	opened --Attach--> attached --Close--> closed
//	   \----------------Close-----------/
//
// Everything but Close, Dropped, Stats and the getters belongs to one side at a
// time, the one that turns the engine. Close may come from anywhere.
type Device struct {
	cfg     Config
	ifname  string // of Local
	ifindex int
	granted struct{ receive, send int }

	// mu guards what follows. It is free but for Close, and no call under it
	// waits, so the datapath takes it once a batch (10 ns).
	mu          sync.Mutex
	fd          int // what FD returns: uni, or an epoll descriptor of both; the dead descriptor after Close
	uni         int // socket of the own address
	multi       int // socket of the group, or -1
	deadFD      int // the dead descriptor, until it is needed
	closed      bool
	arena       *netdev.Arena
	wake        func()
	table       *table
	group       *station // where broadcasts go; nil: to table.copies
	gso         int      // longest datagram that the kernel cuts off a run, in bytes; 0: none
	noGSO       error    // why not
	noGRO       error    // why runs do not arrive whole
	out         outbox
	in          inbox
	turn        uint // of the group to be looked at
	stats       Stats
	lostIn      uint64          // by the sockets, when they were asked last
	trouble     *NetworkError   // the last one, to be told again
	deadCleanup runtime.Cleanup // closes the dead descriptor if nobody comes by
}

// Name is the bearer's name.
func (d *Device) Name() string { return d.cfg.Name }

// Addr is what other devices of this package make of our address; it is on no
// wire.
func (d *Device) Addr() frame.MAC { return d.table.own.mac }

// MTU is the longest message, in bytes. It does not change: what is between us
// and the others is not one interface.
func (d *Device) MTU() int { return d.cfg.MTU }

// Own is the bearer's own address, which peers are told.
func (d *Device) Own() netip.AddrPort { return d.cfg.Local }

// Remote is what is behind a station address, while the table has it.
func (d *Device) Remote(mac frame.MAC) (netip.AddrPort, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.table.byMAC[mac]; s != nil {
		return s.addr, true
	}
	return netip.AddrPort{}, false
}

// Keep notes that there is a link to a station, or none any more. A station with
// a link stays in the table and gets broadcasts.
func (d *Device) Keep(mac frame.MAC, up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table.keep(mac, up)
}

// String tells an operator on one line what was opened and what was granted.
func (d *Device) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	to := fmt.Sprintf("%d remotes", len(d.cfg.Remotes))
	if d.group != nil {
		to = "group " + d.cfg.Multicast.String()
	}
	gso := fmt.Sprintf("up to %d bytes", d.gso)
	if d.gso == 0 {
		gso = fmt.Sprintf("no (%v)", d.noGSO)
	}
	gro := "yes"
	if d.noGRO != nil {
		gro = fmt.Sprintf("no (%v)", d.noGRO)
	}
	return fmt.Sprintf("UDP %v on %s, %s, mtu %d, receive buffer %d KiB, send buffer %d KiB, segmentation offload %s, receive offload %s",
		d.cfg.Local, d.ifname, to, d.cfg.MTU, d.granted.receive>>10, d.granted.send>>10, gso, gro)
}

// Attach lets Receive take chunks from arena. Datagrams have been collected since
// the device was opened. wake may be nil; it is called once, by Close, since a
// descriptor that is closed does not wake who sleeps on it. Errors: ErrAttached,
// ErrArena, net.ErrClosed.
func (d *Device) Attach(arena *netdev.Arena, wake func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return d.closedLocked()
	case d.arena != nil:
		return ErrAttached
	}
	b := arena.Get(d.room(), netdev.Control)
	if b == nil {
		return ErrArena
	}
	b.Release()
	d.arena, d.wake = arena, wake
	return nil
}

// room is the length of the longest frame, in bytes.
func (d *Device) room() int { return d.cfg.MTU + frame.EthernetLen }

// FD polls readable when datagrams have arrived. After Close it polls readable,
// or is -1.
func (d *Device) FD() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fd
}

// Dropped counts, on the way in, datagrams that found a socket's buffer full (a
// run that the kernel had put together counts as one) or were dropped for a
// reason that Stats has; on the way out, frames that Stats tells as not sent. It
// costs a system call. It is safe for concurrent use, and still tells after
// Close.
func (d *Device) Dropped() (in, out uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.countLocked()
	s := &d.stats
	return d.lostIn + s.TableFull + s.TooLong + s.Empty, s.Nowhere + s.Unreachable + s.Refused
}

// countLocked asks the sockets what they have dropped so far.
func (d *Device) countLocked() {
	if d.closed {
		return
	}
	lost := socketDrops(d.uni)
	if d.multi >= 0 {
		lost += socketDrops(d.multi)
	}
	d.lostIn = max(d.lostIn, lost)
}

// Stats returns what the device has done so far. It is safe for concurrent use.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}
