// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// Of a connectionless socket P has what came, each message behind a record's header, and
// nothing else. What it sends is a request, so that the answer says whether there is such a
// destination. It comes when every receiver on this host has the message in its P, or the
// sender has it back: a program reads what it has sent to itself.

// openPackets makes a connectionless socket.
func (s *Sockets) openPackets(by Caller, kind attach.Kind) (*socket, Answer) {
	owner, err := by.Enter()
	if err != nil {
		return nil, failure(err)
	}
	cfg := stack.SocketConfig{NameWait: -1}
	c, err := cfg.ListenPacket(hosting.Count(s.ctx, owner.Queued()), s.node, kind.Network(), nil)
	if err != nil {
		owner.Leave()
		return nil, failure(err)
	}
	addr := c.LocalAddr().(stack.SocketAddr)
	x, p, err := s.make(owner, &attach.PlainName{Kind: kind, Addr: addr}, nil)
	if err != nil {
		c.Close()
		owner.Leave()
		return nil, failure(err)
	}
	x.packets, x.options.destDroppable, x.options.srcDroppable = c, true, kind == attach.KindDatagram
	x.mail.from = c
	if err := s.enlist(x); err != nil {
		unix.Close(p)
		x.end(ending{})
		return nil, failure(err)
	}
	s.wg.Go(x.watchProgram)
	x.mail.polled = s.poller.Add(c, x)
	return x, Answer{Header: attach.Header{Addr: attach.SocketSockaddr(x.addr)}, FD: p}
}

// keepDestination sets where the socket sends without an address.
func (x *socket) keepDestination(a attach.Sockaddr) error {
	if r, ok := a.Range(); ok && r.Lower > r.Upper {
		return syscall.EINVAL
	}
	if _, ok := a.Addr(); !ok {
		return syscall.EINVAL
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.member != nil {
		return syscall.EINVAL
	}
	x.to = a
	return nil
}

// sendTo sends a message. Arg0 1: it does not wait for room; else for Wide nanoseconds, 0:
// without a limit.
func (x *socket) sendTo(ctx context.Context, h *attach.Header, data []byte, fd int) error {
	x.mu.Lock()
	c, to, m := x.packets, h.Addr, x.member
	if to.IsZero() {
		to = x.to
	}
	x.mu.Unlock()
	if c == nil {
		return syscall.EOPNOTSUPP
	}
	if m != nil {
		return m.sendTo(ctx, h, data, fd)
	}
	if to.IsZero() {
		return syscall.EDESTADDRREQ
	}
	addr, ok := to.Addr()
	if !ok {
		return syscall.EINVAL
	}
	return x.sendBy(ctx, h, c, func() error {
		_, err := c.TryWriteTo(data, addr)
		return err
	}, func() {}, func() error {
		_, err := c.WriteTo(data, addr)
		return err
	})
}

// sendBy sends by c, the socket or its member of a group: it tries; where there is no room it calls
// blocked, and waits unless Arg0 is 1.
func (x *socket) sendBy(ctx context.Context, h *attach.Header, c interface{ SetWriteDeadline(time.Time) error }, try func() error, blocked func(), wait func() error) error {
	s := x.all
	hosting.Enter(s.poller)
	err := try()
	if err == syscall.EAGAIN {
		blocked()
	}
	s.deliver()
	hosting.Leave(s.poller)
	if err != syscall.EAGAIN || h.Arg0 != 0 {
		return err
	}
	x.mail.waiting.Lock() // one deadline is for all of a socket
	defer x.mail.waiting.Unlock()
	by := time.Time{}
	if h.Wide > 0 {
		by = time.Now().Add(time.Duration(min(h.Wide, uint64(noLimit))))
	}
	c.SetWriteDeadline(by)
	stop := context.AfterFunc(ctx, func() { c.SetWriteDeadline(time.Unix(1, 0)) })
	err = wait()
	stop()
	s.deliver()
	return err
}

// apply sets options of a connectionless socket; it fails of one that is closed.
func (o *options) apply(c *stack.PacketConn) {
	_ = c.SetImportance(o.importance)
	_ = c.SetReturnable(!o.destDroppable)
	_ = c.SetSrcDroppable(o.srcDroppable)
}
