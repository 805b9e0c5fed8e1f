// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A socket is an AF_XDP socket, bound to one receive queue of an interface.
//
//	opened --prepare--> rings mapped --bind--> bound --close--> closed
//
// Only the first socket of a device sends.
type socket struct {
	queue int     // the receive queue
	fd    int     // or -1
	spare *socket // for the same queue, not used until this one is closed

	fill       fillRing
	completion completionRing
	rx         rxRing
	tx         txRing // without entries when the socket does not send
	maps       [][]byte
	registered bool  // memory, with this socket itself
	umem       *umem // whom it shares with, once bound

	stock, inFill int // chunks that the kernel may have to receive into, and has

	sending int // descriptors sent and not yet completed

	partial partial // a frame of several pieces that is being put together
}

// openSocket opens a socket for a queue.
func openSocket(queue int) (*socket, error) {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return &socket{queue: queue, fd: fd}, nil
}

// setOptions asks for what the configuration wants of every socket.
func (s *socket) setOptions(c XSKConfig) error {
	if c.BusyPoll <= 0 {
		return nil
	}
	options := []struct{ name, value int }{
		{unix.SO_PREFER_BUSY_POLL, 1},
		{unix.SO_BUSY_POLL, int(c.BusyPoll.Microseconds())},
	}
	if c.BusyPollBudget > 0 {
		options = append(options, struct{ name, value int }{unix.SO_BUSY_POLL_BUDGET, c.BusyPollBudget})
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, o.name, o.value); err != nil {
			return os.NewSyscallError("setsockopt for busy polling", err)
		}
	}
	return nil
}

// prepare makes and maps the rings: fill and rx entries to receive, and tx
// entries to send, none if 0.
func (s *socket) prepare(fill, rx, tx int) error {
	// The kernel wants a completion ring of every socket.
	completion := max(tx, smallestRing)
	for _, r := range []struct{ option, size int }{
		{unix.XDP_UMEM_FILL_RING, fill},
		{unix.XDP_UMEM_COMPLETION_RING, completion},
		{unix.XDP_RX_RING, rx},
		{unix.XDP_TX_RING, tx},
	} {
		if r.size == 0 {
			continue
		}
		if err := unix.SetsockoptInt(s.fd, unix.SOL_XDP, r.option, r.size); err != nil {
			return os.NewSyscallError("setsockopt of a ring", err)
		}
	}
	at, err := ringOffsets(s.fd)
	if err != nil {
		return err
	}
	return errors.Join(
		mapInto(s, &s.fill.shared, unix.XDP_UMEM_PGOFF_FILL_RING, at.Fr, fill),
		mapInto(s, &s.completion.shared, unix.XDP_UMEM_PGOFF_COMPLETION_RING, at.Cr, completion),
		mapInto(s, &s.rx.shared, unix.XDP_PGOFF_RX_RING, at.Rx, rx),
		mapInto(s, &s.tx.shared, unix.XDP_PGOFF_TX_RING, at.Tx, tx),
	)
}

func mapInto[E uint64 | descriptor](s *socket, to *shared[E], page int64, at unix.XDPRingOffset, size int) error {
	if size == 0 {
		return nil
	}
	r, mem, err := mapRing[E](s.fd, page, at, size)
	if err != nil {
		return err
	}
	*to, s.maps = r, append(s.maps, mem)
	return nil
}

// zeroCopy reports whether the card and the socket share memory.
func (s *socket) zeroCopy() bool {
	options, err := unix.GetsockoptInt(s.fd, unix.SOL_XDP, unix.XDP_OPTIONS)
	return err == nil && options&unix.XDP_OPTIONS_ZEROCOPY != 0
}

// close unmaps the rings and closes the socket. It is gone when nobody polls it
// any more; the queue is free a little later still, see awaitQueue.
func (s *socket) close() {
	s.unmap()
	closeSocket(&s.fd)
}

func (s *socket) unmap() {
	s.fill, s.completion, s.rx, s.tx = fillRing{}, completionRing{}, rxRing{}, txRing{}
	for _, m := range s.maps {
		_ = unix.Munmap(m)
	}
	s.maps = nil
}
