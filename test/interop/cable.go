// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/interop/rig"
)

// A Cable is a device whose other end is plugged into a guest: a pair of sockets
// that carry frames as datagrams.
type Cable struct {
	mac     frame.MAC
	mu      sync.Mutex // guards fd against Close
	fd      int
	closed  bool
	arena   *frame.Arena
	spare   *frame.Buffer
	in, out uint64 // frames lost
}

const cableMTU = 1500

// NewCable makes a cable between a station of ours and one of a guest. The
// guest's end may be plugged in again after a crash; its maker closes it.
func NewCable(ours, guest frame.MAC) (*Cable, rig.Link, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, rig.Link{}, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4<<20) != nil {
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4<<20)
		}
	}
	c := &Cable{mac: ours, fd: fds[0]}
	return c, rig.Link{MAC: net.HardwareAddr(guest[:]), File: os.NewFile(uintptr(fds[1]), "cable")}, nil
}

func (c *Cable) Name() string    { return "eth0" }
func (c *Cable) Addr() frame.MAC { return c.mac }
func (c *Cable) MTU() int        { return cableMTU }
func (c *Cable) FD() int         { return c.fd }

func (c *Cable) Attach(arena *frame.Arena, wake func()) error {
	c.arena = arena
	return nil
}

// Receive implements stack.Device.
func (c *Cable) Receive(bufs []*frame.Buffer) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	for n < len(bufs) {
		if c.spare == nil {
			if c.spare = c.arena.Get(cableMTU+frame.EthernetLen, frame.Control); c.spare == nil {
				return n, nil
			}
		}
		k, err := unix.Read(c.fd, c.spare.Space())
		if err != nil || k <= 0 {
			return n, nil // nothing there, or no guest plugged in
		}
		if b := c.spare.Space()[:k]; k < frame.EthernetLen || frame.MAC(b) != c.mac && !frame.MAC(b).IsGroup() {
			continue
		}
		c.spare.Resize(k)
		bufs[n], c.spare = c.spare, nil
		n++
	}
	return n, nil
}

// Transmit implements stack.Device. A cable that is full, or that no guest is
// plugged into, loses frames as a network does.
func (c *Cable) Transmit(bufs []*frame.Buffer) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	for _, b := range bufs {
		if b.Len() > cableMTU+frame.EthernetLen {
			return n, fmt.Errorf("interop: frame of %d bytes", b.Len())
		}
		if _, err := unix.Write(c.fd, b.Bytes()); err != nil {
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
