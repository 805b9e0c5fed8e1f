// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"net"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// CloseWrite implements backend.Conn. The daemon has said whether the peer's node knows it, so
// nothing is waited for but room; should the connection end before, that is told with its end.
func (c *Conn) CloseWrite() error {
	if err := c.closeWrite(c.line()); err != nil {
		return backend.OpError("close", c.network, c.Addr(), c.peer, c.ended(err))
	}
	return nil
}

func (c *Conn) closeWrite(l *clientConn) error {
	if !c.half {
		return engine.ErrNoHalfClose
	}
	if err := l.trouble(); err != nil {
		return err
	}
	first, err := l.endData()
	if !first {
		return err
	}
	if err == nil {
		_, err = l.write(context.Background(), &attach.Header{Op: attach.OpShutdown, Arg0: attach.ShutdownWrite}, nil)
	}
	if err != nil {
		l.resumeData()
	}
	return err
}

// endData makes enterData refuse calls, and waits until those that go on are through; first is false
// of a second call. Errors: net.ErrClosed, os.ErrDeadlineExceeded at the write deadline.
func (l *clientConn) endData() (first bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &l.out
	switch {
	case l.over == net.ErrClosed:
		return false, net.ErrClosed
	case w.ended:
		return false, nil
	}
	w.ended, w.quiet = true, w.calls == 0
	c := wait{by: &w.by, over: &l.over, outlives: true}
	defer l.leave(&c)
	return true, l.await(&c, func() bool { return w.quiet }, nil)
}

// resumeData takes endData back.
func (l *clientConn) resumeData() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.ended, l.out.quiet = false, false
}
