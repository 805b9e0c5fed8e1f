// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// Accepted bytes have one owner. What Write has taken is read by the other end, or the end
// is an error there and the writer's side counts what is lost: the connection itself
// (Conn.Unsent) while its owner has it, the node (Counters.ClosedUnsent) after that. The
// number is never below what was lost.

// pauseMost is the longest time for which a reader stops.
const pauseMost = 20 * time.Second

// pauses has one side in twelve not read for longer than a dial or a kernel's shutdown
// waits, whether there is trouble or not.
func (s *side) pauses() {
	c := s.t.m.c
	if c.work.IntN(12) == 0 {
		s.resting = c.clock.now + 8*time.Second + c.upTo(pauseMost-8*time.Second)
		c.report.Pauses++
	}
}

// past keeps a side that is over until the account of its call can be drawn up.
func (t *term) past(s *side) {
	if s.e != nil && s.up {
		t.over = append(t.over, s)
	}
}

// checkUnsent draws up the accounts of calls that are over at both ends. It is called when
// the network has been quiet, so that everybody knows who is gone.
func (t *term) checkUnsent() {
	c := t.m.c
	left := t.over[:0]
	for _, s := range t.over {
		if o := s.peerSide(); o != nil && !o.done && !o.t.dead {
			left = append(left, s) // which another check complains of
			continue
		}
		s.account()
	}
	clear(t.over[len(left):])
	t.over = left
	lost, underWay := t.eng.UnsentBytes()
	if underWay != 0 {
		c.violate("connections", "node %d: %d bytes of connections are under way", t.m.idx, underWay)
	}
	if lost < t.mustLose {
		c.violate("connections", "node %d: counts %d bytes lost after Close, of closed connections %d were", t.m.idx, lost, t.mustLose)
	}
}

// account compares what a side says of what it wrote with what was read.
func (s *side) account() {
	c, o := s.t.m.c, s.peerSide()
	if o == nil {
		return
	}
	for o.t.dead && !o.done { // what came to a node that has crashed is not the writer's loss
		_, size, ok := o.e.Read(c.clock.now, c.buf[:])
		if !ok {
			o.done = true
			break
		}
		s.out().read += size
	}
	out := s.out()
	lost, said := out.sent-out.read, s.e.Unsent()
	if c.Mutation == ForgetLoss {
		said = 0
	}
	bad := func(what string) {
		c.violate("connections", "call %d: %v wrote %d bytes, of which %d were not read, and says %d are unsent: %s", s.c.id, s.e.Addr(), out.sent, lost, said, what)
	}
	end, ended := s.e.End()
	if s.closed == closedInOrder || s.closed == aborted {
		end, ended = engine.ConnError{}, false // it may have ended after that
	}
	// The other side would have read more, if it has not ended for another reason, which one that
	// does not read for a while need not have noticed when its node crashed.
	why, over := o.e.End()
	cut := o.closed == notClosed && (!over || why.Why == engine.EndLost) || o.end != nil && o.end.Why == engine.EndLost
	c.report.Accounts++
	switch {
	case said > out.sent:
		bad("more than there were")
	case ended && end.Unsent != said:
		bad("its end says something else")
	case ended && end.Why != engine.EndLost:
		if said > lost {
			bad("some were read")
		}
	case ended && cut:
		c.report.LostBytes += uint64(lost)
		if said < lost {
			bad("contact was lost")
		}
	case !ended && s.closed != closedEarly && cut:
		c.report.LostBytes += uint64(lost)
		s.t.mustLose += uint64(max(0, lost))
	}
}
