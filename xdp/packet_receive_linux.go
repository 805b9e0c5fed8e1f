// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// Receive fills bufs with the oldest frames that wait in the kernel, each in a
// chunk of its own, a small one if it fits, one system call each. With fewer than
// len(bufs) no more wait, the arena has no chunk free (then they go on waiting),
// or some were longer than any chunk and dropped.
//
// Errors, only with no frame: *InterfaceError with ErrDown, said once each time
// the interface has gone down, even if it is up again; with ErrPort and ErrAddress, said
// once each time; with ErrRemoved, said from then on; ErrNotAttached, net.ErrClosed.
func (p *Packet) Receive(bufs []*netdev.Buffer) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return 0, p.closedLocked()
	case p.arena == nil:
		return 0, ErrNotAttached
	case p.pending != nil:
		err, p.pending = p.pending, nil
		return 0, err
	}
	for n < len(bufs) && p.spareLocked() {
		size, errno := receive(p.rx, p.spare.Space())
		switch {
		case errno != 0:
			return n, p.receiveFaultLocked(n, errno)
		case size > len(p.spare.Space()):
			p.lostIn++ // the spare is used again
		default:
			bufs[n] = p.takeLocked(size)
			n++
		}
	}
	return n, nil
}

// spareLocked makes sure there is a chunk to receive the next frame into, and
// reports whether there is. How long that frame is nobody knows, so where long
// ones are to be expected it is a large chunk.
func (p *Packet) spareLocked() bool {
	if p.spare == nil {
		size := 0
		if p.long {
			size = p.arena.Largest()
		}
		p.spare = p.arena.Get(size, netdev.Control)
	}
	return p.spare != nil
}

// takeLocked returns the frame of size bytes that is in the spare chunk. A short
// one is copied out of a large chunk, which then stays the spare: a large chunk
// would be a waste, and there are few.
//
// The other way, recvmsg into a small chunk and on into a large one, costs 110 ns a
// frame more than recvfrom, whatever its length; the copy costs 3 ns at 64 bytes,
// 45 at 3900 and none for a frame that is long. Measured on Linux 6.18.
func (p *Packet) takeLocked(size int) *netdev.Buffer {
	if p.long && size <= p.arena.SmallFrame() {
		// Without a free one the large one has to do.
		if b := p.arena.Get(size, netdev.Control); b != nil {
			copy(b.Extend(size), p.spare.Space())
			return b
		}
	}
	b := p.spare
	p.spare = nil
	b.Resize(size)
	return b
}

// receiveFaultLocked says what Receive returns when the socket had something
// else than a frame to give after n of them.
func (p *Packet) receiveFaultLocked(n int, errno unix.Errno) error {
	var err error
	switch errno {
	case unix.EAGAIN, unix.EINTR:
		if !p.removed {
			return nil
		}
		err = p.errRemoved
	case unix.ENETDOWN, unix.ENXIO, unix.ENODEV:
		// The kernel says so once and forgets it.
		if err = p.linkFaultLocked(); err == nil {
			err = p.errDown
		}
	default:
		err = errno
	}
	if n > 0 {
		p.pending, err = err, nil
	}
	return err
}
