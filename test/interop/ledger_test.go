// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/utipc/utipc/stack"
)

// A bound is a socket bound to a range.
type bound struct {
	Range  stack.Range
	Socket stack.SocketAddr
}

// bounds counts each: a socket may be bound to a range several times.
type bounds map[bound]int

// add counts one more, or with -1 one less.
func (b bounds) add(x bound, n int) {
	if b[x] += n; b[x] == 0 {
		delete(b, x)
	}
}

// differ tells how two sets differ; "" means that they do not.
func (b bounds) differ(want bounds) string {
	if maps.Equal(b, want) {
		return ""
	}
	var all []string
	for x := range want {
		if b[x] != want[x] {
			all = append(all, fmt.Sprintf("%v at %v: %d, want %d", x.Range, x.Socket, b[x], want[x]))
		}
	}
	for x, n := range b {
		if want[x] == 0 {
			all = append(all, fmt.Sprintf("%v at %v: %d, want none", x.Range, x.Socket, n))
		}
	}
	slices.Sort(all)
	const enough = 8
	if more := len(all) - enough; more > 0 {
		all = append(all[:enough], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// A ledger is what the events that a subscriber got add up to.
type ledger struct {
	mu      sync.Mutex // guards what follows
	set     bounds
	latest  time.Time // when the set changed last
	ends    []bound   // withdrawals, in order
	wrong   []string  // events that cannot be: withdrawals of what was not there
	changed chan struct{}
}

func newLedger() *ledger { return &ledger{set: bounds{}, changed: make(chan struct{})} }

// note enters one event.
func (l *ledger) note(published bool, x bound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 1
	if !published {
		n = -1
		l.ends = append(l.ends, x)
	}
	if l.set.add(x, n); l.set[x] < 0 {
		l.wrong = append(l.wrong, fmt.Sprintf("withdrawn without having been published: %v at %v", x.Range, x.Socket))
	}
	l.latest = time.Now()
	close(l.changed)
	l.changed = make(chan struct{})
}

// until waits until the events add up to want, and returns when the last came.
func (l *ledger) until(ctx context.Context, want bounds) (time.Time, error) {
	for {
		l.mu.Lock()
		differ, at, changed, wrong := l.set.differ(want), l.latest, l.changed, l.wrong
		l.mu.Unlock()
		if len(wrong) > 0 {
			return at, fmt.Errorf("%v", wrong)
		}
		if differ == "" {
			return at, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return at, fmt.Errorf("%w: events say %s", ctx.Err(), differ)
		}
	}
}

// gone returns all withdrawals so far.
func (l *ledger) gone() []bound {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ends)
}

// fail ends a ledger that no longer knows.
func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, err.Error())
	close(l.changed)
	l.changed = make(chan struct{})
}
