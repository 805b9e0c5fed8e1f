// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"sync"
)

// A Queue holds what polls leave for a reader: put never waits.
type Queue[T any] struct {
	mu     sync.Mutex // guards the rest but for signal
	items  []queuedItem[T]
	most   int
	lost   uint64 // since the last item that there was room for
	why    error  // there will be no more
	signal chan struct{}
}

type queuedItem[T any] struct {
	x    T
	lost uint64 // before it
}

func (q *Queue[T]) init(most int) { q.most, q.signal = most, make(chan struct{}, 1) }

// Put adds an item, or counts it as lost.
func (q *Queue[T]) Put(x T) {
	q.mu.Lock()
	if len(q.items) >= q.most || q.why != nil {
		q.lost++
	} else {
		q.items = append(q.items, queuedItem[T]{x, q.lost})
		q.lost = 0
	}
	q.mu.Unlock()
	Signal(q.signal)
}

// next takes the oldest item out, and says how many were lost before it.
func (q *Queue[T]) next(ctx context.Context) (x T, lost uint64, err error) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			i := q.items[0]
			q.items = q.items[1:]
			q.mu.Unlock()
			Signal(q.signal) // another may wait, too
			return i.x, i.lost, nil
		}
		err = q.why
		q.mu.Unlock()
		if err != nil {
			Signal(q.signal)
			return x, 0, err
		}
		select {
		case <-q.signal:
		case <-ctx.Done():
			return x, 0, ctx.Err()
		}
	}
}

// end says that nothing more comes; with drop, what waits is gone.
func (q *Queue[T]) end(why error, drop bool) {
	q.mu.Lock()
	if q.why == nil {
		q.why = why
	}
	if drop {
		q.items = nil
	}
	q.mu.Unlock()
	Signal(q.signal)
}
