// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
)

// Who waits on a ring sleeps on the socket, where a byte comes as a wake-up. Two may wait
// at once, a call for something to read and one for room to write, and there is one
// socket: who has the turn waits on it, and wakes the other when something came.
//
//	waits ──(turn free)──► on the socket ──(wake-up byte, end, deadline)──► looks at the ring again
//	  └────────(the one on the socket wakes it)────────────────────────────┘
//
// Whoever takes the turn looks for a wake of the one before first, so none is lost.
type wakers struct {
	ring   *Ring
	turn   chan struct{}    // holds one while somebody waits on the socket
	wake   [2]chan struct{} // for who waits for data, for room
	once   sync.Once
	closed chan struct{}
	ended  atomic.Bool  // the peer has closed; what is in the ring is there still
	idle   atomic.Int32 // wakers heard since a record was read or written
	spin   atomic.Int64

	r     message // a wake-up byte received
	rwait func(uintptr) bool
	ronce func(uintptr) bool
	out   [2]ringer // wakers sent: for room, by who reads; for data, by who writes

	mu       sync.Mutex     // guards deadline, and the socket's
	deadline [2]time.Time   // of who waits for data, for room
	timed    [2]atomic.Bool // there is one
	set      time.Time      // the socket's
}

const (
	forData = 0
	forRoom = 1
)

// A ringer sends wake-up bytes.
type ringer struct {
	m  message
	fn func(uintptr) bool
}

func newWakers(r *Ring) *wakers {
	b := &wakers{ring: r, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	for i := range b.wake {
		b.wake[i] = make(chan struct{}, 1)
		o := &b.out[i]
		o.m.prepare(nil, false)
		o.m.cut(1)
		o.fn = func(fd uintptr) bool {
			for o.m.send(fd, callfault.WakePeer); o.m.errno == unix.EINTR; {
				o.m.send(fd, callfault.WakePeer)
			}
			return true
		}
	}
	b.r.prepare(nil, false)
	b.rwait = func(fd uintptr) bool {
		for {
			b.r.receive(fd, callfault.ReceiveWait)
			if b.r.errno != unix.EINTR && b.r.errno != unix.ECONNRESET {
				return b.r.errno != unix.EAGAIN
			}
		}
	}
	b.ronce = func(fd uintptr) bool { b.rwait(fd); return true }
	return b
}

// notifyPeer sends a wake-up byte. One that finds no room is not needed: others wait there unread. One
// that the system has no memory for is: the peer sleeps until it comes.
func (b *wakers) notifyPeer(c *Conn, which int) {
	o := &b.out[which]
	err := c.s.Write(o.fn)
	for pause := memoryPause; err == nil && shortOfMemory(o.m.errno) && !b.isClosed(); pause = min(2*pause, longMemoryPause) {
		time.Sleep(pause)
		err = c.s.Write(o.fn)
	}
	if err == nil && (o.m.errno == unix.EPIPE || o.m.errno == unix.ECONNRESET) {
		b.ended.Store(true)
	}
}

// heard looks at what came on the socket: a wake-up byte, the end, or what should not.
func (b *wakers) heard(err error) error {
	switch {
	case err != nil:
		return err
	case b.r.errno == unix.EAGAIN:
	case b.r.errno != 0:
		return os.NewSyscallError("recvmsg", b.r.errno)
	case b.r.n == 0:
		b.ended.Store(true)
	case b.r.n != 1 || b.r.msg.Flags&unix.MSG_CTRUNC != 0:
		return ErrRecord
	case b.idle.Add(1) > mostWakes:
		return ErrRing
	}
	return nil
}

// mostWakes is how many wake-up bytes may come without a record in between. Who watches hears one
// for each record that comes meanwhile, of which the largest ring takes 16384; and one
// that waits for room for the longest record in the smallest ring 1024 at most.
const mostWakes = 2 * MaxRing / ringAlign

// moved notes that a record was read or written.
func (b *wakers) moved() {
	if b.idle.Load() != 0 {
		b.idle.Store(0)
	}
}

// notify wakes the one that waits without the turn, or will.
func (b *wakers) notify(which int) {
	select {
	case b.wake[which] <- struct{}{}:
	default:
	}
}

// wait sleeps until a wake-up byte may have come. Errors: net.ErrClosed,
// os.ErrDeadlineExceeded, ErrRecord.
func (b *wakers) wait(c *Conn, which int) error {
	if b.expired(which) {
		return os.ErrDeadlineExceeded
	}
	select {
	case b.turn <- struct{}{}:
	default:
		if mine, err := b.waitTurn(which); !mine {
			return err
		}
	}
	defer func() { <-b.turn }()
	select {
	case <-b.wake[which]:
		return nil
	default:
	}
	err := b.arm(c, which)
	if err == nil {
		err = b.heard(c.s.Read(b.rwait))
	}
	b.notify(1 - which)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil // its own deadline, or one that was changed: the next call tells
	}
	return err
}

