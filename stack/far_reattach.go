// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// reattachPause is the time between two tries to find a daemon.
const reattachPause = 20 * time.Millisecond

// Reattach connects an attached node whose daemon is gone to the daemon that is there now,
// which it waits for until ctx is done, and makes its sockets again: each PacketConn,
// Listener, Group and ActivePort that is not closed has its names, options and deadlines
// back, and another address. Connections and subscriptions are lost for good. While the
// daemon lives it does nothing. Calls that fail meanwhile fail with a *GoneError; several
// may call Reattach. Errors, inside *net.OpError: of sockets that could not be made again,
// all of them, which a next call tries again; net.ErrClosed, the context's;
// errors.ErrUnsupported of a node that is not attached.
func (n *Node) Reattach(ctx context.Context) error {
	err := errors.ErrUnsupported
	if n.far != nil {
		err = n.far.reattach(ctx)
	}
	if err != nil {
		return opError("reattach", "tipc", nil, nil, err)
	}
	return nil
}

func (f *farNode) reattach(ctx context.Context) error {
	select {
	case f.reattaching <- struct{}{}:
		defer func() { <-f.reattaching }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for !f.lives() {
		if err := f.connectAgain(ctx); err != nil {
			return err
		}
	}
	f.mu.Lock()
	home := f.home
	var sockets []*farSocket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	f.mu.Unlock()
	var failed error
	for _, s := range sockets {
		if err := s.again(ctx, home); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%v: %w", s.addr(), err))
		}
	}
	return failed
}

// connectAgain connects to the daemon that is there, as soon as there is one. Errors:
// net.ErrClosed; the context's, with the last reason.
func (f *farNode) connectAgain(ctx context.Context) error {
	old, err := f.line()
	if err != nil {
		return err
	}
	tick := time.NewTicker(reattachPause)
	defer tick.Stop()
	for {
		err := f.connect(ctx)
		if err == nil {
			old.close()
			return nil
		}
		if _, closed := f.line(); closed != nil {
			return closed
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		}
	}
}

// again makes the socket again, unless it is of the daemon that is there.
func (s *farSocket) again(ctx context.Context, home *farLine) error {
	old := s.life.Load()
	if s.make == nil || old.home == home {
		return nil
	}
	old.line.lost()
	life, err := s.born(ctx, old.line.fds)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		life.line.close()
		return nil
	}
	old.line.mu.Lock()
	life.line.readBy = old.line.readBy
	old.line.mu.Unlock()
	life.line.setWriteBy(old.line.writeDeadline())
	s.life.Store(life)
	close(s.reborn)
	s.reborn = make(chan struct{})
	return nil
}

// lost ends a line of a daemon that is no more, if it does not know yet.
func (l *farLine) lost() {
	l.mu.Lock()
	l.end(&GoneError{"another daemon is there"})
	l.kick()
	l.mu.Unlock()
	l.conn.Close()
}
