// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// Transmit gives the kernel a copy of each frame, one system call each, so no
// hold outlives the call. n is short without an error when the interface's queue
// or the send buffer is full.
//
// Errors, always about bufs[n]: *InterfaceError with ErrDown or ErrNoCarrier as
// long as it is so, with ErrRemoved for good; *FrameError with EMSGSIZE for a
// frame longer than the interface takes now, with EINVAL for one shorter than an
// Ethernet header; net.ErrClosed.
func (p *Packet) Transmit(bufs []*frame.Buffer) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, p.closedLocked()
	}
	for n < len(bufs) {
		b := bufs[n].Bytes()
		switch errno := send(p.tx, b); errno {
		case 0:
			n++
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOMEM:
			return n, nil
		case unix.ENOBUFS:
			// The queue is full, or nothing leaves the interface at all.
			if err := p.linkFaultLocked(); err != nil {
				return n, p.refuseLocked(err)
			}
			return n, nil
		case unix.ENETDOWN, unix.ENXIO, unix.ENODEV:
			if err = p.linkFaultLocked(); err == nil {
				err = p.errDown // it has come up since
			}
			return n, p.refuseLocked(err)
		default:
			return n, p.refuseLocked(&FrameError{p.name, len(b), errno})
		}
	}
	return n, nil
}

func (p *Packet) refuseLocked(err error) error {
	p.lostOut++
	return err
}
