// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// Places of a sequence's memory: the least, and the most that is ever of use.
const (
	leastSlots = 64
	mostSlots  = 8192
)

// A slot is what is remembered of one number.
type slot struct {
	seq      frame.Seq
	seen     bool  // a packet with it was there
	reports  uint8 // how often its receiver missed it and it did not come again
	repeated bool  // it was there more than once
	number   int   // of the last packet with it
	at       time.Duration
}

// lost counts a packet that is known to be lost as missed.
func (x *slot) lost(p Packet) {
	if p.Lost {
		x.reports = max(x.reports, 1)
	}
}

// A sequence follows the numbers of one sender's packets on one link.
//
//	  acked          highest
//	----+---------------+----------> numbers
//	    |  in flight    |
//
// Numbers that a memory of mostSlots cannot span begin a new sequence.
type sequence struct {
	begun   bool
	heard   bool      // the other side has acknowledged something
	highest frame.Seq // sent last of all, or known to be sent
	acked   frame.Seq // acknowledged
	slots   []slot    // by number; a power of two
}

// at returns the place of s. It holds what is known of s if its seq is s and s is
// within the memory.
func (q *sequence) at(s frame.Seq) *slot { return &q.slots[int(s)&(len(q.slots)-1)] }

// find returns what is known of s, or nil.
func (q *sequence) find(s frame.Seq) *slot {
	if !q.begun || len(q.slots) == 0 || s.After(q.highest) || s.Distance(q.highest) >= len(q.slots) {
		return nil
	}
	if x := q.at(s); x.seq == s {
		return x
	}
	return nil
}

// begin starts anew behind s.
func (q *sequence) begin(s frame.Seq) {
	q.begun, q.heard, q.highest, q.acked = true, false, s, s
	clear(q.slots)
}

// advance makes s, which is after highest by less than mostSlots, the highest.
func (q *sequence) advance(s frame.Seq, room *int) {
	q.grow(q.acked.Distance(s), room)
	for n := q.highest + 1; ; n++ {
		*q.at(n) = slot{seq: n}
		if n == s {
			break
		}
	}
	q.highest = s
	if q.acked.Distance(s) >= mostSlots { // no window is that wide: acknowledgements were not captured
		q.acked = s - (mostSlots - 1)
	}
}

// grow makes the memory span n numbers and some before, as far as room goes.
func (q *sequence) grow(n int, room *int) {
	size := max(len(q.slots), leastSlots)
	for size < min(n+leastSlots, mostSlots) {
		size *= 2
	}
	old := q.slots
	switch more := size - max(len(old), leastSlots); {
	case more <= *room:
		*room -= more
	case old == nil:
		size = leastSlots
	default:
		return
	}
	if size == len(old) {
		return
	}
	q.slots = make([]slot, size)
	for _, x := range old {
		if x.seq.AtMost(q.highest) && x.seq.Distance(q.highest) < len(old) {
			*q.at(x.seq) = x
		}
	}
}

// sent takes a packet with number s. It returns what it is, the packet it repeats
// and how many numbers are left out before it.
func (q *sequence) sent(s frame.Seq, p Packet, room *int) (c Class, repeats, skipped int) {
	if !q.begun {
		q.begin(s - 1)
	}
	ahead := q.highest.Distance(s)
	if ahead >= mostSlots && s.Distance(q.highest) >= mostSlots {
		q.begin(s - 1)
		ahead = 1
	}
	if ahead > 0 && ahead < mostSlots {
		skipped = ahead - 1
		q.advance(s, room)
		x := q.at(s)
		x.seen, x.number, x.at = true, p.Number, p.Time
		x.lost(p)
		return New, 0, skipped
	}
	x := q.find(s)
	switch {
	case x == nil: // too long ago to know more
		return Duplicate, 0, 0
	case x.reports > 0:
		c, repeats = Retransmitted, x.number
		x.reports--
	case x.seen:
		c, repeats = Duplicate, x.number
	default:
		c = Late
	}
	x.repeated = x.repeated || c != Late
	x.seen, x.number, x.at = true, p.Number, p.Time
	x.lost(p)
	return c, repeats, 0
}

// acknowledged takes the other side's word that it has all up to s. It returns for how
// many packets that is news, how many of them were never seen, and how long the
// last took; ok is false where that cannot be told.
func (q *sequence) acknowledged(s frame.Seq, now time.Duration, room *int) (news, unseen int, took time.Duration, ok bool) {
	if !q.begun {
		q.begin(s)
		q.heard = true
		return 0, 0, 0, false
	}
	q.heard = true
	news = q.acked.Distance(s)
	if news == 0 || news >= mostSlots {
		return 0, 0, 0, false // old
	}
	if ahead := q.highest.Distance(s); s.After(q.highest) {
		if ahead >= mostSlots {
			return 0, 0, 0, false
		}
		unseen = ahead
		q.advance(s, room)
	}
	q.acked = s
	x := q.find(s)
	if x == nil || !x.seen || x.repeated || x.reports > 0 || now < x.at {
		return news, unseen, 0, false
	}
	return news, unseen, now - x.at, true
}

// has reports whether the other side has said that it has s.
func (q *sequence) has(s frame.Seq) bool { return q.heard && s.AtMost(q.acked) }

// missing takes the other side's word that numbers from to upTo, both included, are
// missing. It returns for how many that is news.
func (q *sequence) missing(from, upTo frame.Seq, room *int) (news int) {
	if !q.begun {
		q.begin(from - 1)
	}
	if from.Distance(upTo) >= mostSlots {
		return 0
	}
	if upTo.After(q.highest) {
		if q.highest.Distance(upTo) >= mostSlots {
			return 0
		}
		q.advance(upTo, room)
	}
	for s := from; ; s++ {
		if x := q.find(s); x != nil {
			if x.reports == 0 {
				news++
			}
			x.reports = min(x.reports, 254) + 1
		}
		if s == upTo {
			return news
		}
	}
}

// inFlight is how many packets are sent and not acknowledged; 0 as long as nothing was
// ever acknowledged.
func (q *sequence) inFlight() int {
	if !q.heard {
		return 0
	}
	return q.acked.Distance(q.highest)
}
