// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// What waits unread in P when the program closes it is the kernel's to drop. So the library passes P
// with the word that it closes it: of a connection the peer reads the beginning of the first message
// with the end, and messages without a connection go back to who sent them. A message of a stream of
// which a part was read does not come back. A program that does not say so, as one that is killed,
// returns nothing.

// A record is a message that waits in P.
type record struct {
	h    attach.Header
	data []byte // its beginning
}

// closedUnread is closedByProgram of a socket in whose P, fd, something waits. Another descriptor of P
// may be left, with which the socket goes on.
func (s *Sockets) closedUnread(by Caller, fd int) {
	own, ok := s.secret.own(fd)
	if !ok {
		return
	}
	by.Closed()
	if isTCP(own.Kind) {
		s.resetByProgram(by, &own, fd)
		return
	}
	s.mu.Lock()
	x := s.of[own.Cookie]
	s.mu.Unlock()
	if x != nil && x.kind.Connected() {
		x.closedConnection(by, fd)
		return
	}
	if x != nil {
		x.closedUnread(by, fd)
		return
	}
	peer, ok := s.secret.peer(fd)
	if _, over := s.ended.get(own.Cookie); !ok || over || poll(fd)&hangup != 0 {
		return
	}
	before, known := s.ended.get(peer.Cookie)
	s.ended.put(peer.Cookie, ending{code: frame.NoPort, refused: unreadOf(&own, &peer, fd)})
	by.Release()
	if s.secret.bound(&own) {
		s.ended.takeBack(peer.Cookie, before, known)
	}
}

// closedUnread is closedUnread of a connectionless socket.
func (x *socket) closedUnread(by Caller, fd int) {
	x.setClosing(true)
	unread := allUnread(fd)
	x.mu.Lock()
	x.unread = unread
	x.mu.Unlock()
	by.Release()
	x.all.closedByProgram(x.cookie)
	x.mu.Lock()
	x.unread = nil
	x.mu.Unlock()
	x.setClosing(false)
	x.resume()
}

// closedConnection is closedUnread of a socket that the daemon connects: the end follows what the
// program has written, see toPeer, and takes with it what is unread.
func (x *socket) closedConnection(by Caller, fd int) {
	x.mu.Lock()
	x.keepUnread(fd)
	x.mu.Unlock()
	by.Release()
	if x.d.hungUp() {
		return
	}
	x.mu.Lock()
	x.unread = nil
	x.mu.Unlock()
}

// keepUnread keeps the first message of a connection that waits in P, fd, for the end. The socket is
// locked.
func (x *socket) keepUnread(fd int) {
	x.unread = nil
	if data := x.d.firstUnread(fd); len(data) > 0 {
		x.unread = []record{{data: data}}
	}
}

// returnUnread gives messages back to who sent them.
func returnUnread(p *stack.PacketConn, unread []record) {
	for _, m := range unread {
		from, ok := m.h.Addr.Socket()
		if !ok {
			continue
		}
		k := hosting.Message{From: from, Importance: frame.Importance(m.h.Arg0), Marks: uint32(m.h.Wide)}
		k.Name, _ = m.h.Addr2.Range()
		_ = hosting.ReturnUnread(p, k, m.data) // fails when the node is closed
	}
}

// unreadOf is what the peer of a connection reads with its end of what waits in P, or nil.
func unreadOf(own, peer *attach.PlainName, fd int) *refusal {
	data := make([]byte, frame.MaxReturned)
	n, err := receiveFirst(fd, data, unix.MSG_PEEK)
	if err != nil || n == 0 {
		return nil
	}
	service := own.Service
	if peer.Named {
		service = peer.Service
	}
	return &refusal{peer: own.Addr, data: returned(service, data[:min(n, len(data))])}
}

// allUnread is what waits in P of a connectionless socket.
func allUnread(fd int) (all []record) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, peekOffset, 0) != nil {
		return nil
	}
	buf := scratches.Get().(*scratch)
	defer scratches.Put(buf)
	for {
		n, err := peek(fd, buf[:]) // the next peek begins behind it
		if err != nil || n <= 0 {
			break
		}
		if h, data, err := attach.ParseRecord(buf[:n]); err == nil {
			all = append(all, record{h, append([]byte(nil), data[:min(len(data), frame.MaxReturned)]...)})
		}
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, peekOffset, -1)
	return all
}

// peek reads the next message, and leaves it.
func peek(fd int, b []byte) (n int, err error) {
	for {
		n, _, err = unix.Recvfrom(fd, b, unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// bound reports whether there is a socket of a name.
func (s *secret) bound(n *attach.PlainName) bool {
	fd, err := unix.Socket(unix.AF_UNIX, unixType(n.Kind)|closeOnExec, 0) // names are of a type
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return errors.Is(s.bind(fd, n), syscall.EADDRINUSE)
}
