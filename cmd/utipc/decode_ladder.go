// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/internal/printable"
)

// ladderAhead is how many frames a ladder looks ahead for what repeats one, and so the
// most it keeps.
const ladderAhead = 4096

// A rung is one arrow of a ladder: a frame, or several of one kind in a row.
type rung struct {
	first, last int     // numbers of the frames
	at          float64 // seconds, of the last
	from, to    frame.NodeAddr
	label       label
	lastSeq     frame.Seq
	notes       []string
	again       bool // it was sent before
	missed      bool // its receiver did not get it
}

// note adds what is said beside the arrow.
func (r *rung) note(format string, a ...any) { r.notes = append(r.notes, fmt.Sprintf(format, a...)) }

// rungOf makes a rung of frame n. comment is what the capture says of it.
func rungOf(n int, at float64, message []byte, v *conversation.Verdict, comment string) rung {
	r := rung{first: n, last: n, at: at, from: v.From, to: v.To, label: labelOf(message, v)}
	if v.Broadcast {
		r.to = 0
	}
	r.lastSeq = r.label.seq
	switch {
	case v.Class == conversation.Retransmitted && v.Repeats != 0:
		r.again = true
		r.note("%d again", v.Repeats)
	case v.Class == conversation.Retransmitted:
		r.again = true
		r.note("again")
	case v.Class == conversation.Duplicate && v.Repeats != 0:
		r.again = true
		r.note("twice, as %d", v.Repeats)
	case v.Class == conversation.Duplicate:
		r.again = true
		r.note("twice")
	case v.Class == conversation.Late:
		r.note("late")
	}
	if v.Needless {
		r.note("was there")
	}
	if v.Skipped > 0 {
		r.note("%d missing before", v.Skipped)
	}
	if v.Reported > 0 {
		r.note("misses %d", v.Reported)
	}
	if v.Acked > 0 && r.label.link {
		r.note("has %d more", v.Acked)
	}
	if comment != "" {
		r.note("%s", printable.Text(comment))
	}
	r.missed = lostBy(comment)
	return r
}

// lostBy reports whether a comment says that the frame reached nobody, in the words of
// "utipc capture" and of package tap.
func lostBy(comment string) bool {
	return strings.HasPrefix(comment, "refused: ") || strings.HasPrefix(comment, "dropped")
}

// joins reports whether s can be drawn as one arrow with r, which comes before it.
func (r *rung) joins(s *rung) bool {
	plain := func(x *rung) bool { return len(x.notes) == 0 && !x.again && !x.missed }
	if !plain(r) || !plain(s) || r.from != s.from || r.to != s.to || r.label.kind != s.label.kind || r.last+1 != s.first {
		return false
	}
	return r.label.inLine && s.label.inLine && s.label.seq == r.lastSeq+1
}

// words are what stands on the arrow: what is said, and its numbers.
func (r *rung) words() (kind, number string) {
	if r.first == r.last {
		return r.label.kind, r.label.number
	}
	number = strings.Replace(r.label.number, fmt.Sprintf("seq %d", r.label.seq), fmt.Sprintf("seq %d-%d", r.label.seq, r.lastSeq), 1)
	return fmt.Sprintf("%d x %s", r.last-r.first+1, r.label.kind), number
}

// A ladder draws rungs: a column for each node, time running down.
type ladder struct {
	out     *bufio.Writer
	prefix  string // of each line
	ascii   bool
	width   int
	live    bool // draw each frame as it comes
	pending []rung
	lanes   []frame.NodeAddr
	headed  bool
}

// add takes a frame. One that repeats another marks that one, if it is not drawn yet.
func (l *ladder) add(r rung, v *conversation.Verdict) error {
	if v.Class == conversation.Retransmitted && v.Repeats != 0 {
		i, ok := slices.BinarySearchFunc(l.pending, v.Repeats, func(x rung, n int) int { return x.first - n })
		switch {
		case !ok:
		case v.Needless:
			l.pending[i].note("again in %d", r.first)
		default:
			l.pending[i].missed = true
			l.pending[i].note("missed, again in %d", r.first)
		}
	}
	l.pending = append(l.pending, r)
	switch {
	case l.live:
		return l.draw(len(l.pending))
	case len(l.pending) == 2*ladderAhead:
		return l.draw(ladderAhead)
	}
	return nil
}

// end draws what is left.
func (l *ladder) end() error { return l.draw(len(l.pending)) }

// draw draws the first n of the frames that wait.
func (l *ladder) draw(n int) error {
	l.meet(l.pending)
	rungs := l.pending[:n]
	var err error
	for i := 0; i < len(rungs); {
		r := rungs[i]
		for i++; i < len(rungs) && !l.live && r.joins(&rungs[i]); i++ {
			r.last, r.at, r.lastSeq = rungs[i].last, rungs[i].at, rungs[i].label.seq
		}
		_, err = fmt.Fprintf(l.out, "%s%s\n", l.prefix, l.line(&r))
	}
	l.pending = slices.Delete(l.pending, 0, n)
	return err
}

// meet gives each node of the rungs a column and, when there are new ones, prints the
// head anew.
func (l *ladder) meet(rungs []rung) {
	more := !l.headed && len(rungs) > 0
	for i := range rungs {
		for _, a := range [...]frame.NodeAddr{rungs[i].from, rungs[i].to} {
			if at, ok := slices.BinarySearch(l.lanes, a); !ok && a != 0 && len(l.lanes) < 1024 {
				l.lanes = slices.Insert(l.lanes, at, a)
				more = true
			}
		}
	}
	if more {
		l.head()
	}
}
