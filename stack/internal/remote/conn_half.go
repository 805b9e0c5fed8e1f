// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"net"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
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
	quiet, err := l.out.endData()
	if quiet == nil {
		return err
	}
	err = l.out.await(context.Background(), true, quiet)
	if err == nil {
		_, err = l.write(context.Background(), &attach.Header{Op: attach.OpShutdown, Arg0: attach.ShutdownWrite}, nil)
	}
	if err != nil {
		l.out.resumeData()
	}
	return err
}

// enterData is enter for a call that writes data of a connection. Errors: net.ErrClosed,
// engine.ErrWriteEnded.
func (w *clientWriter) enterData() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.unsent != nil:
		return net.ErrClosed
	case w.ended:
		return engine.ErrWriteEnded
	}
	w.calls++
	return nil
}

// endData makes enterData refuse calls, and returns a channel with room for one once those that go
// on are through; nil of a second call. Errors: net.ErrClosed.
func (w *clientWriter) endData() (quiet chan<- struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.unsent != nil:
		return nil, net.ErrClosed
	case w.ended:
		return nil, nil
	}
	w.ended = true
	c := make(chan struct{}, 1)
	if w.calls > 0 {
		feed.Signal(c)
		w.quiet = c
	}
	return c, nil
}

// resumeData takes endData back.
func (w *clientWriter) resumeData() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended, w.quiet = false, nil
}
