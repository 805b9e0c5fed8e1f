// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

// How long a call that reads looks at its ring before it sleeps.
const (
	ringSpin     = 50 * time.Microsecond // Adaptive
	ringSpinLong = time.Second           // Spin: what is asked of the daemon, which takes no such promise
)

// check reports options that cannot be. Errors: ErrConfig.
func (c Config) check() error {
	if c.Ring > socket.RingAlways || c.Wait > socket.Spin {
		return fmt.Errorf("%w: ring mode %d, wait mode %d", engine.ErrConfig, c.Ring, c.Wait)
	}
	return nil
}

// socketFeatures are asked of every daemon.
const socketFeatures = attach.FeatureReports | attach.FeatureRequests | attach.FeatureCounts | attach.FeatureHalfClose | attach.FeatureComplete | attach.FeatureExclusive | attach.FeatureAnycast

// features are what is asked of the daemon.
func (c Config) features() uint64 {
	if c.rings() {
		return attach.FeatureRing | socketFeatures
	}
	return socketFeatures
}

func (c Config) rings() bool {
	return c.Ring == socket.RingAlways || c.Ring == socket.RingAuto && c.Wait == socket.Spin
}

// ended reports whether the daemon has said that nothing comes any more.
func (l *clientConn) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var gone *socket.GoneError
	return l.over != nil && l.over != net.ErrClosed && !errors.As(l.over, &gone)
}

// useRing makes a line that nobody else uses yet have a ring, if the program wants rings.
// What the daemon refuses is an error with RingAlways alone.
func (l *clientConn) useRing(ctx context.Context, c Config) error {
	if !c.rings() || l.ended() { // a read will report it
		return nil
	}
	h := attach.Header{Op: attach.OpRing}
	switch c.Wait {
	case socket.Adaptive:
		h.Arg1 = uint32(ringSpin / time.Microsecond)
	case socket.Spin:
		h.Arg1 = uint32(ringSpinLong / time.Microsecond)
	}
	l.fds = true
	a, err := l.exchange(ctx, nil, h, nil)
	if err != nil && l.ended() { // the connection, before it had a ring
		a, err = l.ringAnswer(ctx)
	}
	l.fds = false
	switch {
	case err != nil:
		return err
	case a.Errno != 0 && c.Ring == socket.RingAlways:
		return fmt.Errorf("ring: %w", a.Errno)
	case a.Errno != 0:
		return nil
	}
	if err := l.conn.TakeRing(&a.Header, a.fd); err != nil {
		return err
	}
	switch c.Wait {
	case socket.Adaptive:
		l.conn.SetSpin(ringSpin)
	case socket.Spin:
		l.conn.SetSpin(-1)
	}
	return nil
}

// ringAnswer reads the answer to OpRing that comes after the end of the connection: the
// daemon takes what the program says from the ring, or from the socket, as it has answered.
func (l *clientConn) ringAnswer(ctx context.Context) (response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := wait{ctx: ctx, role: &l.reads}
	defer l.leave(&c)
	var a response
	var err error
	done := false
	if over := l.await(&c, func() bool { return done }, func(*waiter) {
		l.mu.Unlock()
		_, fd, bad := l.conn.ReadFD(&l.h, nil)
		l.mu.Lock()
		switch {
		case errors.Is(bad, os.ErrDeadlineExceeded):
		case bad != nil:
			done, err = true, lineError(bad)
		case l.h.IsReply() && l.h.Op == attach.OpRing:
			done, a = true, response{Header: l.h, fd: fd}
		default:
			closeFD(fd)
		}
	}); over != nil {
		return response{}, over
	}
	return a, err
}
