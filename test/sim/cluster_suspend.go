// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// Times of suspensions.
const (
	suspendMeet   = 10 * time.Second // in which the nodes meet at first, and after a suspension
	suspendLong   = 12 * time.Hour   // longest that a node finds to have passed
	suspendStands = 5 * time.Second  // longest that it stands still for the others
)

// now is what a node's clock says: that of the network, and what passed while it was suspended.
func (t *term) now() time.Duration { return t.m.c.clock.now + t.ahead }

// due is when the network's clock says that the engine wants to be called.
func (t *term) due() time.Duration {
	if d := t.eng.Deadline(); d != flowctl.Never {
		return d - t.ahead
	}
	return flowctl.Never
}

// suspend is a round in which some members, or all, are suspended: each stands still for some
// seconds of the others', or for no time, as when all were suspended together, hears nothing
// meanwhile, and finds that hours have passed. Then contact returns in the time in which it was
// made; about as many frames are sent for each suspension as when all nodes met, or fewer; and
// contact ends once for each suspension of one of its ends at most: there is no storm.
func (c *cluster) suspend() {
	before := map[*term]map[frame.NodeAddr]int{}
	times, sum := make([]int, len(c.members)), 0
	all, begin := c.work.IntN(3) == 0, c.clock.now
	for i, m := range c.members {
		before[m.term] = map[frame.NodeAddr]int{}
		for a, n := range m.term.lost {
			before[m.term][a] = n
		}
		if !all && c.work.IntN(3) == 0 {
			continue
		}
		times[i]++
		sum++
		at, stands := begin, time.Duration(0)
		if !all {
			at, stands = begin+c.upTo(time.Second), c.upTo(suspendStands)
		}
		passes := time.Minute + c.upTo(suspendLong)
		c.clock.at(at, func() { m.term.sleep(stands, passes) })
	}
	c.storm = c.report.Frames + 2*c.met // contact lasts longer than while the nodes began
	if !all {
		c.storm = c.report.Frames + c.met*uint64(2+sum) // the others, too, look for each other
		c.run(time.Second + suspendStands)
	}
	c.run(suspendMeet)
	c.storm = 0
	c.report.Suspended += uint64(sum)
	if c.stop() {
		return
	}
	if !c.well() || !c.know() {
		c.violate("health", "%v after a suspension contact is not back", suspendMeet)
	}
	for i, m := range c.members {
		for j, o := range c.members {
			if n, most := m.term.lost[o.term.eng.Address()]-before[m.term][o.term.eng.Address()], times[i]+times[j]; i != j && n > most {
				c.violate("storm", "node %d lost contact with node %d %d times in %d suspensions", i, j, n, most)
			}
		}
	}
}

// sleep suspends a node.
func (t *term) sleep(stands, passes time.Duration) {
	c := t.m.c
	c.tracef("node %d is suspended for %v, stands for %v", t.m.idx, passes, stands)
	t.asleep = c.clock.now + stands
	c.clock.at(t.asleep, func() {
		for i := range t.rx {
			t.rx[i] = nil
		}
		t.ahead += passes
		t.wake()
	})
}
