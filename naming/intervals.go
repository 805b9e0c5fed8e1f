// SPDX-License-Identifier: Apache-2.0

package naming

import "cmp"

// The subscriptions of one type are a balanced tree (AVL), ordered by lower bound,
// then by age. Each knows the largest upper bound from itself down, so that a search
// leaves out what ends before the range it looks for:
//
//	               10-20, reach 90
//	              /               \
//	    5-90, reach 90          15-15, reach 40
//	   /                                      \
//	2-3, reach 3                         30-40, reach 40
//
// Programs choose the bounds: the height is the balance's, not theirs.

// before orders the tree.
func (x *Subscription) before(y *Subscription) bool {
	return cmp.Or(cmp.Compare(x.Range.Lower, y.Range.Lower), cmp.Compare(x.serial, y.serial)) < 0
}

func (x *Subscription) tall() int8 {
	if x == nil {
		return 0
	}
	return x.height
}

// insert adds y below x, and returns what stands in x's place.
func (x *Subscription) insert(y *Subscription) *Subscription {
	if x == nil {
		y.left, y.right = nil, nil
		return y.balance()
	}
	if y.before(x) {
		x.left = x.left.insert(y)
	} else {
		x.right = x.right.insert(y)
	}
	return x.balance()
}

// remove takes y, which is there, from below x.
func (x *Subscription) remove(y *Subscription) *Subscription {
	switch {
	case x == y && x.left == nil:
		return x.right
	case x == y && x.right == nil:
		return x.left
	case x == y:
		next := x.right
		for next.left != nil {
			next = next.left
		}
		right := x.right.remove(next)
		next.left, next.right = x.left, right
		return next.balance()
	case y.before(x):
		x.left = x.left.remove(y)
	default:
		x.right = x.right.remove(y)
	}
	return x.balance()
}

// balance brings x up to date, whose sides differ by two at most.
func (x *Subscription) balance() *Subscription {
	switch d := x.left.tall() - x.right.tall(); {
	case d > 1:
		if x.left.left.tall() < x.left.right.tall() {
			x.left = x.left.turnLeft()
		}
		return x.turnRight()
	case d < -1:
		if x.right.right.tall() < x.right.left.tall() {
			x.right = x.right.turnRight()
		}
		return x.turnLeft()
	}
	x.measure()
	return x
}

func (x *Subscription) turnLeft() *Subscription {
	y := x.right
	x.right, y.left = y.left, x
	x.measure()
	y.measure()
	return y
}

func (x *Subscription) turnRight() *Subscription {
	y := x.left
	x.left, y.right = y.right, x
	x.measure()
	y.measure()
	return y
}

func (x *Subscription) measure() {
	x.height, x.reach = 1, x.Range.Upper
	for _, y := range [...]*Subscription{x.left, x.right} {
		if y != nil {
			x.height, x.reach = max(x.height, y.height+1), max(x.reach, y.reach)
		}
	}
}

// A Matching finds the subscriptions that are to be told of an event part by part, while
// others come and go. The zero value is at the beginning.
type Matching struct {
	at          mark
	begun, done bool
}

// A mark is the place of a subscription in the tree.
type mark struct {
	lower  uint32
	serial uint64
}

// Done reports whether all were found.
func (m *Matching) Done() bool { return m.done }

// Next appends to dst the next of the subscriptions that are to be told of ev. It looks at up
// to n, by lower bound, and returns at how many it did.
func (m *Matching) Next(s *Subscriptions, dst []*Subscription, ev Event, n int) (all []*Subscription, looked int) {
	x := &s.search
	*x = overlap{Matching: m, ev: ev, left: n, dst: dst}
	m.done = x.visit(s.types[ev.Binding.Range.Type])
	all, looked = x.dst, n-x.left
	*x = overlap{}
	return all, looked
}

// An overlap is what a search in a tree has found.
type overlap struct {
	*Matching
	ev   Event
	left int
	dst  []*Subscription
}

// visit searches from x down, and reports whether it came to the end.
func (o *overlap) visit(x *Subscription) bool {
	r := o.ev.Binding.Range
	if x == nil || x.reach < r.Lower {
		return true
	}
	at := mark{x.Range.Lower, x.serial}
	if ahead := !o.begun || cmp.Or(cmp.Compare(o.at.lower, at.lower), cmp.Compare(o.at.serial, at.serial)) < 0; ahead {
		if !o.visit(x.left) {
			return false
		}
		if x.Range.Lower > r.Upper {
			return true
		}
		if x.Range.Upper >= r.Lower {
			if o.left == 0 {
				return false
			}
			o.left--
			o.begun, o.at = true, at
			if x.wants(o.ev) {
				o.dst = append(o.dst, x)
			}
		}
	} else if x.Range.Lower > r.Upper {
		return true
	}
	return o.visit(x.right)
}
