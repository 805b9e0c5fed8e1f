// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"math"

	"github.com/utipc/utipc/frame"
)

// A Listing tells a subscription of the bindings that exist part by part, while the table
// changes. It goes by lower bound, of equal ones the newest range first, and within a range
// from the oldest binding on; and has a place in that order, whatever comes and goes:
//
//	told ───────────────────► at            not reached
//	events are told                         events are not: what is there when the
//	                                        listing comes is told then
//
// So a binding that is there all the time is told once, and of each publications and
// withdrawals alternate. A part costs what it looks at, and a search. The zero value is at
// the beginning.
type Listing struct {
	at          place
	begun, done bool
}

// A place is that of a binding in the order.
type place struct {
	lower   uint32
	created uint64 // of its range
	serial  uint64
}

// behind is the serial of a place behind all bindings of a range.
const behind = math.MaxUint64

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.lower, q.lower), cmp.Compare(q.created, p.created), cmp.Compare(p.serial, q.serial))
}

// Done reports whether all was told.
func (l *Listing) Done() bool { return l.done }

// Reached reports whether the subscription is to be told of ev, a change of the table that
// was made since the last call of Next.
func (l *Listing) Reached(ev Event) bool {
	return l.done || l.begun && ev.place().compare(l.at) <= 0
}

// Next calls told with the next bindings of t that x is told of. It looks at up to n
// bindings and ranges, and returns at how many it did; at least at one.
func (l *Listing) Next(t *Table, x *Subscription, n int, told func(Binding)) (looked int) {
	s := t.services[x.Range.Type]
	if s == nil || l.done {
		l.done = true
		return 1
	}
	l.done = s.all.ascend(l, x.Range.Lower, x.Range.Upper, func(b *bound) bool {
		if looked++; looked > n {
			return false
		}
		if b.r.Upper >= x.Range.Lower {
			k, all := l.tell(b, x, n-looked, told)
			if looked += k; !all {
				return false
			}
		}
		l.begun, l.at = true, place{b.r.Lower, b.created, behind}
		return true
	})
	return max(looked, 1)
}

// tell tells of a range's bindings behind the place reached, and reports whether these were
// all of them; it looks at up to n.
func (l *Listing) tell(b *bound, x *Subscription, n int, told func(Binding)) (looked int, all bool) {
	if n <= 0 {
		return 0, false
	}
	if !x.everyPort() {
		if g := b.oldest().binding(); x.scoped(g) {
			told(g)
		}
		return 1, true
	}
	from := uint64(0)
	if l.begun && l.at.lower == b.r.Lower && l.at.created == b.created {
		from = l.at.serial + 1
	}
	all = b.since(from, func(e *entry) bool {
		if looked == n {
			return false
		}
		looked++
		l.begun, l.at = true, place{b.r.Lower, b.created, e.serial}
		if g := e.binding(); x.scoped(g) {
			told(g)
		}
		return true
	})
	return looked, all
}

// Few reports whether no more than n bindings and ranges are to be looked at for all that
// overlap the subscription's range.
func (x *Subscription) Few(t *Table, n int) bool {
	s := t.services[x.Range.Type]
	return s == nil || s.all.ascend(&Listing{}, x.Range.Lower, x.Range.Upper, func(b *bound) bool {
		if n--; b.r.Upper >= x.Range.Lower {
			n -= int(b.all.n)
		}
		return n >= 0
	})
}

// ascend calls f for the ranges that are not before the listing's place, in order: those
// that overlap lower to upper, and those among them that do not. It ends when f returns
// false, and reports whether it never did.
func (s *rangeSet) ascend(l *Listing, lower, upper uint32, f func(*bound) bool) bool {
	if len(s.blocks) == 0 {
		return true
	}
	k, i := reaching(s.ends, lower), 0
	if k < len(s.blocks) {
		i = reaching(s.blocks[k].spans, lower)
	}
	if l.begun {
		at := bound{created: l.at.created}
		at.r.Lower = l.at.lower
		if k2, i2 := s.place(&at); k2 > k || k2 == k && i2 > i {
			k, i = k2, i2
		}
		if l.at.serial == behind && k < len(s.blocks) && i < len(s.blocks[k].bounds) {
			if b := s.blocks[k].bounds[i]; b.created == l.at.created {
				i++
			}
		}
	}
	for ; k < len(s.blocks); k, i = k+1, 0 {
		for bl := s.blocks[k]; i < len(bl.spans); i++ {
			if bl.spans[i].lower > upper {
				return true
			}
			if !f(bl.bounds[i]) {
				return false
			}
		}
	}
	return true
}

// A Cursor is a place in a table that is read part by part, while it changes. What is there
// all the time is read once; of the rest it is open. The zero value is at the beginning.
type Cursor struct {
	typ     uint32
	listing Listing
	done    bool
}

// Done reports whether all was read.
func (c *Cursor) Done() bool { return c.done }

// Next calls f with the next bindings: by type, then in the order of a Listing. It looks at
// up to n, and returns at how many it did.
func (c *Cursor) Next(t *Table, n int, f func(Binding)) (looked int) {
	for looked < n && !c.done {
		b := t.types.first(c.typ)
		if b == nil {
			c.done = true
			break
		}
		if b.r.Lower != c.typ {
			c.typ, c.listing = b.r.Lower, Listing{}
		}
		x := Subscription{Filter: frame.FilterPorts}
		x.Range.Type, x.Range.Upper = c.typ, math.MaxUint32
		looked += c.listing.Next(t, &x, n-looked, f)
		if c.listing.Done() {
			c.done = c.typ == math.MaxUint32
			c.typ, c.listing = c.typ+1, Listing{}
		}
	}
	return looked
}
