// SPDX-License-Identifier: Apache-2.0

package local

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// Limits of what other nodes can make a node log. Lines of one kind about one peer are
// logged while they come seldom; of what is left out the next line of the kind, or the
// last of all when the node is closed, tells the number.
const (
	sameLines   = 5    // of one kind and peer, at once; then one a second
	allLines    = 4096 // of all peers, at once
	lineGap     = time.Second
	allLinesGap = 10 * time.Millisecond
	maxSubjects = 1024 // kinds and peers that are counted apart; all others together
)

// A subject is what lines in the log are about.
type subject struct {
	kind engine.EventKind
	peer frame.NodeAddr
}

// A pace lets through so many at once, and then one in an interval.
type pace struct{ full time.Duration } // when it would let through all of them again

func (p *pace) has(now, gap time.Duration, size int) bool {
	return p.full-now <= time.Duration(size-1)*gap
}

func (p *pace) take(now, gap time.Duration) { p.full = max(p.full, now) + gap }

// A said is what was logged lately about a subject.
type said struct {
	pace
	left int // out, since the last
}

// A quiet decides what is logged. The zero value is ready.
type quiet struct {
	of    map[subject]*said
	rest  said // of subjects that found no room
	all   pace
	swept time.Duration
}

// ask reports whether a line about s may be logged at now, and how many were left out
// before it.
func (q *quiet) ask(now time.Duration, s subject) (ok bool, left int) {
	l := q.lines(now, s)
	if !l.has(now, lineGap, sameLines) || !q.all.has(now, allLinesGap, allLines) {
		l.left++
		return false, 0
	}
	l.take(now, lineGap)
	q.all.take(now, allLinesGap)
	left, l.left = l.left, 0
	return true, left
}

func (q *quiet) lines(now time.Duration, s subject) *said {
	if l := q.of[s]; l != nil {
		return l
	}
	if len(q.of) >= maxSubjects && !q.sweep(now) {
		return &q.rest
	}
	if q.of == nil {
		q.of = map[subject]*said{}
	}
	l := &said{}
	q.of[s] = l
	return l
}

// sweep forgets subjects that nothing is to be remembered of, at most once in lineGap,
// and reports whether there is room. What was left out of those that are quiet again is
// told with the rest.
func (q *quiet) sweep(now time.Duration) bool {
	if now-q.swept < lineGap {
		return false
	}
	q.swept = now
	for s, l := range q.of {
		if l.full <= now {
			q.rest.left += l.left
			delete(q.of, s)
		}
	}
	return len(q.of) < maxSubjects
}

// left is how many lines were left out and not told of.
func (q *quiet) left() (n int) {
	for _, l := range q.of {
		n += l.left
	}
	return n + q.rest.left
}
