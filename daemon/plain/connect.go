// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// What Arg0 of a request to connect may have.
const (
	connectNoWait  = 1
	connectFollows = 2
)

// An attempt is a connection under way.
type attempt struct {
	barrier int           // bytes that keep the program's end from being writable, see connect
	follow  int           // bytes of a first message behind these
	begun   chan struct{} // closed when the request is sent
	over    chan struct{} // closed when there is a connection, or none
	err     error         // then: why
	waited  bool          // somebody is told of err
	direct  chan struct{} // not nil: who accepted is on this host, and has D once it is closed
}

// wasSent waits until the request has been sent: EINPROGRESS, also where its answer has come, or
// why it was not.
func (t *attempt) wasSent(ctx context.Context) error {
	select {
	case <-t.begun:
	case <-t.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-t.begun:
		return syscall.EINPROGRESS
	default:
	}
	if t.err == nil {
		return syscall.EINPROGRESS
	}
	return t.err
}

// connect connects the socket. Arg0 has connectNoWait: it is answered with EINPROGRESS when the
// request is sent; connectFollows: data follows the barrier. Arg1 bytes that the program has written
// before are no data: they keep its end from being writable until there is a connection. data is a
// first message, or none.
func (x *socket) connect(ctx context.Context, h *attach.Header, data []byte) Answer {
	if !x.kind.Connected() {
		return failure(x.keepDestination(h.Addr))
	}
	addr, err := destination(h.Addr)
	noWait, follow := h.Arg0&connectNoWait != 0, 0
	if h.Arg0&connectFollows != 0 {
		follow = len(data)
	}
	x.mu.Lock()
	t := x.attempt
	switch {
	case err != nil && x.state == stateOpen && len(x.names) > 0:
		err = syscall.EOPNOTSUPP
	case err != nil:
	case x.member != nil:
		err = syscall.EINVAL
	case x.state == stateConnecting && !noWait: // it waits as well
	case x.state == stateConnecting:
		err = syscall.EALREADY
	case x.state == stateConnected:
		err = syscall.EISCONN
	case x.state != stateOpen:
		err = syscall.EINVAL
	case len(x.names) > 0:
		err = syscall.EOPNOTSUPP
	default:
		t = &attempt{barrier: int(h.Arg1), follow: follow, begun: make(chan struct{}), over: make(chan struct{})}
		x.state, x.attempt = stateConnecting, t
		l, cfg := x.l, x.options.config()
		data = append([]byte(nil), data...)
		x.all.wg.Go(func() { x.try(t, cfg, l, addr, data) })
	}
	timeout := x.options.timeout()
	if len(data) > 0 { // a send waits as long as SO_SNDTIMEO says
		if timeout = noLimit; h.Wide > 0 {
			timeout = time.Duration(min(h.Wide, uint64(noLimit)))
		}
	}
	if err == nil && !noWait {
		t.waited = true
	}
	open := x.state == stateOpen
	x.mu.Unlock()
	if err != nil {
		if open {
			x.d.drain(int(h.Arg1))
			x.d.drain(follow)
		}
		return failure(err)
	}
	if noWait {
		err = t.wasSent(ctx)
		x.all.deliver() // a listener on this host is readable when the answer comes
		return failure(err)
	}
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	select {
	case <-t.over:
		return failure(t.err)
	case <-limit.C: // as of a kernel, it connects on
		return failure(syscall.ETIMEDOUT)
	case <-ctx.Done():
		return failure(ctx.Err())
	}
}

// destination is where a connection may go.
func destination(a attach.Sockaddr) (net.Addr, error) {
	if s, ok := a.Service(); ok {
		return s, nil
	}
	if s, ok := a.Socket(); ok {
		return s, nil
	}
	return nil, syscall.EINVAL
}

// noLimit is for how long a request is made: as long as the socket is there.
const noLimit = 100 * 365 * 24 * time.Hour

// try connects.
func (x *socket) try(t *attempt, cfg stack.SocketConfig, l *stack.Listener, addr net.Addr, data []byte) {
	s := x.all
	cfg.NameWait, cfg.DialTimeout = -1, noLimit
	begun := false
	ctx := hosting.DialFrom(hosting.AnyKind(hosting.Count(x.ctx, x.owner.Queued())), l, func() {
		begun = true
		close(t.begun)
	})
	if len(data) == t.follow { // before the request is sent: it may be accepted at once
		s.mu.Lock()
		s.dialing[x.addr.Port] = x
		s.mu.Unlock()
	}
	c, err := cfg.DialWith(ctx, s.node, x.kind.Network(), addr, data)
	s.mu.Lock() // an accept of it here is over, and says whether it is direct
	delete(s.dialing, x.addr.Port)
	direct := t.direct
	s.mu.Unlock()
	switch {
	case direct != nil:
		if err == nil {
			c.Abort()
		}
		<-direct
		err = x.direct() // the attempt's own was cut short by the accept
	case err == nil:
		err = x.connected(t, c)
	case errors.Is(err, stack.ErrUnreachable) && !begun:
		x.mu.Lock()
		if x.state == stateConnecting {
			x.state = stateOpen
		}
		x.mu.Unlock()
		x.d.drain(t.barrier)
		x.d.drain(t.follow)
	default:
		x.mu.Lock()
		how := refused(err, addr, data)
		if !t.waited {
			how.errno = stack.Errno(err)
		}
		x.mu.Unlock()
		x.end(how)
	}
	t.err = err
	close(t.over)
}

// direct returns nil once handOver has connected the socket.
func (x *socket) direct() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.handed {
		return net.ErrClosed
	}
	return nil
}

// connected has the program use a connection.
func (x *socket) connected(t *attempt, c *stack.Conn) error {
	peer := peerName(x.kind, c)
	if err := x.d.control(func(fd int) error { return x.all.secret.bind(fd, &peer) }); err != nil {
		c.Abort()
		x.end(ending{})
		return err
	}
	x.unwatch() // before the program may know: what it writes then and closes is sent
	x.mu.Lock()
	if x.state != stateConnecting {
		x.mu.Unlock()
		c.Abort()
		return net.ErrClosed
	}
	x.join(c)
	x.l = nil
	x.mu.Unlock()
	x.d.drain(t.barrier)
	x.d.drain(t.follow)
	x.relay(c)
	return nil
}

// peerName is the name of the other end of a connection.
func peerName(kind attach.Kind, c *stack.Conn) attach.PlainName {
	n := attach.PlainName{Kind: kind}
	if a, ok := c.RemoteAddr().(stack.SocketAddr); ok {
		n.Addr = a
	}
	n.Service, n.Named = c.Service()
	return n
}
