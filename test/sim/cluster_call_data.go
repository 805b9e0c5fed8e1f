// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// write writes what is left of a burst, until it is turned away.
func (s *side) write() {
	t, c := s.t, s.t.m.c
	if s.done {
		return
	}
	s.waits = waitNothing
	t.eng.Hold(t.held)
	for turn := 0; s.job != nil; turn++ {
		if turn == 32 {
			s.waits = waitTurn
			t.eng.Quit(c.clock.now, &s.ticket)
			c.clock.after(1+c.upTo(time.Millisecond), func() {
				if !s.done && !t.dead && s.waits == waitTurn {
					t.turn(s.write)
				}
			})
			return
		}
		err := s.writeOne()
		var full *engine.WindowFull
		switch {
		case err == nil:
			continue
		case passes(err):
			s.waits = waitRoom
			c.report.CallWaits++
			return
		case errors.As(err, &full):
			s.waits = waitWindow
			c.report.WindowWaits++
			s.checkWindow(full)
		default: // it has ended, and is told so
			if s.e.State() == engine.Established {
				c.violate("connections", "call %d: %v writes: %v", s.c.id, s.e.Addr(), err)
			}
			s.job = nil
		}
		t.eng.Quit(c.clock.now, &s.ticket)
		return
	}
	t.eng.Quit(c.clock.now, &s.ticket)
}

// writeOne writes the next message of a burst, or again the one that was turned away.
func (s *side) writeOne() error {
	t, j, out := s.t, s.job, s.out()
	if j.tried == 0 {
		j.tried = 1 + t.m.c.work.IntN(j.size)
		if j.size == frame.MaxPayload && t.m.c.work.IntN(2) == 0 {
			j.tried = j.size
		}
	}
	t.eng.SendAs(&s.ticket)
	err := s.e.Write(t.m.c.clock.now, out.data(j.tried))
	t.eng.SendAs(nil)
	if err != nil {
		return err
	}
	t.m.c.report.CallMessages++
	t.m.c.report.CallBytes += uint64(j.tried)
	out.add(j.tried)
	if j.tried, j.left = 0, j.left-1; j.left == 0 {
		s.job = nil
	}
	return nil
}

// checkWindow holds what a full window says to what is known.
func (s *side) checkWindow(w *engine.WindowFull) {
	c, o := s.t.m.c, s.peerSide()
	shut := o != nil && (o.closed != notClosed || o.e.State() == engine.Ended) && w.Unacked == 0 && w.Window == -1 // its end has come, and may have overtaken data
	if w.Peer != s.e.Peer() || w.Unacked <= w.Window || w.Window <= 0 && !shut {
		c.violate("connections", "call %d: %v has a full window: %v", s.c.id, s.e.Addr(), w)
	}
	if o != nil && w.Blocks != (s.t.blocks() && o.t.blocks()) {
		c.violate("connections", "call %d: %v counts blocks: %v, its node can: %v, the other's: %v", s.c.id, s.e.Addr(), w.Blocks, s.t.blocks(), o.t.blocks())
	}
	if !w.Blocks {
		c.report.MessageWaits++
	}
}

// blocks reports whether a node counts blocks on connections.
func (t *term) blocks() bool { return !t.m.noBlocks }

// readSoon has a side read, at once unless it is slow. When there is peace all are quick.
func (s *side) readSoon() {
	c := s.t.m.c
	switch {
	case s.done || s.soon || s.e == nil || s.e.Pending() == 0 && s.e.State() != engine.Ended:
	case c.clock.now < s.resting:
		s.soon = true
		c.clock.at(s.resting, func() {
			s.soon = false
			if !s.done && !s.t.dead {
				s.t.turn(s.readSoon)
			}
		})
	case s.every == 0 || !c.busy:
		s.read(1 << 30)
	default:
		s.soon = true
		c.clock.after(s.every, func() {
			s.soon = false
			if !s.done && !s.t.dead {
				s.t.turn(func() {
					s.read(s.some)
					s.readSoon()
				})
			}
		})
	}
}

// read reads as many messages as it may, and the end.
func (s *side) read(most int) {
	c := s.t.m.c
	for range most {
		room := len(c.buf)
		if c.work.IntN(2) == 0 && s.stream || c.work.IntN(40) == 0 {
			room = 1 + c.work.IntN(room)
			if c.work.IntN(2) == 0 {
				room = 1 + c.work.IntN(100)
			}
		}
		n, size, ok := s.e.Read(c.clock.now, c.buf[:room])
		if !ok {
			break
		}
		c.note('d', s.t.m.idx, c.buf[:n], uint64(s.c.id))
		s.took(c.buf[:n], size, room)
	}
	if s.e.Pending() == 0 && s.e.State() == engine.Ended {
		s.ended()
	}
}

