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
	if !c.rings() {
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
	l.fds = false
	switch {
	case err != nil && l.ended(): // the connection, before it had a ring: a read will tell
		return nil
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
