// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/tcpwire"
)

// Shutdown is shutdown(2), for reading, writing or both. Errors: syscall.ENOTCONN.
func (n *Node) Shutdown(h int32, read, write bool) (int, error) {
	return n.with(h, func(s *Socket) (int, error) {
		if s.c == nil || s.ended {
			return 0, syscall.ENOTCONN
		}
		s.deaf = s.deaf || read
		if write && !s.wrote {
			s.wrote = true
			s.tell(tcpwire.Half)
		}
		return 0, nil
	})
}

// tell sends a message that has no data, after what waits.
func (s *Socket) tell(kind byte) {
	if s.severed {
		return
	}
	if len(s.waiting) > 0 {
		s.waiting = append(s.waiting, []byte{kind})
		return
	}
	s.put([]byte{kind})
}

// CloseSocket closes a socket. A connection sends what it has to; with abort, or with something unread, it is reset.
func (n *Node) CloseSocket(h int32, abort bool) (int, error) {
	return n.with(h, func(s *Socket) (int, error) {
		delete(n.of, h)
		if s.stop != nil {
			s.stop()
		}
		switch {
		case s.l != nil:
			for _, a := range s.accepted {
				a.c.Abort()
			}
			s.l.Close()
		case s.c == nil:
		case s.ended:
			s.c.Close()
		case abort || s.unread():
			s.reset(0)
		default:
			s.finish()
		}
		return 0, nil
	})
}

// unread reports whether something has come that was not read.
func (s *Socket) unread() bool {
	s.fill()
	return s.off < len(s.in)
}

// lingerTime is for how long what was sent before a close waits for room, as at a daemon.
const lingerTime = 30 * time.Second

// finish ends a connection in order.
func (s *Socket) finish() {
	s.tell(tcpwire.Close)
	if s.severed {
		s.c.Abort()
		return
	}
	if len(s.waiting) == 0 {
		s.c.Close()
		return
	}
	s.closing = true
	s.c.SetWriteDeadline(time.Now().Add(s.n.linger))
	s.sendLater()
}
