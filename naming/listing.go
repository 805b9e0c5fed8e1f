// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"slices"
)

// A Listing tells a subscription of the bindings that exist part by part, while the table
// changes. It goes by lower bound, upper bound, node, port and key, and has a place in that
// order, whatever comes and goes:
//
//	told ───────────────────► at            not reached
//	events are told                         events are not: what is there when the
//	                                        listing comes is told then
//
// So a binding that is there all the time is told once, and of each publications and
// withdrawals alternate. The zero value is at the beginning.
type Listing struct {
	at          place
	begun, done bool
}

// A place is that of a binding in the order; of ranges alone, for subscriptions to edges,
// who is zero.
type place struct {
	lower, upper uint32
	who
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.lower, q.lower), cmp.Compare(p.upper, q.upper),
		cmp.Compare(p.node, q.node), cmp.Compare(p.port, q.port), cmp.Compare(p.key, q.key))
}

// Done reports whether all was told.
func (l *Listing) Done() bool { return l.done }

// Reached reports whether x is to be told of ev, a change of the table that was made since
// the last call of Next.
func (l *Listing) Reached(x *Subscription, ev Event) bool {
	b := ev.Binding
	p := place{lower: b.Range.Lower, upper: b.Range.Upper}
	if x.everyPort() {
		p.who = who{b.Socket.Port, b.Socket.Node, b.Key}
	}
	return l.done || l.begun && p.compare(l.at) <= 0
}

// Next calls told with the next bindings of t that x is told of: of about n that it looks
// at, or of one range an eighth of its bindings, if those are more.
func (l *Listing) Next(t *Table, x *Subscription, n int, told func(Binding)) {
	s := t.services[x.Range.Type]
	if s == nil || l.done {
		l.done = true
		return
	}
	var same []*bound // with one lower bound
	left := n
	tell := func() bool {
		slices.SortFunc(same, func(a, b *bound) int { return cmp.Compare(a.r.Upper, b.r.Upper) })
		for _, b := range same {
			if left = l.tell(b, x, left, told); left <= 0 {
				return false
			}
		}
		same = same[:0]
		return true
	}
	l.done = s.all.ascend(l.at.lower, x.Range.Lower, x.Range.Upper, func(b *bound) bool {
		if len(same) > 0 && same[0].r.Lower != b.r.Lower && !tell() {
			return false
		}
		same = append(same, b)
		return true
	}) && tell()
}

// tell tells of a range's bindings behind the place reached, and returns what is left of n;
// 0 or less when it had to stop, or should.
func (l *Listing) tell(b *bound, x *Subscription, n int, told func(Binding)) int {
	p := place{lower: b.r.Lower, upper: b.r.Upper}
	var found []*entry
	switch {
	case x.everyPort():
		for e := range b.all.each {
			p.who = e.who
			if !l.begun || p.compare(l.at) > 0 {
				found = append(found, e)
			}
		}
		slices.SortFunc(found, func(a, b *entry) int { return place{who: a.who}.compare(place{who: b.who}) })
	case !l.begun || p.compare(l.at) > 0:
		found = append(found, b.oldest())
	}
	most := max(n, len(found)/8)
	for _, e := range found[:min(most, len(found))] {
		l.begun, l.at = true, p
		if x.everyPort() {
			l.at.who = e.who
		}
		if g := e.binding(); x.scoped(g) {
			told(g)
		}
	}
	return n - len(found)
}

// Few reports whether no more than n bindings overlap the subscription's range.
func (x *Subscription) Few(t *Table, n int) bool {
	s := t.services[x.Range.Type]
	return s == nil || s.all.ascend(0, x.Range.Lower, x.Range.Upper, func(b *bound) bool {
		n -= int(b.all.n)
		return n >= 0
	})
}

// ascend calls f for the ranges that overlap lower to upper and begin at first or behind it,
// in order, until f returns false, and reports whether it never did.
func (s *rangeSet) ascend(first, lower, upper uint32, f func(*bound) bool) bool {
	for k := max(reaching(s.ends, lower), from(s.ends, first)); k < len(s.blocks); k++ {
		bl := s.blocks[k]
		for i := max(reaching(bl.spans, lower), from(bl.spans, first)); i < len(bl.spans); i++ {
			if bl.spans[i].lower > upper {
				return true
			}
			if b := bl.bounds[i]; b.r.Upper >= lower && !f(b) {
				return false
			}
		}
	}
	return true
}
