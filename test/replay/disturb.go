// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
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
