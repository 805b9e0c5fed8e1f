// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"github.com/utipc/utipc/netdev"
)

// Receive fills bufs with frames that have arrived, each in the chunk the kernel
// has put it into, without a copy and, but for some cards, without a system call;
// a frame of several chunks is copied into one. With fewer than len(bufs) no more
// wait, or no jumbo chunk was free and frames were dropped. Chunks that were
// given back since make up for those received; while the arena has none, frames
// that arrive are dropped and counted. Completions are collected, too.
//
// Errors, only with no frame: *InterfaceError with ErrPort and ErrAddress, said once each
// time; with ErrRemoved, from then on;
// ErrNotAttached, net.ErrClosed.
func (x *XSK) Receive(bufs []*netdev.Buffer) (n int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return 0, x.closedLocked()
	case x.arena == nil:
		return 0, ErrNotAttached
	}
	for k := range x.sockets {
		i := x.turn + k
		if i >= len(x.sockets) {
			i -= len(x.sockets)
		}
		n += x.receiveLocked(i, bufs[n:])
	}
	// Another one begins the next time, so that none starves.
	if x.turn++; x.turn >= len(x.sockets) {
		x.turn = 0
	}
	x.completeLocked()
	if s := x.sockets[0]; s.tx.pending() > 0 {
		x.kickLocked(s)
	}
	if n > 0 {
		return n, nil
	}
	if x.removed.Load() {
		return 0, x.errRemoved
	}
	if err = x.pending; err != nil {
		x.pending = nil
		return 0, err
	}
	return n, nil
}

// receiveLocked takes frames from one socket and lodges other chunks in their
// place.
func (x *XSK) receiveLocked(i int, bufs []*netdev.Buffer) (n int) {
	s := x.sockets[i]
	var took bool
	for left := s.rx.available(); left > 0 && n < len(bufs); left-- {
		took = true
		if b := x.acceptLocked(s, i, s.rx.take()); b != nil {
			bufs[n] = b
			n++
		}
	}
	if took {
		s.rx.release()
	}
	x.refillLocked(i)
	// A card in zero-copy mode waits for chunks, and one that is polled for us.
	if s.fill.wakeup() || !took && x.config.BusyPoll > 0 {
		kickReceive(s.fd)
	}
	return n
}

// acceptLocked returns the frame that d describes, or nil: d is a piece of one,
// or makes no sense.
func (x *XSK) acceptLocked(s *socket, i int, d descriptor) *netdev.Buffer {
	b := x.arena.At(d.addr)
	if b == nil || x.chunks[b.Index()].inFill != uint16(i+1) {
		x.counts.corrupt++ // not a chunk of ours that it may receive into
		return nil
	}
	x.chunks[b.Index()].inFill = 0
	s.inFill--
	at := int(d.addr) - b.Chunk()
	switch {
	case !b.Place(at, int(d.length)):
		x.counts.corrupt++
	case d.options&continued != 0 || s.partial.begun:
		return x.joinLocked(s, b, d.options&continued == 0)
	case b.Len() <= x.longest():
		return b
	default:
		x.counts.lostIn++
	}
	b.Release()
	return nil
}

// refillLocked lodges chunks with a socket, as many as it may have.
func (x *XSK) refillLocked(i int) {
	s := x.sockets[i]
	want := s.stock - s.inFill
	if want <= 0 {
		return
	}
	want = min(want, int(s.fill.room(uint32(want))))
	put := 0
	for ; put < want; put++ {
		b := x.arena.Get(chunkRoom, netdev.Control)
		if b == nil {
			break
		}
		c := &x.chunks[b.Index()]
		c.buf, c.inFill = b, uint16(i+1)
		s.fill.put(uint64(b.Chunk()))
	}
	if put > 0 {
		s.inFill += put
		s.fill.publish()
	}
}
