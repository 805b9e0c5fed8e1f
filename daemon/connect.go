// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// busy reports whether the socket is connecting.
func (p *port) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.connecting
}

// connect begins to connect. The answer comes when it is done.
func (p *port) connect(h *attach.Header, data []byte) error {
	x := p.x
	var err error
	addr, ok := h.Addr.Addr()
	e := p.is()
	switch {
	case !p.kind.Connected():
		err = syscall.EOPNOTSUPP
	case e != end{}:
		err = syscall.EISCONN
	case p.busy():
		err = syscall.EALREADY
	case !ok || addr == nil:
		err = syscall.EINVAL
	}
	if err != nil {
		return x.answer(h, err)
	}
	cfg := p.cfg
	if h.Wide > 0 {
		cfg.DialTimeout = duration(h.Wide)
	}
	p.setConnecting(true)
	data = append([]byte(nil), data...)
	begun, err := x.spawn(*h, func(ctx context.Context) (t told) {
		c, err := cfg.DialWith(hosting.Count(ctx, x.client.queued), x.srv.node, p.kind.Network(), addr, data)
		if err == nil {
			p.request = hosting.Placed(c)
			err = p.become(end{conn: c})
		}
		if err != nil {
			p.setConnecting(false)
			if ctx.Err() != nil && x.ctx.Err() == nil {
				err = syscall.ECANCELED
			}
			return told{err: err}
		}
		return p.welcome(c)
	}, func() { p.watch(p.is()) })
	if !begun {
		p.setConnecting(false)
	}
	return err
}

func (p *port) setConnecting(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connecting = on
}

// welcome is the answer that tells of a connection.
func (p *port) welcome(c *stack.Conn) (t told) {
	t.Addr, _ = attach.SockaddrOf(c.RemoteAddr(), 0)
	if svc, ok := c.Service(); ok {
		t.Addr2 = attach.ServiceSockaddr(svc, 0)
	}
	t.Arg0 = uint32(c.Importance())
	if hosting.CanCloseWrite(c) {
		t.Arg1 = attach.CanCloseWrite
	}
	if own, ok := c.LocalAddr().(stack.SocketAddr); ok {
		t.Wide = attach.PackSocket(own)
	}
	return t
}

// shutdown ends the connection, in order or with a reset, or what the program sends. The answer
// comes when the node has sent what was written before, or cannot: *stack.UnsentError; to the end of
// writing at once.
func (p *port) shutdown(h *attach.Header) error {
	x, c := p.x, p.is().conn
	if c == nil {
		return x.answer(h, syscall.ENOTCONN)
	}
	if h.Arg0 == attach.ShutdownWrite {
		return x.answer(h, c.CloseWrite())
	}
	failed := p.unsent
	p.unsent = 0
	finish := c.Close
	if h.Arg0 == attach.ShutdownAbort {
		finish = c.Abort
	}
	if err := finish(); err != nil {
		return x.answer(h, unsent(err, failed))
	}
	if err := c.CloseWait(over); !errors.Is(err, context.Canceled) {
		return x.answer(h, unsent(err, failed))
	}
	_, err := x.spawn(*h, func(ctx context.Context) told { return told{err: unsent(c.CloseWait(ctx), failed)} }, nil)
	return err
}

// unsent is the error of the end of a connection, with the bytes of sends that had failed.
func unsent(err error, failed int) error {
	if failed == 0 {
		return err
	}
	all := &stack.UnsentError{Bytes: failed, Err: syscall.EPIPE}
	if e := (*stack.UnsentError)(nil); errors.As(err, &e) {
		all.Bytes += e.Bytes
		all.Err = e.Err
	}
	return all
}

// placed is how many bytes of what the program has sent to a connection have gone, and are not
// known to be lost.
func (p *port) placed(c *stack.Conn) uint64 { return hosting.Placed(c) - p.request }

// over is a context that is done: a call that waits looks once.
var over = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()
