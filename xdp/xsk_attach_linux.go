// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Attach shares the arena's memory with the kernel, binds the sockets and gives
// the kernel chunks to receive into; frames are received from then on. It may
// take seconds when somebody else has just let go of the interface. An arena
// without chunks for the longest frame makes MTU smaller. wake may be nil; it is
// called when MTU has changed, and by Close.
//
// Errors: ErrAttached; ErrArena when no chunk is free; net.ErrClosed;
// *CapabilityError when the memory may not be locked, *OwnedError when another
// process has a queue, *FeatureError. After any but the first three the device
// can only be closed, and says the same again.
func (x *XSK) Attach(arena *netdev.Arena, wake func()) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return x.closedLocked()
	case x.arena != nil:
		return ErrAttached
	case x.failed != nil:
		return x.failed
	}
	first := arena.Get(chunkRoom, netdev.Control)
	if first == nil {
		return ErrArena
	}
	first.Release()
	x.arena, x.wake = arena, wake
	x.chunks = make([]chunk, arena.Total())
	if x.failed = x.connectLocked(); x.failed != nil {
		x.disconnectLocked().takeBack()
		x.arena, x.wake, x.chunks, x.zeroCopy = nil, nil, nil, false
		return x.failed
	}
	x.limit = min(x.limit, arena.Largest()-frame.EthernetLen)
	x.measureLocked()
	return nil
}

// connectLocked binds all sockets and puts them into the map.
func (x *XSK) connectLocked() error {
	var err error
	if x.deadFD, err = unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd2", err)
	}
	x.shareOutLocked()
	mayZero := x.mode != ModeGeneric && !x.config.Copy && !x.info.veth()
	for i, s := range x.sockets {
		tx := 0
		if i == 0 {
			tx = x.config.Transmit
		}
		if err := s.prepare(ringSize(s.stock), x.config.Receive, tx); err != nil {
			return x.info.bindRefusal(s.queue, x.pieces, err)
		}
		x.refillLocked(i)
		err := patiently(x.config.timeouts.queue, func() (err error) {
			s.umem, err = bind(s, x.info.index, x.arena, mayZero, x.pieces)
			return err
		})
		if err != nil {
			if x.removed.Load() || errors.Is(err, unix.ENODEV) {
				return x.errRemoved
			}
			return x.info.bindRefusal(s.queue, x.pieces, err)
		}
		if i == 0 {
			// The others follow the first, to share with it.
			x.zeroCopy = s.zeroCopy()
			mayZero = x.zeroCopy
		}
		if err := x.sockmap.Put(uint32(s.queue), uint32(s.fd)); err != nil {
			return fmt.Errorf("xdp: interface %s: putting the socket of queue %d into the XSKMAP: %w", x.info.name, s.queue, err)
		}
	}
	return x.openPollLocked()
}

// shareOutLocked says how many chunks each socket's fill ring holds: half of all
// goes to the first, since frames arrive on its queue unless someone steers them.
func (x *XSK) shareOutLocked() {
	all, others := x.config.fillChunks(x.arena.TotalFor(chunkRoom)), len(x.sockets)-1
	for i, s := range x.sockets {
		switch {
		case others == 0:
			s.stock = all
		case i == 0:
			s.stock = max(1, all-all/2)
		default:
			s.stock = max(1, all/2/others)
		}
	}
}

// openPollLocked makes what FD returns.
func (x *XSK) openPollLocked() error {
	if len(x.sockets) == 1 {
		x.poll, x.epoll = x.sockets[0].fd, false
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	x.poll, x.epoll = fd, true
	for _, s := range x.sockets {
		if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, s.fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
			return os.NewSyscallError("epoll_ctl", err)
		}
	}
	return nil
}
