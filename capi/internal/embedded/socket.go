// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"context"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// A Socket is a listener, or a connection of TCP.
//
//	connecting ──► connected ──(the peer's tcpwire.Half or Close)──► read to its end ──┐
//	     │             └──────────(an end without those)─────────────────────────────┤
//	     └──(refused)──► ended ◄──────────────────────────────────────────────────────┘
//
// The Node's lock guards it.
type Socket struct {
	n      *Node
	handle int32
	fresh  bool // something may have come

	// Of a listener.
	l        *stack.Listener
	at       tcpwire.Addr // what it is known by to others
	accepted []Accepted

	// Of a connection.
	c       *stack.Conn // nil: it is not there yet, or not any more
	stop    context.CancelFunc
	in      []byte        // the message that is read
	off     int           // bytes of it that were
	eof     bool          // nothing comes any more
	left    bool          // the peer reads nothing any more
	wrote   bool          // shut down for writing
	deaf    bool          // shut down for reading
	severed bool          // nothing can be sent any more; what has come is still read
	ended   bool          // it was reset, or never came to be
	errno   syscall.Errno // to be reported once
	waiting [][]byte      // messages that wait for room
	sending bool          // a goroutine sends them
	closing bool          // and then closes the connection
}

// most is how many bytes of a program's a message has.
const most = 65000

// wireMost is the longest message of a connection, in bytes: a daemon's may be longer than ours.
const wireMost = 66000

// readiness is what the socket is ready for, in the bits of poll(2).
func (s *Socket) readiness() (r uint16) {
	if s.l != nil {
		s.takeRequests()
		if len(s.accepted) > 0 {
			return unix.POLLIN
		}
		return 0
	}
	if s.c == nil && !s.ended {
		return 0
	}
	s.fill()
	if s.ended {
		return unix.POLLIN | unix.POLLOUT | unix.POLLERR | unix.POLLHUP | unix.POLLRDHUP
	}
	if s.off < len(s.in) || s.eof || s.deaf {
		r |= unix.POLLIN
	}
	if s.errno != 0 {
		r |= unix.POLLERR
	}
	if len(s.waiting) == 0 || s.wrote {
		r |= unix.POLLOUT
	}
	if s.eof || s.deaf {
		r |= unix.POLLRDHUP
		if s.wrote {
			r |= unix.POLLHUP
		}
	}
	return r
}

// fill reads the next message if there is nothing of the last one left.
func (s *Socket) fill() {
	for s.off == len(s.in) && s.fresh && s.c != nil && !s.ended {
		if s.in == nil {
			s.in = make([]byte, 0, wireMost)
		}
		s.in, s.off = s.in[:0], 0
		k, size, err := s.c.TryReadMsg(s.in[:wireMost])
		switch {
		case err == syscall.EAGAIN:
			s.fresh = false
			return
		case err != nil:
			s.fresh = false
			switch {
			case s.left && err == io.EOF:
			case s.severed: // a write has told of it, or will
				s.reset(s.errno)
			default:
				s.reset(syscall.ECONNRESET)
			}
			return
		case k < 1 || size != k:
			s.reset(syscall.ECONNRESET)
			return
		}
		s.in = s.in[:k-1]
		s.n.bytesIn.Add(uint64(k - 1))
		switch s.in[:k][k-1] {
		case tcpwire.More:
		case tcpwire.Half:
			s.eof = true
		case tcpwire.Close:
			s.eof, s.left = true, true
			s.fresh = false // its end follows, which is none of a reset
			return
		default:
			s.reset(syscall.ECONNRESET)
			return
		}
	}
}

// reset notes that the connection has ended with an error, before it was read to its end or there was one.
func (s *Socket) reset(errno syscall.Errno) {
	s.ended, s.errno = true, errno
	s.drop()
	if s.c != nil {
		s.c.Abort()
	}
}

// sever notes that nothing can be sent any more: the connection has ended. What came before that is still read.
func (s *Socket) sever() {
	s.severed, s.errno, s.fresh = true, syscall.ECONNRESET, true
	s.drop()
	if s.closing {
		s.c.Abort()
	}
}

// drop forgets what waits for room.
func (s *Socket) drop() {
	s.waiting = nil
	delete(s.n.blocked, s)
}

// take takes the error that is to be reported once.
func (s *Socket) take() (errno syscall.Errno) {
	errno, s.errno = s.errno, 0
	return errno
}

// Error is SO_ERROR of a socket.
func (n *Node) Error(h int32) (int, error) {
	return n.with(h, func(s *Socket) (int, error) { return int(s.take()), nil })
}