// took checks what was read.
func (s *side) took(data []byte, size, room int) {
	c, in := s.t.m.c, s.in()
	c.report.CallRead += uint64(size)
	switch {
	case in.read+size > in.sent:
		c.violate("connections", "call %d: %v read %d bytes behind %d, of %d sent", s.c.id, s.e.Addr(), size, in.read, in.sent)
	case len(data) != min(size, room) || size == 0:
		c.violate("connections", "call %d: %v read %d bytes of %d, with room for %d", s.c.id, s.e.Addr(), len(data), size, room)
	case !bytes.Equal(data, patternAt(in.start+in.read, len(data))):
		c.violate("connections", "call %d: %v read %d bytes behind %d that were not sent there", s.c.id, s.e.Addr(), size, in.read)
	case !s.stream && !s.peerSide().stream && in.sizes[in.next] != size: // a stream may join short ones
		c.violate("connections", "call %d: %v read a message of %d bytes, the %d. was of %d", s.c.id, s.e.Addr(), size, in.next, in.sizes[in.next])
	}
	in.read += size
	in.next++
}

// ended is called when a side has read all, and the end.
func (s *side) ended() {
	c, x, o := s.t.m.c, s.c, s.peerSide()
	end, ok := s.e.Err().(*engine.ConnError)
	if !ok {
		c.violate("connections", "call %d: %v ended for %v", x.id, s.e.Addr(), s.e.Err())
		end = &engine.ConnError{}
	}
	c.note('x', s.t.m.idx, nil, uint64(x.id)<<8|uint64(end.Why))
	c.tracef("node %d: call %d, %v ended: %v", s.t.m.idx, x.id, s.e.Addr(), end)
	s.closed = closedEarly
	bad := func(format string, a ...any) {
		c.violate("connections", "call %d: %v: %v: "+format, append([]any{x.id, s.e.Addr(), end}, a...)...)
	}
	switch end.Why {
	case engine.EndRefused:
		c.report.Refused++
		if end.Code == frame.Overload || s.up || o != nil {
			bad("accepted %v", o != nil)
		} else if s.c.at.open() && s.e.Peer() == s.c.at.e.Addr() {
			bad("%v listens", s.e.Peer())
		}
	case engine.EndTimeout:
		c.report.Timeouts++
		if late := c.clock.now - s.began - s.timeout(); late < 0 || s.up {
			bad("%v too early, established %v", -late, s.up)
		}
	case engine.EndShutdown:
		c.report.Shutdowns++
		if o == nil || o.closed != closedInOrder {
			bad("the other one did not close")
		}
		s.complete(bad)
	case engine.EndReset:
		c.report.Resets++
		if end.Code != frame.NoPort || o == nil || o.closed != aborted && o.closed != closedEarly && o.e.State() != engine.Ended && o.e.Unsent() == 0 {
			bad("the other one did not abort")
		}
		s.cutShort(bad)
	case engine.EndLost:
		c.report.CallsLost++
		if s.up && s.t.lost[s.e.Peer().Node] == s.lost {
			bad("and it was not")
		}
	default:
		bad("the other one answers always")
	}
	s.end = end
	s.e.Close(c.clock.now)
	s.over()
}

// timeout is how long a dial may take.
func (s *side) timeout() time.Duration {
	if s.limit == 0 {
		return engine.DefaultConnTimeout
	}
	return s.limit
}

// cutShort looks whether all was read before a reset that comes in its place, but for what
// the other end says that it could not send.
func (s *side) cutShort(bad func(string, ...any)) {
	c, in, o := s.t.m.c, s.in(), s.peerSide()
	c.report.CallsWhole++
	if o != nil && in.read+o.e.Unsent() != in.sent {
		bad("read %d bytes of %d, the other one says %d are unsent", in.read, in.sent, o.e.Unsent())
	}
}

// complete looks whether all was read before the end, that is told in its place.
func (s *side) complete(bad func(string, ...any)) {
	c, in := s.t.m.c, s.in()
	c.report.CallsWhole++
	if in.read != in.sent {
		bad("read %d bytes of %d", in.read, in.sent)
	}
}