// waitTurn waits until the caller has the turn, which is mine, or has to look again.
func (b *wakers) waitTurn(which int) (mine bool, err error) {
	var timer <-chan time.Time
	b.mu.Lock()
	if t := b.deadline[which]; !t.IsZero() {
		timer = time.After(time.Until(t))
	}
	b.mu.Unlock()
	select {
	case <-b.closed:
		return false, net.ErrClosed
	case <-b.wake[which]:
		return false, nil
	case <-timer:
		return false, nil
	case b.turn <- struct{}{}:
		return true, nil
	}
}

// setDeadline sets the deadline of who waits for data or room, who looks at it at once.
func (b *wakers) setDeadline(c *Conn, which int, t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline[which] = t
	b.timed[which].Store(!t.IsZero())
	b.notify(which)
	b.set = time.Unix(1, 0) // whoever has the turn looks again
	return c.s.SetReadDeadline(b.set)
}

// arm gives the socket the deadline of who has the turn now; -1: none.
func (b *wakers) arm(c *Conn, which int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var t time.Time
	if which >= 0 {
		t = b.deadline[which]
	}
	if t == b.set {
		return nil
	}
	b.set = t
	return c.s.SetReadDeadline(t)
}

// expired reports whether the deadline is over.
func (b *wakers) expired(which int) bool {
	if !b.timed[which].Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.deadline[which]
	return !t.IsZero() && time.Until(t) <= 0
}

// shut ends all waiting. Closing twice is harmless.
func (b *wakers) shut() { b.once.Do(func() { close(b.closed) }) }

func (b *wakers) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// read is Conn.Read of a ring. The caller holds rmu.
func (b *wakers) read(c *Conn, h *Header, p []byte, room func() []byte, wait bool) (n int, err error) {
	for {
		switch {
		case b.isClosed():
			return 0, net.ErrClosed
		case b.expired(forData):
			return 0, os.ErrDeadlineExceeded
		}
		ended := b.ended.Load()
		n, ok, wake, err := b.get(h, p, room, ended)
		if wake {
			b.notifyPeer(c, forData)
		}
		switch {
		case ok || err != nil:
			b.moved()
			return n, err
		case ended:
			return 0, io.EOF
		case !wait:
			return 0, unix.EAGAIN
		}
		if err := b.spinData(c); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if b.ring.in.some() {
			continue
		}
		b.ring.in.arm()
		if !b.ring.in.some() {
			if err := b.wait(c, forData); err != nil {
				b.ring.in.disarm()
				return 0, err
			}
		}
		b.ring.in.disarm()
	}
}

// get takes a record out of the ring. Of a peer that has ended an empty ring is the end.
func (b *wakers) get(h *Header, p []byte, room func() []byte, ended bool) (n int, ok, wake bool, err error) {
	if !ended && callfault.Answer(callfault.RingGet) != 0 {
		return 0, false, false, nil
	}
	return b.ring.in.get(h, p, room)
}

// put puts a record into the ring.
func (b *wakers) put(h *Header, data []byte) (ok, wake bool, err error) {
	if callfault.Answer(callfault.RingPut) != 0 {
		return false, false, nil
	}
	return b.ring.out.put(h, data)
}

// write is Conn.Write of a ring. The caller holds wmu.
func (b *wakers) write(c *Conn, h *Header, data []byte, wait bool) error {
	for {
		switch {
		case b.isClosed():
			return net.ErrClosed
		case b.expired(forRoom):
			return os.ErrDeadlineExceeded
		case b.ended.Load():
			return os.NewSyscallError("ring", syscall.EPIPE)
		}
		ok, wake, err := b.put(h, data)
		if wake {
			b.notifyPeer(c, forRoom)
		}
		switch {
		case ok || err != nil:
			b.moved()
			return err
		case !wait:
			return unix.EAGAIN
		}
		b.ring.out.arm()
		if !b.ring.out.room(len(data)) {
			if err := b.wait(c, forRoom); err != nil {
				b.ring.out.disarm()
				return err
			}
		}
		b.ring.out.disarm()
	}
}
