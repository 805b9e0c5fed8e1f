// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// A tcpAttempt is a connection under way.
type tcpAttempt struct {
	barrier int           // bytes that keep the program's end from being writable
	over    chan struct{} // closed when there is a connection, or none
	err     error         // then: why
	waited  bool          // somebody is told of err
}

// connect connects the socket to h.Addr. Arg0 has connectNoWait: it is answered with EINPROGRESS at once. Arg1
// bytes that the program has written before are no data. Wide is for how many nanoseconds it waits, 0: without limit.
func (x *tcpSocket) connect(ctx context.Context, h *attach.Header) error {
	to, ok := tcpAddrOf(h.Addr)
	if !ok || to.Port == 0 {
		return syscall.EADDRNOTAVAIL
	}
	noWait := h.Arg0&connectNoWait != 0
	x.mu.Lock()
	t := x.attempt
	switch {
	case x.state == stateConnecting && !noWait: // it waits as well
	case x.state == stateConnecting:
		x.mu.Unlock()
		return syscall.EALREADY
	case x.state == stateConnected, x.state == stateListening:
		x.mu.Unlock()
		return syscall.EISCONN
	case x.state != stateOpen:
		x.mu.Unlock()
		return syscall.EINVAL
	default:
		t = &tcpAttempt{barrier: int(h.Arg1), over: make(chan struct{})}
		x.state, x.attempt = stateConnecting, t
		x.all.wg.Go(func() { x.try(t, to) })
	}
	t.waited = t.waited || !noWait
	x.mu.Unlock()
	if noWait {
		return syscall.EINPROGRESS
	}
	var limit <-chan time.Time
	if h.Wide > 0 {
		timer := time.NewTimer(time.Duration(min(h.Wide, uint64(noLimit))))
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-t.over:
		return t.err
	case <-limit: // as with a kernel, it connects on
		x.mu.Lock()
		t.waited = false
		x.mu.Unlock()
		return syscall.EINPROGRESS
	case <-ctx.Done():
		x.mu.Lock()
		t.waited = false
		x.mu.Unlock()
		return ctx.Err()
	}
}

// try connects.
func (x *tcpSocket) try(t *tcpAttempt, to tcpwire.Addr) {
	err := x.dial(t, to)
	t.err = err
	if err != nil {
		x.mu.Lock()
		told := err
		if t.waited {
			told = nil
		}
		x.mu.Unlock()
		x.endRefused(told)
	}
	close(t.over)
}

// endRefused ends a socket whose connection failed. err is what the program is told later, nil: it knows.
func (x *tcpSocket) endRefused(err error) {
	errno := syscall.Errno(0)
	if err != nil {
		errno = stack.Errno(err)
	}
	x.end(errno)
}

func (x *tcpSocket) dial(t *tcpAttempt, to tcpwire.Addr) error {
	s := x.all
	ctx, stop := context.WithTimeoutCause(x.ctx, s.tcp.limit, syscall.ETIMEDOUT)
	defer stop()
	from := x.local
	if from.IP == 0 {
		from.IP = s.tcp.ip
	}
	if to.IP == s.tcp.ip {
		l := s.tcp.listener(to.Port)
		if l == nil {
			return syscall.ECONNREFUSED
		}
		return l.handOver(ctx, x, to)
	}
	node, err := s.tcp.nodes.node(ctx, to.IP)
	if err != nil {
		return err
	}
	dest := to.Service()
	dest.Node = node
	cfg := stack.SocketConfig{NameWait: -1, DialTimeout: s.tcp.limit}
	c, err := cfg.DialWith(hosting.Count(x.ctx, x.owner.Queued()), s.node, tcpwire.Network, dest, tcpwire.AppendOpening(nil, from, to))
	if err != nil {
		return tcpwire.Refusal(err)
	}
	peer := attach.PlainName{Kind: x.kind, Addr: tcpName(to)}
	if err := s.namePeer(x.d, &peer); err != nil {
		c.Abort()
		return err
	}
	x.unwatch() // before the program may know: what it writes then and closes is sent
	if !x.isConnecting() {
		c.Abort()
		return net.ErrClosed
	}
	x.relay(c, t.barrier)
	return nil
}

func (x *tcpSocket) isConnecting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state == stateConnecting
}

// takeConnecting makes the socket nobody else's to end, if it connects.
func (x *tcpSocket) takeConnecting() bool {
	x.unwatch()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != stateConnecting {
		return false
	}
	x.handed = true
	return true
}
