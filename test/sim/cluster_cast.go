// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// What must hold of multicasts. A socket reads none twice. It reads every one sent to a
// range that overlaps what it was bound to, if the sender's node knew of that, the binding
// stayed, and contact was not lost. It reads those of one sender in the order in which
// they were sent, as far as the protocol says so: see ordered.

// A cast is a multicast that was sent.
type cast struct {
	message
	r    frame.Range
	from *sock
	sent bool // it was accepted, and not turned away
	turn int  // how often its sender had changed the method, itself included
	at   time.Duration
	want []castTo
}

// A castTo is a socket that should read it.
type castTo struct {
	to   *sock
	lost int    // how often contact with its node had been lost
	key  uint32 // of the binding that makes it one
}

// A castJob is a burst of multicasts, to two ranges in turns.
type castJob struct {
	left   int
	size   int
	ranges [2]frame.Range
	tried  *cast // turned away, to be sent again
}

// begin begins a burst of multicasts.
func (s *sock) begin() {
	c := s.t.m.c
	if s.job != nil {
		return
	}
	j := &castJob{left: 1 + c.work.IntN(20), size: []int{16, 64, 200, 1400}[c.work.IntN(4)]}
	if c.work.IntN(40) == 0 {
		j.left *= 20
	}
	if c.work.IntN(12) == 0 {
		j.left, j.size = 1+c.work.IntN(4), []int{4000, 20_000, frame.MaxPayload}[c.work.IntN(3)]
	}
	for i := range j.ranges {
		switch c.work.IntN(4) {
		case 0:
			j.ranges[i] = c.castRange(20)
		case 1:
			j.ranges[i] = frame.Range{Type: castType, Upper: 100}
		case 2: // all sockets of the cluster
			j.ranges[i] = frame.Range{Type: oneType, Upper: 1<<32 - 1}
		default: // one socket
			if t := c.members[c.work.IntN(len(c.members))].term; t != nil && len(t.socks) > 0 {
				j.ranges[i] = t.socks[c.work.IntN(len(t.socks))].one
			} else {
				j.ranges[i] = s.one
			}
		}
	}
	s.job = j
	s.send()
}

// send sends what is left of a burst, until it is turned away.
func (s *sock) send() {
	t, c := s.t, s.t.m.c
	if t.dead || s.closed {
		return
	}
	t.eng.Hold(t.held)
	for turn := 0; s.job != nil; turn++ {
		if turn == 32 {
			s.sendLater(c.upTo(time.Millisecond))
			break
		}
		var blocked *engine.Blocked
		switch err := s.sendOne(); {
		case err == nil:
		case errors.As(err, &blocked), errors.Is(err, engine.ErrMemory):
			c.report.Blocked++
			s.sendLater(c.upTo(5 * time.Millisecond))
			turn = -2
		default: // nobody is there
			s.job.tried = nil
			s.did()
		}
		if turn < 0 {
			break
		}
	}
	t.settle()
}

func (s *sock) sendLater(d time.Duration) { s.t.m.c.clock.after(d+1, s.send) }

// did counts one message of the burst.
func (s *sock) did() {
	s.job.tried = nil
	if s.job.left--; s.job.left <= 0 {
		s.job = nil
	}
}

// sendOne sends the next multicast of a burst, or the one that was turned away once
// more.
func (s *sock) sendOne() error {
	t, c, j := s.t, s.t.m.c, s.job
	x := j.tried
	if x == nil {
		c.nextID++
		x = &cast{message: message{id: c.nextID, size: max(4, 1+c.work.IntN(j.size))}, r: j.ranges[c.work.IntN(2)], from: s}
		c.casts = append(c.casts, x) // in the order of their numbers
	}
	if s.knew == nil {
		s.learn()
	}
	x.want = c.receivers(s, x.r)
	data := c.buf[:x.size]
	x.fill(data)
	before := t.eng.Counters()
	if err := s.e.SendRange(s.t.now(), x.r, data); err != nil {
		j.tried = x
		return err
	}
	x.sent, x.at = true, c.clock.now
	s.methodOf(x, before, t.eng.Counters())
	s.did()
	c.report.Casts++
	if x.size > 1400 {
		c.report.Fragmented++
	}
	c.tracef("node %d: %v multicasts %d, %d bytes, to %v, to be read by %d", t.m.idx, s.e.Addr(), x.id, x.size, x.r, len(x.want))
	return nil
}

// twinTime is how long a receiver waits for a twin.
const twinTime = 5 * time.Second

// methodOf notes how often the sender has changed the method by now.
func (s *sock) methodOf(x *cast, before, after engine.Counters) {
	replicast := after.Replicasts > before.Replicasts
	if (replicast || after.Broadcasts > before.Broadcasts) && replicast != s.replicast {
		s.replicast = replicast
		s.turns = append(s.turns, x)
	}
	x.turn = len(s.turns)
}

