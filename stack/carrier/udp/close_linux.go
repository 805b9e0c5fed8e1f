// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// Close stops the device. Datagrams that wait are gone, uncounted. It always
// returns nil, and may be called from anywhere, once or again.
//
// Someone may be about to poll the number FD returned, or be polling it already,
// and a number that is closed is the process's next file, socket or pipe. So the
// number stays ours: it is made, in one step, to mean a dead descriptor, an event that
// polls readable for ever. Whoever then polls comes to Receive or Transmit and
// is told net.ErrClosed; that call closes the dead descriptor, or else the garbage
// collector does, with the Device. A poll that was asleep still sleeps on what was
// there, so Close calls the wake of Attach.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.countLocked()
	d.closed = true
	wake := d.wake
	switch {
	case d.arena != nil:
		d.replaceWithDeadFD()
	case d.fd == d.uni: // nobody polls before Attach
		d.fd = -1
	default:
		closeSocket(&d.fd)
	}
	closeSocket(&d.uni)
	closeSocket(&d.multi)
	closeSocket(&d.deadFD)
	d.arena, d.wake = nil, nil
	d.in.drop()
	d.mu.Unlock()
	if wake != nil {
		wake()
	}
	return nil
}

// replaceWithDeadFD lets the number that FD returns mean the dead descriptor.
func (d *Device) replaceWithDeadFD() {
	for {
		err := unix.Dup3(d.deadFD, d.fd, unix.O_CLOEXEC)
		if err != unix.EINTR && err != unix.EBUSY {
			break
		}
	}
	if d.fd == d.uni {
		d.uni = -1 // that closed it
	}
	d.deadCleanup = runtime.AddCleanup(d, func(fd int) { unix.Close(fd) }, d.fd)
}

// closedLocked is what the engine's side is told after Close. Once it knows, it
// polls no more.
func (d *Device) closedLocked() error {
	if d.fd >= 0 {
		d.deadCleanup.Stop()
		closeSocket(&d.fd)
	}
	return net.ErrClosed
}

// closeSocket closes *fd, unless it is -1, and makes it -1.
func closeSocket(fd *int) {
	if *fd >= 0 {
		unix.Close(*fd)
		*fd = -1
	}
}
