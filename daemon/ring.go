// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
)

// A ringState is what a session with a ring has.
type ringState struct {
	charged int // 0: no ring
	spins   bool
}

// mostSpin is how long a session looks at its ring before it sleeps, if its program asks
// for that: longer than the program needs for its next message when it does the same.
const mostSpin = 200 * time.Microsecond

// mostSpinners is how many sessions may do that: a core is left for all others.
func mostSpinners() int64 { return int64(max(1, runtime.GOMAXPROCS(0)-1)) }

// ring makes the connection use a ring.
func (x *session) ring(h *attach.Header) error {
	p := x.port
	if p == nil || p.is().listener != nil || h.ID == 0 {
		return x.answer(h, syscall.EOPNOTSUPP)
	}
	if x.rings.charged > 0 {
		return x.answer(h, syscall.EALREADY)
	}
	// The memory of a larger ring counts as that of several.
	size, _ := attach.RingSize(h.Arg0)
	k := max(1, size/attach.DefaultRing)
	if err := x.charge(rings, k); err != nil {
		return x.answer(h, err)
	}
	x.leave()
	refused, err := x.c.ServeRing(h)
	if err != nil || refused != nil {
		x.client.release(rings, k) // before the answer: the program may ask again
	}
	switch {
	case err != nil:
		return err
	case refused != nil:
		if errors.As(refused, new(*os.SyscallError)) { // and not the program's mistake
			x.srv.refusals.tell("ring", slog.String("client", x.who.String()), slog.Any("err", refused))
		}
		return x.c.RefuseRing(h, refused)
	}
	x.rings.charged = k
	x.srv.counters.rings.Add(1)
	if h.Arg1 > 0 && x.srv.spinners.Add(1) <= mostSpinners() {
		x.rings.spins = true
		x.c.SetSpin(min(time.Duration(h.Arg1)*time.Microsecond, mostSpin))
	} else if h.Arg1 > 0 {
		x.srv.spinners.Add(-1)
	}
	return nil
}

// dropRing gives back what the session's ring took.
func (x *session) dropRing() {
	if x.rings.charged > 0 {
		x.client.release(rings, x.rings.charged)
	}
	if x.rings.spins {
		x.srv.spinners.Add(-1)
	}
}

// corruptRing counts a ring in which there was what cannot be.
func (x *session) corruptRing(err error) error {
	x.srv.counters.ringFaults.Add(1)
	return fmt.Errorf("%w: %w", errBroken, err)
}

// isCorruptRing reports whether an error of a connection is such.
func isCorruptRing(err error) bool { return errors.Is(err, attach.ErrRing) }
