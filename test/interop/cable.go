// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/interop/rig"
)

// A Cable is a device whose other end is plugged into a guest, directly or by a
// Line: a socket that carries frames as datagrams. It can be unplugged, which the
// device tells, as an interface tells that it has lost its carrier.
type Cable struct {
	name    string
	mac     frame.MAC
	mu      sync.Mutex // guards fd against Close, and out
	fd      int
	closed  bool
	down    atomic.Bool
	wake    func()
	arena   *netdev.Arena
	spare   *netdev.Buffer
	in, out uint64 // frames lost
}

const cableMTU = 1500

// NewCable makes a cable between a station of ours and one of a guest. The
// guest's end may be plugged in again after a crash; its maker closes it.
func NewCable(ours, guest frame.MAC) (*Cable, rig.Link, error) {
	a, b, err := rig.NewPair(ours[:], guest[:])
	if err != nil {
		return nil, rig.Link{}, err
	}
	defer a.Close() // the cable has a copy
	c, err := OpenCable("eth0", a)
	if err != nil {
		b.Close()
	}
	return c, b, err
}

// OpenCable makes a device of one end of a cable, which its maker closes.
func OpenCable(name string, end rig.Link) (*Cable, error) {
	fd, err := unix.FcntlInt(end.File.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return &Cable{name: name, mac: frame.MAC(end.MAC), fd: fd}, nil
}

func (c *Cable) Name() string    { return c.name }
func (c *Cable) Addr() frame.MAC { return c.mac }
func (c *Cable) FD() int         { return c.fd }

func (c *Cable) MTU() int {
	if c.down.Load() {
		return 0
	}
	return cableMTU
}

// Unplug takes the carrier away until Plug. The node sees it; the other end is
// another matter.
func (c *Cable) Unplug() { c.plugged(false) }

// Plug gives the carrier back.
func (c *Cable) Plug() { c.plugged(true) }

func (c *Cable) plugged(yes bool) {
	c.down.Store(!yes)
	c.mu.Lock()
	wake := c.wake
	c.mu.Unlock()
	if wake != nil {
		wake()
	}
}

func (c *Cable) Attach(arena *netdev.Arena, wake func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arena, c.wake = arena, wake
	return nil
}

// Receive implements netdev.Device.
func (c *Cable) Receive(bufs []*netdev.Buffer) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	for n < len(bufs) {
		if c.spare == nil {
			if c.spare = c.arena.Get(cableMTU+frame.EthernetLen, netdev.Control); c.spare == nil {
				return n, nil
			}
		}
		k, err := unix.Read(c.fd, c.spare.Space())
		if err != nil || k <= 0 {
			return n, nil // nothing there, or no guest plugged in
		}
		if b := c.spare.Space()[:k]; c.down.Load() || k < frame.EthernetLen || frame.MAC(b) != c.mac && !frame.MAC(b).IsGroup() {
			continue
		}
		c.spare.Resize(k)
		bufs[n], c.spare = c.spare, nil
		n++
	}
	return n, nil
}

// Transmit implements netdev.Device. A cable that is full, or that no guest is
// plugged into, loses frames as a network does.
func (c *Cable) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	for _, b := range bufs {
		if b.Len() > cableMTU+frame.EthernetLen {
			return n, fmt.Errorf("interop: frame of %d bytes", b.Len())
		}
		if c.down.Load() {
			c.out++
		} else if _, err := unix.Write(c.fd, b.Bytes()); err != nil {
			c.out++
		}
		n++
	}
	return n, nil
}

func (c *Cable) Dropped() (in, out uint64) { return c.in, c.out }

func (c *Cable) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.spare != nil {
		c.spare.Release()
	}
	return unix.Close(c.fd)
}
