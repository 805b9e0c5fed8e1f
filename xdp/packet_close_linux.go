// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// Close stops the device, gives its chunk back and ends the claim on the
// interface. Frames that wait in the kernel are gone, uncounted. It always
// returns nil, and may be called from anywhere, once or again.
//
// Someone may be about to poll the number FD returned, or be polling it already,
// and a number that is closed is the process's next file, socket or pipe. So the
// number stays ours: it is made, in one step, to mean a dead descriptor, an event that
// polls readable for ever. Whoever then polls comes to Receive or Transmit and
// is told net.ErrClosed; that call closes the dead descriptor, or else the garbage
// collector does, with the Packet. A poll that was asleep still sleeps on the
// old socket, so Close calls the wake of Attach.
func (p *Packet) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.countLocked()
	p.closed = true
	wake := p.wake
	if p.arena == nil {
		closeSocket(&p.rx) // nobody polls before Attach
	} else {
		p.replaceWithDeadFD()
	}
	closeSocket(&p.tx)
	p.dropSpareLocked()
	p.burst = burst{} // points to frames
	p.arena, p.wake, p.pending = nil, nil, nil
	p.mu.Unlock()
	p.watch.Close() // may be waiting for mu until now
	// Last, so that the next owner finds nothing of ours.
	p.claim.release()
	if wake != nil {
		wake()
	}
	return nil
}

// dropSpareLocked gives back the chunk that nothing was received into.
func (p *Packet) dropSpareLocked() {
	if p.spare != nil {
		p.spare.Release()
		p.spare = nil
	}
}

// replaceWithDeadFD lets the receive socket's number mean a dead descriptor.
func (p *Packet) replaceWithDeadFD() {
	deadFD, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		// No descriptor to be had. The send socket's file keeps the number taken
		// as well; it does not poll readable, but wake is called.
		deadFD, p.tx = p.tx, -1
	}
	for {
		err = unix.Dup3(deadFD, p.rx, unix.O_CLOEXEC)
		if err != unix.EINTR && err != unix.EBUSY {
			break
		}
	}
	unix.Close(deadFD)
	p.deadCleanup = runtime.AddCleanup(p, func(fd int) { unix.Close(fd) }, p.rx)
}

// closedLocked is what the engine's side is told after Close. Once it knows, it
// polls no more.
func (p *Packet) closedLocked() error {
	if p.rx >= 0 {
		p.deadCleanup.Stop()
		closeSocket(&p.rx)
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
