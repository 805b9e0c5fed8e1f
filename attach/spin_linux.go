// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spinRounds is how often a spinner looks at the ring before it looks at the clock.
const spinRounds = 256

// lookOut is how long a spinner looks at the ring before it looks at the socket.
const lookOut = 100 * time.Microsecond

// spinData looks for something to read for as long as SetSpin says. Errors are those of
// heard.
func (b *wakers) spinData(c *Conn) error {
	limit := time.Duration(b.spin.Load())
	if limit == 0 {
		return nil
	}
	for range spinRounds { // it is often there by now
		if b.ring.in.some() {
			return nil
		}
	}
	alone := runtime.GOMAXPROCS(0) == 1
	start := time.Now()
	looked := start
	for {
		for range spinRounds {
			if b.ring.in.some() {
				return nil
			}
			if alone {
				runtime.Gosched() // the other end may be in this process
			}
		}
		now := time.Now()
		if limit > 0 && now.Sub(start) > limit || b.ended.Load() || b.isClosed() || b.expired(forData) {
			return nil
		}
		if now.Sub(looked) > lookOut {
			looked = now
			runtime.Gosched()
			yield() // it may be this core that the other end waits for
			if err := b.peek(c); err != nil {
				return err
			}
		}
	}
}

// yield lets another thread run on this core, if one waits for it.
func yield() { _, _, _ = syscall.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// peek looks at the socket, if nobody waits there, for the end of one that spins.
func (b *wakers) peek(c *Conn) error {
	select {
	case b.turn <- struct{}{}:
	default:
		return nil
	}
	defer func() { <-b.turn }()
	err := b.arm(c, -1)
	if err == nil {
		err = b.heard(c.s.Read(b.ronce))
	}
	if err != nil || b.r.errno == 0 {
		b.notify(forRoom)
	}
	return err
}