// ordered reports whether the protocol keeps two multicasts of one sender in order at a
// socket. It does if they go the same way, or if in between the sender turned from the way
// of the first with a message for that socket, for only who is sent that one waits for its
// twin. But twins cannot be told apart: a socket that missed one, for it was bound between
// the two, or because of contact that was lost or made, may take others for each other
// from then on. And nobody waits for a twin for ever: a broadcast link may stand still for
// longer. Source: docs/spec/04-broadcast.md §6.1.
func (s *sock) ordered(first, second *cast) bool {
	from := first.from
	if s.t == from.t {
		return true
	}
	if !s.steady || !from.knew[s] || s.t.lost[from.addr().Node] > 0 || from.t.lost[s.addr().Node] > 0 {
		return false
	}
	if (second.turn-first.turn)%2 == 0 {
		return true
	}
	if s.t.m.c.clock.now-second.at >= twinTime {
		return false
	}
	for k := first.turn + 1; k <= second.turn; k += 2 {
		if slices.ContainsFunc(from.turns[k-1].want, func(w castTo) bool { return w.to == s }) {
			return true
		}
	}
	return false
}

// learn notes, at the first multicast of a socket, who is known to its node.
func (s *sock) learn() {
	s.knew = map[*sock]bool{}
	for _, m := range s.t.m.c.members {
		if m.term == nil {
			continue
		}
		for _, o := range m.term.socks {
			all := true
			for _, b := range o.e.Bindings() {
				all = all && (s.t.told[b] || b.Scope == frame.NodeScope)
			}
			s.knew[o] = all
		}
	}
}

// receivers returns the sockets that must read what is sent now.
func (c *cluster) receivers(from *sock, r frame.Range) (all []castTo) {
	t := from.t
	for _, m := range c.members {
		if m.term == nil {
			continue
		}
		for _, s := range m.term.socks {
			for _, b := range s.e.Bindings() {
				if b.Range.Overlaps(r) && t.told[b] {
					all = append(all, castTo{s, t.lost[b.Socket.Node], b.Key})
					break
				}
			}
		}
	}
	return all
}

// readSoon has a socket read what was brought to it, at once unless it is slow.
func (s *sock) readSoon() {
	if s.every == 0 {
		s.read()
		return
	}
	if !s.soon {
		s.soon = true
		s.t.m.c.clock.after(s.every, func() {
			s.soon = false
			if !s.t.dead && !s.closed {
				s.read()
			}
		})
	}
}

// read reads all that waits.
func (s *sock) read() {
	c := s.t.m.c
	for s.e.Pending() > 0 {
		n, r, ok := s.e.Read(c.buf[:])
		if !ok {
			return
		}
		c.report.Read++
		c.note('r', s.t.m.idx, c.buf[:n], uint64(r.From.Port))
		s.took(c.buf[:n], r)
	}
}

// took checks a multicast that was read.
func (s *sock) took(data []byte, r engine.Received) {
	c := s.t.m.c
	x := c.castOf(data)
	who := s.e.Addr()
	switch {
	case x == nil || !x.sent || r.Error != frame.OK:
		c.violate("multicast", "%v read %d bytes of %v, error %v, that nobody sent", who, len(data), r.From, r.Error)
		return
	case !x.is(data, false) || r.From != x.from.addr() || r.Name != x.r:
		c.violate("multicast", "%v read %d of %v, sent to %v, otherwise: from %v, to %v, %d bytes of %d",
			who, x.id, x.from.addr(), x.r, r.From, r.Name, len(data), x.size)
		return
	}
	last := s.last[r.From]
	switch {
	case s.got[x.id]:
		c.violate("multicast", "%v read %d of %v twice", who, x.id, r.From)
	case x.id < last:
		for _, y := range c.casts {
			if y.id > x.id && y.from == x.from && s.got[y.id] && s.ordered(x, y) {
				c.violate("multicast", "%v read %d of %v behind %d", who, x.id, r.From, y.id)
				break
			}
		}
		c.report.Uncovered++
	}
	s.got[x.id] = true
	s.last[r.From] = max(last, x.id)
}

func (s *sock) addr() frame.SocketAddr { return s.e.Addr() }

// castOf finds the multicast that data is of, among those sent since the last rest.
func (c *cluster) castOf(data []byte) *cast {
	if len(data) < 4 {
		return nil
	}
	id := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
	lo, hi := 0, len(c.casts)
	for lo < hi {
		if i := (lo + hi) / 2; c.casts[i].id < id {
			lo = i + 1
		} else {
			hi = i
		}
	}
	if lo < len(c.casts) && c.casts[lo].id == id {
		return c.casts[lo]
	}
	return nil
}

// judge looks, when nothing is on its way any more, whether everybody read what they
// had to.
func (c *cluster) judge() {
	for _, x := range c.casts {
		for _, w := range x.want {
			t := x.from.t
			if !x.sent || t.dead || w.to.t.dead || w.to.closed || w.to.withdrawn[w.key] || t.lost[w.to.addr().Node] != w.lost {
				continue
			}
			c.report.Judged++
			if !w.to.got[x.id] {
				c.violate("multicast", "%v did not read %d of %v, %d bytes to %v, and there was contact all the time",
					w.to.addr(), x.id, x.from.addr(), x.size, x.r)
			}
		}
	}
	c.casts = nil
	for _, m := range c.members {
		for _, s := range m.term.socks {
			clear(s.got)
		}
		if n := m.term.eng.Counters().Drops[engine.DropOverload]; n > 0 {
			c.violate("multicast", "node %d had no room for %d messages", m.idx, n)
		}
	}
}