// Receive copies what has come into the parts, or with peek leaves it there as well. 0: nothing comes any more. Errors: syscall.EAGAIN,
// ENOTCONN, ECONNRESET.
func (n *Node) Receive(h int32, parts [][]byte, peek bool) (int, error) {
	return n.with(h, func(s *Socket) (int, error) { return s.receive(parts, peek) })
}

func (s *Socket) receive(parts [][]byte, peek bool) (done int, err error) {
	if s.l != nil {
		return 0, syscall.ENOTCONN
	}
	if s.c == nil && !s.ended {
		return 0, syscall.EAGAIN
	}
	for _, p := range parts {
		for len(p) > 0 {
			if s.off == len(s.in) && done == 0 && !s.fresh {
				s.look()
			}
			s.fill()
			k := copy(p, s.in[s.off:])
			if k == 0 {
				return s.received(done)
			}
			done += k
			p = p[k:]
			if peek { // of one message alone
				return done, nil
			}
			s.off += k
		}
	}
	return done, nil
}

// look drives the node once, for a program that reads without asking whether something is there.
func (s *Socket) look() {
	k := s.n.p.PollOnce(s.n.ready[:])
	for _, r := range s.n.ready[:k] {
		r.Owner.(*Socket).fresh = true
	}
	clear(s.n.ready[:k])
}

// received is what a read comes to that found no more.
func (s *Socket) received(done int) (int, error) {
	switch {
	case done > 0, s.deaf:
		return done, nil
	case s.ended && s.errno != 0:
		return 0, s.take()
	case s.eof, s.ended:
		return 0, nil
	}
	return 0, syscall.EAGAIN
}

// Send sends of the parts what there is room for. Errors: syscall.EAGAIN, ENOTCONN, ECONNRESET, EPIPE.
func (n *Node) Send(h int32, parts [][]byte) (int, error) {
	return n.with(h, func(s *Socket) (int, error) { return s.send(parts) })
}

func (s *Socket) send(parts [][]byte) (done int, err error) {
	switch {
	case s.l != nil:
		return 0, syscall.ENOTCONN
	case s.c == nil && !s.ended:
		return 0, syscall.EAGAIN
	}
	for len(parts) > 0 {
		if s.ended || s.wrote || s.severed {
			return s.broken(done)
		}
		if s.sendWaiting(); len(s.waiting) > 0 {
			if done > 0 {
				return done, nil
			}
			return 0, syscall.EAGAIN
		}
		b := s.n.assembly[:0]
		for len(parts) > 0 && len(b) < most {
			k := min(len(parts[0]), most-len(b))
			b = append(b, parts[0][:k]...)
			if parts[0] = parts[0][k:]; len(parts[0]) == 0 {
				parts = parts[1:]
			}
		}
		if len(b) == 0 {
			break
		}
		if !s.put(append(b, tcpwire.More)) {
			return s.broken(done)
		}
		done += len(b)
		s.n.bytesOut.Add(uint64(len(b)))
	}
	return done, nil
}

// broken is what a write comes to that cannot go on.
func (s *Socket) broken(done int) (int, error) {
	switch {
	case done > 0:
		return done, nil
	case s.errno != 0:
		return 0, s.take()
	}
	return 0, syscall.EPIPE
}

// put sends a message, or has it wait for room, and reports false if the connection has ended.
func (s *Socket) put(m []byte) bool {
	_, err := s.c.TryWrite(m)
	switch {
	case err == syscall.EAGAIN:
		s.waiting = append(s.waiting, append([]byte(nil), m...))
		s.n.block(s)
	case err != nil:
		s.sever()
		return false
	}
	return true
}

// sendWaiting sends of what waits what there is room for.
func (s *Socket) sendWaiting() {
	for len(s.waiting) > 0 && !s.sending {
		_, err := s.c.TryWrite(s.waiting[0])
		switch {
		case err == syscall.EAGAIN:
			return
		case err != nil:
			s.sever()
			return
		}
		s.sent()
	}
}

// sent takes the first of what waits away.
func (s *Socket) sent() {
	if s.waiting = s.waiting[1:]; len(s.waiting) == 0 {
		s.drop()
	}
}

// sendLater has a goroutine send what waits.
func (s *Socket) sendLater() {
	if s.sending || len(s.waiting) == 0 {
		return
	}
	s.sending = true
	s.n.wg.Go(func() {
		s.n.mu.Lock()
		defer s.n.mu.Unlock()
		defer s.n.wakers.wake()
		for len(s.waiting) > 0 && !s.ended {
			m := s.waiting[0]
			s.n.mu.Unlock()
			_, err := s.c.Write(m)
			s.n.mu.Lock()
			switch {
			case s.ended:
			case err != nil:
				s.sever()
			default:
				s.sent()
			}
		}
		s.sending = false
		if s.closing && !s.ended && !s.severed {
			s.c.Close()
		}
	})
}
