// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"io"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// servePlain serves a connection that is one request of plain sockets, with the descriptor fd,
// which it closes.
func (x *session) servePlain(h *attach.Header, data []byte, fd int) error {
	if err := x.plainRequest(h, data, fd); err != nil {
		return err
	}
	return io.EOF
}

// plainRequest does what a request asks for, and answers it. It closes fd before the answer: a
// program that has the answer and closes its socket has closed the last descriptor.
func (x *session) plainRequest(h *attach.Header, data []byte, fd int) error {
	closeFD := sync.OnceFunc(func() {
		if fd >= 0 {
			unix.Close(fd)
		}
	})
	defer closeFD()
	if !x.srv.cfg.Policy.Allows(UseRight, x.who) {
		x.refuse(h.Op.String())
		r := h.Reply(syscall.EPERM)
		return x.write(&r, nil)
	}
	ctx, stop := context.WithCancel(x.ctx)
	defer stop()
	m := &manages{srv: x.srv, client: x.client, who: x.who}
	by := plain.Caller{Context: ctx, Enter: x.client.enterPlain, Closed: x.awaitShutdown, Release: closeFD, Manages: m, Answered: m.answered}
	if h.Op == attach.OpPlainConnect && h.Arg0 == 0 { // it waits: for as long as the program does
		x.srv.wg.Go(func() {
			x.awaitShutdown()
			stop()
		})
	}
	a := x.srv.plain.Serve(by, h, data, fd)
	closeFD()
	r := h.Reply(stack.Errno(a.Err))
	r.Addr, r.Addr2, r.Arg0, r.Arg1, r.Wide = a.Addr, a.Addr2, a.Arg0, a.Arg1, a.Wide
	if a.FD < 0 {
		return x.write(&r, a.Data)
	}
	return x.srv.plain.Give(x.c, &r, a)
}

// awaitShutdown waits until the program has shut its end down, or is gone.
func (x *session) awaitShutdown() {
	var none attach.Header
	_, _ = x.c.Read(&none, nil)
}

// A plainOwner counts a plain socket for a process.
type plainOwner struct{ c *client }

// enterPlain counts one more. Errors: *LimitError.
func (c *client) enterPlain() (plain.Owner, error) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if err := c.chargeLocked(connections, 1); err != nil {
		return nil, err
	}
	c.plain++
	return plainOwner{c}, nil
}

// Queued implements plain.Owner.
func (o plainOwner) Queued() *hosting.Account { return o.c.queued }

// Name implements plain.Owner.
func (o plainOwner) Name(k int) error { return o.c.charge(names, k) }

// Unname implements plain.Owner.
func (o plainOwner) Unname(k int) { o.c.release(names, k) }

// Another implements plain.Owner.
func (o plainOwner) Another() (plain.Owner, error) { return o.c.enterPlain() }

// Leave implements plain.Owner.
func (o plainOwner) Leave() {
	o.c.all.mu.Lock()
	defer o.c.all.mu.Unlock()
	o.c.releaseLocked(connections, 1)
	o.c.plain--
	o.c.departedLocked()
}
