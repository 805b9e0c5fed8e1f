// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// kickFrames is how many frames, or pieces, the kernel sends in one call where it
// copies them.
const kickFrames = 32

// Transmit lends each frame to the wire, where it lies if that is in the arena,
// and makes the kernel look at them, by one call for up to 32 frames, or none when
// a card is at work anyway. The loan ends with a later call of Transmit or
// Receive, on a veth with this one. n is short without an error when the
// transmit ring or the interface's queue is full.
//
// Errors, always about bufs[n]: *InterfaceError with ErrDown or ErrNoCarrier as
// long as it is so, with ErrRemoved for good; *FrameError with EMSGSIZE for a
// frame longer than the interface takes now, with EINVAL for one shorter than an
// Ethernet header; ErrNotAttached, net.ErrClosed. A frame that is on its way when
// the interface goes down leaves when that is up again, or is dropped and counted.
func (x *XSK) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return 0, x.closedLocked()
	case x.arena == nil:
		return 0, ErrNotAttached
	}
	s := x.sockets[0]
	x.completeLocked()
	before := s.tx.next
	n, err = x.putLocked(s, bufs)
	if s.tx.next != before {
		s.tx.publish()
	}
	if s.tx.pending() > 0 {
		x.kickLocked(s)
		x.completeLocked()
	}
	if err != nil {
		x.counts.lostOut++
	}
	return n, err
}

// putLocked puts frames into the transmit ring, as many as there is room for.
func (x *XSK) putLocked(s *socket, bufs []*netdev.Buffer) (n int, err error) {
	if len(bufs) > 0 && x.MTU() == 0 {
		if err := x.linkFaultLocked(); err != nil {
			return 0, err
		}
	}
	longest := x.longest()
	for _, b := range bufs {
		switch size := b.Len(); {
		case size > longest:
			return n, &FrameError{x.info.name, size, unix.EMSGSIZE}
		case size < frame.EthernetLen:
			return n, &FrameError{x.info.name, size, unix.EINVAL}
		}
		own := x.sendableLocked(b)
		if !own {
			if b = x.copyLocked(b); b == nil {
				return n, nil
			}
		}
		want := pieces(b.Offset(), b.Len())
		if int(s.tx.room(uint32(want))) < want {
			if !own {
				b.Release()
			}
			return n, nil
		}
		s.tx.putFrame(b.Offset(), b.Len())
		c := &x.chunks[b.Index()]
		c.buf = b
		c.sent += uint16(want)
		s.sending += want
		for range want {
			b.Lend()
		}
		if !own {
			b.Release()
		}
		n++
	}
	return n, nil
}

// sendableLocked reports whether the kernel can take the frame from where it lies:
// not in another arena, which it does not know, and not in more pieces than it
// takes.
func (x *XSK) sendableLocked(b *netdev.Buffer) bool {
	most := 1
	if x.pieces {
		most = mostPieces
	}
	return x.arena.At(uint64(b.Offset())) == b && pieces(b.Offset(), b.Len()) <= most
}

// copyLocked copies a frame into a chunk of the arena; nil if there is none free.
func (x *XSK) copyLocked(b *netdev.Buffer) *netdev.Buffer {
	c := x.arena.Get(b.Len(), netdev.Control)
	if c != nil {
		copy(c.Extend(b.Len()), b.Bytes())
	}
	return c
}

// completeLocked ends the loans of what has been sent.
func (x *XSK) completeLocked() {
	s := x.sockets[0]
	n := s.completion.available()
	if n == 0 {
		return
	}
	for range n {
		b := x.arena.At(s.completion.take())
		if b == nil || x.chunks[b.Index()].sent == 0 {
			x.counts.corrupt++
			continue
		}
		x.chunks[b.Index()].sent--
		s.sending--
		b.Complete()
	}
	s.completion.release()
}

// kickLocked makes the kernel take what is in the transmit ring. Where it copies,
// one call takes 32 at most; more are made only as long as they get on.
func (x *XSK) kickLocked(s *socket) {
	left := s.tx.pending()
	for range 2 + left/kickFrames {
		if !s.tx.wakeup() {
			return // the card is at it
		}
		x.counts.kicks++
		errno := kickSend(s.fd)
		now := s.tx.pending()
		switch errno {
		case 0:
			return
		case unix.EBUSY:
			x.counts.lostOut++ // the driver has dropped the last one it took
		case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
			if now == left {
				return // its queue is full; the next call tries again
			}
		default:
			x.counts.refused++
			return // down or gone: whoever sends next is told
		}
		if left = now; left == 0 {
			return
		}
		x.counts.retries++
	}
}
