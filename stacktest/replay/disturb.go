// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// disturb does to a recorded frame what the network did to it between the place where
// it was recorded and the node.
func (s *side) disturb(c *Call) error {
	i := slices.IndexFunc(s.in, func(f Frame) bool { return f.No == c.number })
	switch {
	case i < 0 && s.until != 0:
		return nil // it is left out
	case i < 0:
		return fmt.Errorf("%s: frame %d does not go to the node", c.Verb, c.number)
	}
	f := s.in[i]
	switch c.Verb {
	case "lost":
		s.in = slices.Delete(s.in, i, i+1)
	case "late":
		s.in = slices.Delete(s.in, i, i+1)
		s.insert(f, c)
	case "doubled":
		s.insert(f, c)
	}
	return nil
}

// A drop is a time in which nothing that the node sends on a bearer is recorded.
type drop struct {
	bearer   int
	from, to time.Duration
}

// hasten gives the own frames of a slow interface the times when they were sent. What
// is on its way there when the delay changes is lost. A capture that ends before it does
// ends, for the node, with the last frame it sent.
func (s *side) hasten(slow []Call) error {
	for i, c := range slow {
		b := slices.IndexFunc(s.bearers, func(b attachment) bool { return b.Name == c.iface })
		if b < 0 {
			return fmt.Errorf("line %d of the calls: slow: there is no interface %s", c.Line, c.iface)
		}
		until := time.Duration(math.MaxInt64)
		if k := slices.IndexFunc(slow[i+1:], func(next Call) bool { return next.iface == c.iface }); k >= 0 {
			until = slow[i+1+k].At
			s.dropped = append(s.dropped, drop{bearer: b, from: max(c.At, until-c.delay), to: until})
		}
		last := time.Duration(0)
		for k := range s.own {
			f := &s.own[k]
			if f.bearer == b && f.At-c.delay >= c.At && f.At < until {
				f.At -= c.delay
			}
			last = max(last, f.At)
		}
		if until == math.MaxInt64 && c.delay > 0 {
			s.end = last
		}
	}
	slices.SortStableFunc(s.own, func(a, b Frame) int { return cmp.Compare(a.At, b.At) })
	return nil
}

// insert has a frame arrive later than it was recorded.
func (s *side) insert(f Frame, c *Call) {
	f.At += c.delay
	at, _ := slices.BinarySearchFunc(s.in, f.At, func(x Frame, at time.Duration) int {
		if x.At <= at {
			return -1
		}
		return 1
	})
	s.in = slices.Insert(s.in, at, f)
}
