// SPDX-License-Identifier: Apache-2.0

package tipc

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

const (
	callers = 8 // goroutines that offer messages
	// burst is the time whose messages one goroutine offers one behind the other,
	// so that pacing costs little beside sending.
	burst = 20 * time.Microsecond
	// late is how far behind its time a message is given up: what nobody was free
	// to send then is lost, as with any source that does not wait.
	late = time.Millisecond
)

// A schedule says when messages are due, at a rate that does not depend on whether
// they can be sent.
type schedule struct {
	begin time.Time
	each  float64       // ns between two messages
	burst uint64        // messages in a burst
	next  atomic.Uint64 // message that nobody has taken
}

func newSchedule(rate float64) *schedule {
	each := 1e9 / rate
	return &schedule{begin: time.Now(), each: each, burst: max(1, uint64(float64(burst)/each))}
}

// take returns when the next burst is due. Messages that are late are nobody's.
func (s *schedule) take() time.Duration {
	due := time.Duration(float64(s.next.Add(s.burst)) * s.each)
	if now := time.Since(s.begin); now-due > late {
		to := uint64(float64(now) / s.each)
		if at := s.next.Load(); at < to {
			s.next.CompareAndSwap(at, to) // or another goroutine did
		}
	}
	return due
}

// offer offers Job.Offered messages a second, from several goroutines. Each is due
// at its time, give or take a burst; a goroutine whose message waits for room offers
// no other, and a message for which no goroutine was free within a millisecond is lost.
func (e *End) offer(stop *load.Stop, j load.Job) (load.Result, error) {
	s := newSchedule(j.Offered)
	var sent atomic.Uint64
	var all sync.WaitGroup
	errs := make([]error, callers)
	for i := range callers {
		all.Go(func() { errs[i] = e.offerAt(stop, s, j, &sent) })
	}
	all.Wait()
	taken := sent.Load()
	r := load.Result{Count: taken, Elapsed: time.Since(s.begin)}
	r.Offered = uint64(float64(r.Elapsed) / s.each)
	for _, err := range errs {
		if err != nil && !stopped(err) {
			return r, err
		}
	}
	return r, nil
}

func (e *End) offerAt(stop *load.Stop, s *schedule, j load.Job, sent *atomic.Uint64) error {
	var to net.Addr = e.peer
	b := make([]byte, j.Size)
	mark(b, j.Round)
	for {
		for due := s.take(); time.Since(s.begin) < due && !stop.Load(); {
			runtime.Gosched()
		}
		if stop.Load() {
			return nil
		}
		for i := range s.burst {
			if _, err := e.conn.WriteTo(b, to); err != nil {
				sent.Add(i)
				return err
			}
		}
		sent.Add(s.burst)
	}
}
