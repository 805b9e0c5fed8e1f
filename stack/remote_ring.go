// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
)

// A RingMode says whether the records of an attached node's sockets go through memory that
// is shared with the daemon, a ring for each socket, rather than through the system's
// sockets. It takes some 512 KiB a socket, and pays off where both ends spin.
type RingMode uint8

const (
	// RingAuto has rings with AttachConfig.Wait of Spin, if the daemon grants them. The
	// default.
	RingAuto RingMode = iota
	// RingNever has none.
	RingNever
	// RingAlways has one for each socket but those that listen, or no socket.
	RingAlways
)

// How long a call that reads looks at its ring before it sleeps.
const (
	ringSpin     = 50 * time.Microsecond // Adaptive
	ringSpinLong = time.Second           // Spin: what is asked of the daemon, which takes no such promise
)

// check reports options that cannot be. Errors: ErrConfig.
func (c AttachConfig) check() error {
	if c.Ring > RingAlways || c.Wait > Spin {
		return fmt.Errorf("%w: ring mode %d, wait mode %d", ErrConfig, c.Ring, c.Wait)
	}
	return nil
}

// features are what is asked of the daemon.
func (c AttachConfig) features() uint64 {
	if c.rings() {
		return attach.FeatureRing | attach.FeatureReports | attach.FeatureRequests
	}
	return attach.FeatureReports | attach.FeatureRequests
}

func (c AttachConfig) rings() bool {
	return c.Ring == RingAlways || c.Ring == RingAuto && c.Wait == Spin
}

// ended reports whether the daemon has said that nothing comes any more.
func (l *clientConn) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var gone *GoneError
	return l.over != nil && l.over != net.ErrClosed && !errors.As(l.over, &gone)
}

// useRing makes a line that nobody else uses yet have a ring, if the program wants rings.
// What the daemon refuses is an error with RingAlways alone.
func (l *clientConn) useRing(ctx context.Context, c AttachConfig) error {
	if !c.rings() || l.ended() { // a read will report it
		return nil
	}
	h := attach.Header{Op: attach.OpRing}
	switch c.Wait {
	case Adaptive:
		h.Arg1 = uint32(ringSpin / time.Microsecond)
	case Spin:
		h.Arg1 = uint32(ringSpinLong / time.Microsecond)
	}
	l.fds = true
	a, err := l.exchange(ctx, new(time.Time), h, nil)
	if err != nil && l.ended() { // the connection, before it had a ring
		a, err = l.ringAnswer(ctx)
	}
	l.fds = false
	switch {
	case err != nil:
		return err
	case a.Errno != 0 && c.Ring == RingAlways:
		return fmt.Errorf("ring: %w", a.Errno)
	case a.Errno != 0:
		return nil
	}
	if err := l.conn.TakeRing(&a.Header, a.fd); err != nil {
		return err
	}
	switch c.Wait {
	case Adaptive:
		l.conn.SetSpin(ringSpin)
	case Spin:
		l.conn.SetSpin(-1)
	}
	return nil
}

// ringAnswer reads the answer to OpRing that comes after the end of the connection: the
// daemon takes what the program says from the ring, or from the socket, as it has answered.
func (l *clientConn) ringAnswer(ctx context.Context) (response, error) {
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conned = longAgo
		l.conn.SetReadDeadline(l.conned)
	})()
	for {
		_, fd, err := l.conn.ReadFD(&l.h, nil)
		switch {
		case err != nil && ctx.Err() != nil:
			return response{}, ctx.Err()
		case err != nil:
			return response{}, lineError(err)
		case l.h.IsReply() && l.h.Op == attach.OpRing:
			return response{l.h, nil, fd}, nil
		}
		closeFD(fd)
	}
}
