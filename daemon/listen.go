// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// mostAccepts is how many requests to accept may wait on one socket.
const mostAccepts = 64

// listen makes the socket take connections.
func (p *port) listen(h *attach.Header) (t told) {
	addr, ok := h.Addr.Addr()
	if !ok {
		return told{err: syscall.EINVAL}
	}
	scope, err := scopeOf(h.Addr, p.scope)
	if err == nil {
		err = p.x.srv.reserved(addr)
	}
	if err != nil {
		return told{err: err}
	}
	e := p.is()
	switch {
	case !p.kind.Connected():
		return told{err: syscall.EOPNOTSUPP}
	case e.listener != nil && addr == nil: // it was bound before
		return told{Header: attach.Header{Addr: e.socket()}}
	case e.listener != nil:
		return p.bind(h)
	case e.conn != nil || p.busy():
		return told{err: syscall.EISCONN}
	}
	cfg := p.cfg
	cfg.Scope = scope
	if h.Op == attach.OpListen && h.Arg0 > 0 {
		cfg.Backlog = int(min(h.Arg0, 1<<20))
	}
	k := 0
	if addr != nil {
		k = 1
	}
	if t.err = p.name(k); t.err != nil {
		return t
	}
	l, err := cfg.Listen(hosting.Unsettled(hosting.Count(p.x.ctx, p.x.client.queued)), p.x.srv.node, p.kind.Network(), addr)
	if err == nil {
		err = p.become(end{listener: l})
	}
	if err != nil {
		p.unname(k)
		return told{err: err}
	}
	e = p.is()
	p.watch(e)
	t.Addr = e.socket()
	return t
}

// accept takes a request for a connection, which is answered when there is one.
func (p *port) accept(h *attach.Header) error {
	e := p.is()
	p.mu.Lock()
	var err error
	switch {
	case e.listener == nil:
		err = syscall.EINVAL
	case p.x.c.HasRing(): // no descriptor goes through it
		err = syscall.EOPNOTSUPP
	case h.ID == 0 || slices.Contains(p.accepts, h.ID):
		err = syscall.EINVAL
	case len(p.accepts) == mostAccepts:
		err = syscall.EAGAIN
	default:
		p.accepts = append(p.accepts, h.ID)
	}
	polled := p.polled
	p.mu.Unlock()
	if err != nil {
		return p.x.answer(h, err)
	}
	polled.Again() // who delivers looks for a connection that waits already
	return nil
}

// cancelAccept answers an accept that waits with ECANCELED.
func (p *port) cancelAccept(id uint32) {
	p.mu.Lock()
	i := slices.Index(p.accepts, id)
	if i >= 0 {
		p.accepts = slices.Delete(p.accepts, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		p.x.answer(&attach.Header{Op: attach.OpAccept, ID: id}, syscall.ECANCELED)
	}
}

// nextAccept takes the oldest request that waits.
func (p *port) nextAccept() (id uint32, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.accepts) == 0 {
		return 0, false
	}
	id = p.accepts[0]
	p.accepts = slices.Delete(p.accepts, 0, 1)
	return id, true
}

// passListener answers requests to accept with the connections that wait.
func (p *port) passListener(l *stack.Listener) passed {
	for range passMessages {
		id, ok := p.nextAccept()
		if !ok {
			return passDone
		}
		c, err := l.TryAccept()
		if err == syscall.EAGAIN {
			p.mu.Lock()
			p.accepts = slices.Insert(p.accepts, 0, id)
			p.mu.Unlock()
			return passDone
		}
		h := attach.Header{Op: attach.OpAccept, Flags: attach.FlagReply, ID: id}
		if err == nil {
			var x *session
			var fd int
			if x, fd, err = p.offspring(c); err == nil {
				if out := p.handOver(h, x, c, fd); out != passDone {
					return out
				}
				continue
			}
			c.Abort()
		}
		var data []byte
		h.Errno, data = encode(err)
		if h.Errno == syscall.EADDRINUSE {
			_, renames := p.nameLost()
			h.Arg0 = renames + 1
		}
		switch err := p.x.c.TryWrite(&h, data); err {
		case nil:
		case syscall.EAGAIN:
			p.left = outgoing{h: h, data: data}
			return passStalled
		default:
			p.x.fail(err)
			return passDone
		}
	}
	return passMore
}

// offspring makes a session of a connection that was accepted, and the descriptor of its
// other end.
func (p *port) offspring(c *stack.Conn) (x *session, fd int, err error) {
	near, fd, err := attach.Pair()
	if err != nil {
		return nil, -1, err
	}
	if x, err = p.x.srv.newSession(near, p.x.who); err != nil {
		near.Close()
		unix.Close(fd)
		return nil, -1, err
	}
	p.mu.Lock()
	h := p.inheritedOptions
	p.mu.Unlock()
	x.program, x.greeted, x.features = p.x.program, true, p.x.features
	if err = x.adopt(&port{x: x, kind: p.kind, cfg: h.cfg, scope: h.scope, inheritedOptions: h, now: end{conn: c}}); err != nil {
		x.abortedHandshake()
		unix.Close(fd)
		return nil, -1, err
	}
	return x, fd, nil
}

// handOver answers an accept with a session's descriptor, and starts that.
func (p *port) handOver(h attach.Header, x *session, c *stack.Conn, fd int) passed {
	t := x.port.welcome(c)
	h.Addr, h.Addr2, h.Arg0, h.Arg1, h.Wide = t.Addr, t.Addr2, t.Arg0, t.Arg1, t.Wide
	done := func(err error) {
		unix.Close(fd)
		x.port.watch(end{conn: c}) // with an error nobody has the other end: it is reset
		x.start()
	}
	err := p.x.c.TryWriteFD(&h, nil, fd)
	if err == syscall.EAGAIN {
		p.left = outgoing{h: h, done: done, pass: fd}
		return passStalled
	}
	done(err)
	if err != nil {
		p.x.fail(err)
	}
	return passDone
}

// codeOf is the TIPC error code in an error.
func codeOf(err error) frame.ErrorCode {
	var e *stack.ConnError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
