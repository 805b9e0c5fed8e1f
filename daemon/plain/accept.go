// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"maps"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// A listening socket's program finds a byte with a descriptor to read for each request that
// waits, a ticket: a connection to the daemon. To accept is to take it and to ask for the
// connection there; that is answered with the new socket's descriptor. So readiness is the
// kernel's, of all processes that have the socket, and a ticket that is lost with the process
// that took it closes, and is replaced.

// mostTickets is how many of a socket there may be.
const mostTickets = 4

// offer hands out tickets while there are more requests.
func (x *socket) offer() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != stateListening {
		return
	}
	stats, _ := x.l.Stats(x.ctx) // of a socket in this process it cannot fail
	for x.tickets < min(stats.Queued, mostTickets) {
		near, fd, err := attach.Pair()
		if err != nil {
			return // for want of descriptors; the next request, or the next accept, comes here again
		}
		err = x.d.control(func(d int) error {
			return unix.Sendmsg(d, []byte{0}, unix.UnixRights(fd), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		})
		unix.Close(fd)
		if err != nil {
			near.Close()
			return
		}
		x.tickets++
		x.all.wg.Go(func() { x.serveTicket(near) })
	}
}

// serveTicket answers the request of who has taken a ticket, and replaces that.
func (x *socket) serveTicket(c *attach.Conn) {
	defer c.Close()
	stop := context.AfterFunc(x.ctx, func() { c.Close() })
	defer stop()
	var h attach.Header
	_, err := c.Read(&h, nil)
	var a Answer
	if err == nil {
		a = failure(syscall.EPROTO)
		if h.Op == attach.OpPlainAccept {
			a = x.accept()
		}
	}
	x.mu.Lock()
	x.tickets--
	x.mu.Unlock()
	x.offer()
	if err == nil {
		x.all.reply(c, &h, a)
	}
}

// reply answers a request.
func (s *Sockets) reply(c *attach.Conn, h *attach.Header, a Answer) {
	r := h.Reply(stack.Errno(a.Err))
	r.Addr, r.Addr2, r.Arg0, r.Arg1, r.Wide = a.Addr, a.Addr2, a.Arg0, a.Arg1, a.Wide
	if a.FD < 0 {
		_ = c.TryWrite(&r, a.Data)
		return
	}
	_ = c.TryWriteFD(&r, a.Data, a.FD) // who does not read it has no socket
	unix.Close(a.FD)
}

// accept makes a socket of the oldest request.
func (x *socket) accept() Answer {
	s := x.all
	x.mu.Lock()
	l, o := x.l, x.options
	x.mu.Unlock()
	if l == nil {
		return failure(syscall.EINVAL)
	}
	c, from, err := s.take(l, x.kind)
	if err != nil {
		return failure(err)
	}
	if from != nil {
		if a, ok := from.handOver(c); ok {
			return a
		}
	}
	return x.accepted(c, &o)
}

// refuse refuses the requests that wait. Those of this host have ended when it returns.
func (s *Sockets) refuse(l *stack.Listener) {
	s.mu.Lock()
	dialing := maps.Clone(s.dialing)
	s.mu.Unlock()
	for _, port := range hosting.Refuse(l) {
		if x := dialing[port]; x != nil {
			<-x.attempt.over
		}
	}
}

// take accepts the oldest request. from is the socket that connects, if that is one of this
// host of the same kind: the attempt waits for handOver then.
func (s *Sockets) take(l *stack.Listener, kind attach.Kind) (c *stack.Conn, from *socket, err error) {
	s.mu.Lock() // so that the attempt, which goes on now, sees what is decided here
	defer s.mu.Unlock()
	if c, err = l.TryAccept(); err != nil {
		return nil, nil, err
	}
	a, ok := c.RemoteAddr().(stack.SocketAddr)
	if !ok || a.Node != s.node.Addr() {
		return c, nil, nil
	}
	if from = s.dialing[a.Port]; from == nil || from.kind != kind {
		return c, nil, nil
	}
	delete(s.dialing, a.Port)
	from.attempt.direct = make(chan struct{})
	return c, from, nil
}

// handOver makes D the program's end of the other socket of a connection, of which c is the
// node's part, and which the daemon has no part in from now on. It fails when the socket has
// ended.
func (x *socket) handOver(c *stack.Conn) (a Answer, ok bool) {
	x.mu.Lock()
	t := x.attempt
	defer close(t.direct)
	if x.state != stateConnecting {
		x.mu.Unlock()
		return a, false
	}
	x.handed, x.l = true, nil // nobody else ends it
	x.mu.Unlock()
	x.unwatch()
	own := attach.PlainName{Kind: x.kind}
	if la, ok := c.LocalAddr().(stack.SocketAddr); ok {
		own.Addr = la
	}
	own.Service, own.Named = c.Service()
	err := x.d.control(func(fd int) (err error) {
		if own.Cookie, err = cookieOf(fd); err == nil {
			err = x.all.secret.bind(fd, &own)
		}
		return err
	})
	x.all.kept.put(x.cookie, x.options)
	x.all.kept.put(own.Cookie, options{importance: x.options.importance})
	x.d.drain(t.barrier)
	a = Answer{FD: -1}
	a.Addr = attach.SocketSockaddr(x.addr)
	if err == nil {
		a.FD, err = x.d.release()
	} else {
		x.d.s.Close()
	}
	a.Err = err
	c.Abort() // the node's part is over
	x.stop()
	x.leave(0)
	return a, true
}

// accepted makes a socket of a connection.
func (x *socket) accepted(c *stack.Conn, o *options) Answer {
	s := x.all
	peer := peerName(x.kind, c)
	own := attach.PlainName{Kind: x.kind, Service: peer.Service, Named: peer.Named}
	if la, ok := c.LocalAddr().(stack.SocketAddr); ok {
		own.Addr = la
	}
	owner, err := x.owner.Another()
	if err != nil {
		c.Abort()
		return failure(err)
	}
	n, p, err := s.make(owner, &own, &peer)
	if err != nil {
		c.Abort()
		owner.Leave()
		return failure(err)
	}
	n.join(c)
	n.options = *o
	close(n.watch)
	if err := s.enlist(n); err != nil {
		unix.Close(p)
		n.end(ending{})
		return failure(err)
	}
	n.relay(c)
	return Answer{Header: attach.Header{Addr: attach.SocketSockaddr(peer.Addr)}, FD: p}
}
