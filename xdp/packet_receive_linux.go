// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// Receive fills bufs with the oldest frames that wait in the kernel, each in a
// chunk of its own for the longest frame, one system call each. With fewer than
// len(bufs) no more wait, the arena has no chunk free (then they go on waiting),
// or some were too long and dropped.
//
// Errors, only with no frame: *InterfaceError with ErrDown, said once each time
// the interface has gone down, even if it is up again; with ErrRemoved, said
// from then on; ErrNotAttached, net.ErrClosed. It is Transmit that finds out
// first that an interface which was down before has been removed.
func (p *Packet) Receive(bufs []*frame.Buffer) (n int, err error) {
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
	room := p.room()
	for range bufs {
		b := p.spare
		if b == nil {
			if b = p.arena.Get(room, frame.Control); b == nil {
				return n, nil
			}
			p.spare = b
		}
		size, errno := receive(p.rx, b.Space()[:room])
		switch {
		case errno != 0:
			return n, p.receiveFaultLocked(n, errno)
		case size > room:
			p.lostIn++ // the spare is used again
		default:
			b.Resize(size)
			bufs[n], p.spare = b, nil
			n++
		}
	}
	return n, nil
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
