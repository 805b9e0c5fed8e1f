// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// drainTimeout is how long Close waits for the wire to let go of what was sent.
// It sends what is in the transmit ring meanwhile.
const drainTimeout = 20 * time.Millisecond

// Close stops the device, takes the program off the interface, ends every hold,
// and the claim on the interface. It always returns nil, and may be called from
// anywhere, once or again; each call returns when all is done.
//
// That takes some milliseconds, because chunks are given back only when the
// kernel has let go of the queue: it could still write into them. The number FD
// returned stays ours until the owner has been told net.ErrClosed; see
// Packet.Close, which does the same for the same reasons.
func (x *XSK) Close() error {
	x.closing.Do(x.close)
	return nil
}

func (x *XSK) close() {
	if x.watch != nil {
		x.watch.Close()
	}
	x.mu.Lock()
	x.drainLocked()
	x.countLocked()
	x.closed = true
	wake := x.wake
	h := x.disconnectLocked()
	if x.sockmap != nil && x.program == nil {
		_ = x.sockmap.Close()
	}
	if x.program != nil {
		_ = x.program.Close() // and the map
	}
	x.arena, x.wake, x.chunks = nil, nil, nil
	x.mu.Unlock()
	// Who sleeps in poll holds the socket, so that it is not gone before.
	if wake != nil {
		wake()
	}
	h.takeBack()
	// Last, so that the next owner finds nothing of ours.
	if x.claim != nil {
		x.claim.release()
	}
}

// drainLocked waits for what was sent, a little.
func (x *XSK) drainLocked() {
	if x.arena == nil {
		return
	}
	s := x.sockets[0]
	for end := time.Now().Add(drainTimeout); ; runtime.Gosched() {
		x.completeLocked()
		if s.sending == 0 || x.removed.Load() || time.Now().After(end) {
			return
		}
		if s.tx.pending() > 0 {
			x.kickLocked(s)
		}
	}
}

// held is what the kernel has of the arena while the sockets are being closed.
type held struct {
	ifindex  int
	timeout  time.Duration // for a queue
	queues   []*socket     // to try those that were bound
	zeroCopy bool
	chunks   []chunk
	partials []partial
}

// disconnectLocked closes all sockets.
func (x *XSK) disconnectLocked() *held {
	h := &held{ifindex: x.info.index, timeout: x.config.timeouts.queue, zeroCopy: x.zeroCopy, chunks: x.chunks}
	for _, s := range x.sockets {
		if s.umem != nil {
			_ = x.sockmap.Delete(uint32(s.queue)) // gone with the interface, perhaps
			s.umem.leave(s.fd)
			s.umem = nil
			h.queues = append(h.queues, s.spare)
		} else if s.spare != nil {
			s.spare.close()
		}
		s.spare = nil
		h.partials = append(h.partials, s.partial)
		s.partial, s.inFill = partial{}, 0
		s.unmap()
	}
	if x.poll >= 0 && x.closed {
		x.replaceWithDeadFD()
	} else {
		if x.epoll {
			closeSocket(&x.poll)
		}
		x.poll = -1
	}
	closeSocket(&x.deadFD)
	for _, s := range x.sockets {
		closeSocket(&s.fd)
	}
	return h
}

// takeBack waits until the kernel has let go of the queues and gives back what it
// had: another socket can be bound to them then. Where that is not certain in the
// end, the program and the sockets being gone is enough, unless a card itself may
// still write into the chunks: they are given up.
func (h *held) takeBack() {
	var free atomic.Int32
	var all sync.WaitGroup
	for _, s := range h.queues {
		all.Go(func() {
			err := tryQueue(s, h.ifindex, false, h.timeout)
			if err == nil || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO) {
				free.Add(1)
			}
		})
	}
	all.Wait()
	certain := int(free.Load()) == len(h.queues)
	for i := range h.chunks {
		c := &h.chunks[i]
		if c.inFill != 0 && (certain || !h.zeroCopy) {
			c.buf.Release()
		}
		for ; c.sent > 0 && (certain || !h.zeroCopy); c.sent-- {
			c.buf.Complete()
		}
	}
	for i := range h.partials {
		h.partials[i].drop()
	}
}

// replaceWithDeadFD lets the number FD returned mean a dead descriptor, which polls readable
// for ever. It was made beforehand, so that there is one.
func (x *XSK) replaceWithDeadFD() {
	for {
		err := unix.Dup3(x.deadFD, x.poll, unix.O_CLOEXEC)
		if err != unix.EINTR && err != unix.EBUSY {
			break
		}
	}
	for _, s := range x.sockets {
		if s.fd == x.poll {
			s.fd = -1
		}
	}
	x.deadCleanup = runtime.AddCleanup(x, func(fd int) { unix.Close(fd) }, x.poll)
}

// closedLocked is what the engine's side is told after Close. Once it knows, it
// polls no more.
func (x *XSK) closedLocked() error {
	if x.poll >= 0 {
		x.deadCleanup.Stop()
		closeSocket(&x.poll)
	}
	return net.ErrClosed
}
