// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// counters of a process, or of the server.
type counters struct {
	records      atomic.Uint64 // that came
	bytesIn      atomic.Uint64 // of data in them
	messages     atomic.Uint64 // that were delivered
	bytesOut     atomic.Uint64
	undelivered  atomic.Uint64 // messages that the program's socket would not take
	failed       atomic.Uint64 // sends
	refused      atomic.Uint64 // verbs, for want of rights
	overLimit    atomic.Uint64 // requests, by a limit
	broken       atomic.Uint64 // connections that did not keep to the protocol
	descriptors  atomic.Uint64 // that nobody had asked for
	slowed       atomic.Uint64 // times that a process was read more slowly
	stalled      atomic.Uint64 // times that a program did not read
	acceptErrors atomic.Uint64
	badPeers     atomic.Uint64
	turnedAway   atomic.Uint64
	rings        atomic.Uint64 // made
	ringFaults   atomic.Uint64 // corrupt rings
}

// refusals logs what was refused, a line a second of each kind at most.
type refusals struct {
	log *slog.Logger

	mu   sync.Mutex
	last map[string]time.Time // by kind: there are few
	left map[string]int       // since then
}

func (r *refusals) tell(kind string, attrs ...any) {
	if r.log == nil {
		return
	}
	r.mu.Lock()
	now := time.Now()
	if now.Sub(r.last[kind]) < time.Second {
		r.left[kind]++
		r.mu.Unlock()
		return
	}
	if r.last == nil {
		r.last, r.left = map[string]time.Time{}, map[string]int{}
	}
	r.last[kind] = now
	if n := r.left[kind]; n > 0 {
		attrs = append(attrs, slog.Int("left_out_before", n))
		r.left[kind] = 0
	}
	r.mu.Unlock()
	r.log.Warn("refused", append([]any{slog.String("what", kind)}, attrs...)...)
}

// A pace lets so many records through a second, and a tenth of that at once.
type pace struct {
	gap time.Duration // of one record; 0: no limit

	mu   sync.Mutex
	full time.Time // when it would let through the burst again
}

func newPace(records int) pace {
	if records <= 0 {
		return pace{}
	}
	return pace{gap: max(time.Second/time.Duration(records), 1)}
}

const (
	burst    = 100 * time.Millisecond // of records at their pace that may come at once
	longRest = 100 * time.Millisecond // the longest time a connection is not read for that
)

// take counts a record, and returns how long to wait before the next.
func (p *pace) take() time.Duration {
	if p.gap == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.full.Before(now) {
		p.full = now
	}
	p.full = p.full.Add(p.gap)
	if ahead := p.full.Sub(now); ahead > burst {
		return min(ahead-burst, longRest)
	}
	return 0
}
