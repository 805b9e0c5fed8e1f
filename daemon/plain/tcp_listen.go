// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// A listening P has a byte with a descriptor to read for each connection: it is accepted before the program asks for
// it, as TCP does, up to the backlog. A descriptor that comes from the kernel's listener is one of the kernel's.
// There is room for the backlog's connections in the UNIX socket, by SO_SNDBUF of D.

// acceptRoom is what a kernel counts for a byte with a descriptor, in bytes, or less.
const acceptRoom = 768

// listen makes the socket take connections; again it changes the backlog.
func (x *tcpSocket) listen(backlog uint32) error {
	room := int(min(backlog, tcpwire.MostBacklog)) + 1
	_ = x.d.control(func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, room*acceptRoom/2) })
	s := x.all
	x.mu.Lock()
	state := x.state
	x.mu.Unlock()
	switch {
	case state == stateListening:
		return nil
	case state != stateOpen:
		return syscall.EINVAL
	}
	if err := s.tcp.conflict(x); err != nil {
		return err
	}
	if err := x.owner.Name(1); err != nil {
		return err
	}
	at := tcpwire.Addr{IP: s.tcp.ip, Port: x.local.Port}
	l, err := stack.SocketConfig{Scope: stack.NodeScope}.Listen(hosting.Count(s.ctx, x.owner.Queued()), s.node, tcpwire.Network, at.Service())
	if err != nil {
		x.owner.Unname(1)
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != stateOpen { // another call was faster, or the program has closed it
		l.Close()
		x.owner.Unname(1)
		return syscall.EINVAL
	}
	x.state, x.l, x.turn = stateListening, l, make(chan struct{}, 1)
	s.wg.Go(func() { x.acceptAhead(l) })
	if k := x.kernel; k != nil {
		s.wg.Go(func() { x.passOn(k) })
	}
	return nil
}

// conflict reports with syscall.EADDRINUSE that another socket listens on the port.
func (t *tcpNet) conflict(x *tcpSocket) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.ports[x.local.Port] {
		if o != x && !x.shares(o) {
			return syscall.EADDRINUSE
		}
	}
	return nil
}

// listenBeside gives the socket the kernel's listener of the program, fd. Errors: syscall.EINVAL for any other descriptor.
func (x *tcpSocket) listenBeside(fd int) error {
	if on, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || on == 0 {
		return syscall.EINVAL
	}
	if domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, socketDomain); err != nil || domain == unix.AF_UNIX {
		return syscall.EINVAL
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(own, true); err != nil {
		unix.Close(own)
		return err
	}
	k, err := newEnd(own)
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.kernel = k
	x.mu.Unlock()
	return nil
}

// passOn passes connections of the kernel's listener to the program, until that is closed.
func (x *tcpSocket) passOn(k *end) {
	for {
		var fd int
		var failed error
		err := k.s.Read(func(l uintptr) bool {
			for {
				fd, failed = acceptOn(int(l))
				switch failed {
				case unix.EINTR, unix.ECONNABORTED:
					continue
				case unix.EAGAIN:
					return false
				}
				return true
			}
		})
		switch {
		case err != nil:
			return
		case failed == nil:
			x.give(fd)
		default: // for want of descriptors or memory
			select {
			case <-x.ctx.Done():
				return
			case <-time.After(shortageWait):
			}
		}
	}
}

// shortageWait is for how long a listener waits that finds no descriptor or memory for a connection.
const shortageWait = 100 * time.Millisecond

// acceptAhead takes connections of other nodes until the listener is closed.
func (x *tcpSocket) acceptAhead(l *stack.Listener) {
	for {
		c, err := l.AcceptConn()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			select {
			case <-x.ctx.Done():
				return
			case <-time.After(shortageWait):
			}
			continue
		}
		x.taken(c)
	}
}

// mostUnproven is how many connections wait at once for the names of their nodes. They count for
// nobody yet: a peer that lies takes nothing from the program that listens.
const mostUnproven = 256

// taken takes a connection of another node, if it says what the node that it is from may say: of a node that is not known to
// have the address yet, names may come later than a connection. One of this node is not of TCP: these are handed over. The
// port that it is from is believed. It proves nothing: a program has any port, also below 1024, that is free on its node.
func (x *tcpSocket) taken(c *stack.Conn) {
	s := x.all
	from, to, ok := tcpwire.ReadOpening(c)
	if !ok || to != (tcpwire.Addr{IP: s.tcp.ip, Port: x.local.Port}) {
		s.refuseTCP(c)
		return
	}
	peer, _ := c.RemoteAddr().(stack.SocketAddr)
	if peer.Node == s.node.Addr() {
		s.refuseTCP(c)
		return
	}
	if n, _ := s.tcp.nodes.owner(from.IP); n == peer.Node {
		x.accepted(c, from, to)
		return
	}
	if s.tcpUnproven.Add(1) > mostUnproven {
		s.tcpUnproven.Add(-1)
		s.refuseTCP(c)
		return
	}
	s.wg.Go(func() {
		_, err := s.tcp.nodes.await(x.ctx, from.IP, func(n frame.NodeAddr) bool { return n == peer.Node })
		s.tcpUnproven.Add(-1)
		if err != nil {
			s.refuseTCP(c)
			return
		}
		x.accepted(c, from, to)
	})
}

// refuseTCP ends a connection whose opening says what is not so.
func (s *Sockets) refuseTCP(c *stack.Conn) {
	s.tcpCounters.refused.Add(1)
	c.Abort()
}

// accepted makes a socket of a connection, and gives it to the program.
func (x *tcpSocket) accepted(c *stack.Conn, from, to tcpwire.Addr) {
	owner, err := x.owner.Another()
	if err != nil {
		c.Abort()
		return
	}
	n := &tcpSocket{all: x.all, owner: owner, kind: x.kind, local: to, watch: make(chan struct{})}
	close(n.watch)
	p, err := n.begin(&from)
	if err != nil {
		c.Abort()
		owner.Leave()
		return
	}
	n.relay(c, 0)
	x.give(p)
}
