// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// bcastWindow is how many broadcast packets may be not acknowledged by all.
const bcastWindow = 50

// A listener is a node that answers for the broadcasts of another: since it was sent
// the opening, until contact is lost.
type listener struct {
	ack frame.Seq
	got map[frame.Seq]bool // packets behind it that it reported to have
}

// A sending is one packet of the broadcast link, as it was sent last.
type sending struct {
	by      [clusterNets]frame.MAC // stations of the sender's that sent it, one in each network
	n       int
	reports int // that it is missing, which it was not sent again for
}

// listens is called for the opening that e sends.
func (c *Conversation) listens(e *endpoint, last frame.Seq) {
	if !e.began || e.from == e.to {
		return
	}
	s := c.station(e.from)
	if s.listeners == nil {
		s.listeners = map[frame.NodeAddr]*listener{}
	}
	s.listeners[e.to] = &listener{ack: last}
	s.pieces = pieces{} // what was under way for others, who left, may end here
}

// unlistened is called when e, that was up, begins a new session: its node may have lost
// contact with the other one, and neither may answer for the other's broadcasts. With
// another link between them that is not known.
func (c *Conversation) unlistened(e *endpoint) {
	delete(c.station(e.from).listeners, e.to)
	delete(c.station(e.to).listeners, e.from)
}

// anew is called when a station begins anew, as the node now that was another before, or
// the same.
func (c *Conversation) anew(before, now frame.NodeAddr) {
	for _, s := range c.stations {
		delete(s.listeners, before)
		delete(s.listeners, now)
	}
	s := c.station(now)
	s.listeners, s.updates, s.restarted = nil, nil, true
}

// listening reports whether what a node says of another's broadcasts is known to be of
// those that were heard, and not of some before it began anew.
func (s *station) listening(a frame.NodeAddr) bool { return !s.restarted || s.listeners[a] != nil }

// heardBy takes an acknowledgement of r's broadcasts that e sends.
func (c *Conversation) heardBy(e, r *endpoint, ack frame.Seq) {
	s := c.station(r.from)
	l := s.listeners[e.from]
	if l == nil || !ack.After(l.ack) || !ack.Before(s.next) {
		return
	}
	for l.ack != ack {
		l.ack++
		delete(l.got, l.ack)
	}
}

// reported takes what a STATE of e says is missing of r's broadcasts.
func (c *Conversation) reported(e, r *endpoint, st frame.State) {
	s := c.station(r.from)
	if st.BcastAckInvalid() || st.BcastGap() == 0 || !s.nextKnown {
		return
	}
	at := s.miss(st.BcastAck(), int(st.BcastGap()))
	g, _, err := st.GapAcks(len(st.Data()) > 0 && st.GuessRecord())
	if err != nil {
		return
	}
	l := s.listeners[e.from]
	for i := range g.Bcast().Len() {
		b := g.Bcast().At(i)
		for at != b.Ack && at.Before(b.Ack) && b.Ack.Before(s.next) {
			at++
			if l != nil {
				if l.got == nil {
					l.got = map[frame.Seq]bool{}
				}
				l.got[at] = true
			}
		}
		at = s.miss(b.Ack, int(b.Gap))
	}
}

// miss notes that n packets behind one are missing, and returns the last of them.
func (s *station) miss(behind frame.Seq, n int) frame.Seq {
	for range n {
		behind++
		if x := s.sendings[behind]; x != nil {
			x.reports++
		}
	}
	return behind
}

// sends holds a broadcast packet that was not sent before to the window.
func (c *Conversation) sends(s *station, q frame.Seq, src frame.MAC) {
	if s.sendings == nil {
		s.sendings = map[frame.Seq]*sending{}
	}
	s.sendings[q] = &sending{by: [clusterNets]frame.MAC{src}, n: 1}
	delete(s.sendings, q-kept)
	if c.Slack > 0 || s.over != nil {
		return // the news that a node is lost may wait for another device
	}
	if n := owed(s.listeners, q); n > bcastWindow {
		s.over = &overrun{q: q, at: c.now, then: map[frame.NodeAddr]*listener{}, they: maps.Clone(s.listeners)}
		for a, l := range s.listeners {
			s.over.then[a] = &listener{l.ack, maps.Clone(l.got)}
		}
	}
}

// owed counts the packets up to q that some listener has not acknowledged.
func owed(all map[frame.NodeAddr]*listener, q frame.Seq) (n int) {
	from := q - 1
	for _, l := range all {
		if l.ack.Before(from) {
			from = l.ack
		}
	}
	for x := from + 1; x.AtMost(q); x++ {
		for _, l := range all {
			if x.After(l.ack) && !l.got[x] {
				n++
				break
			}
		}
	}
	return n
}

// An overrun is a packet beyond the window, unless the sender says in the same moment
// that it has lost whoever it waited for. One short of memory may not be able to say that:
// it is one when it goes on in the session with whoever it waited for.
type overrun struct {
	q          frame.Seq
	at         time.Duration
	then, they map[frame.NodeAddr]*listener // as they were, and are
	with       map[frame.NodeAddr]bool      // whom it went on with since
}

// wentOn is called for what e sends in a session that is not new.
func (c *Conversation) wentOn(e *endpoint) {
	if o := c.station(e.from).over; o != nil && c.now > o.at {
		if o.with == nil {
			o.with = map[frame.NodeAddr]bool{}
		}
		o.with[e.to] = true
	}
}

// overruns looks whether packets were beyond the window.
func (c *Conversation) overruns(s *station) {
	o := s.over
	if o == nil || o.at == c.now {
		return
	}
	for a, l := range o.they {
		if s.listeners[a] != l {
			delete(o.then, a)
		}
	}
	n := owed(o.then, o.q)
	if n <= bcastWindow {
		s.over = nil
		return
	}
	last := frame.NodeAddr(0) // of those that have least, the one of the lowest address
	for a, l := range o.then {
		if x := o.then[last]; x == nil || l.ack.Before(x.ack) || l.ack == x.ack && a < last {
			last = a
		}
	}
	if c.Owed && !o.with[last] {
		return
	}
	s.over = nil
	c.add("bcast-window", "w2 15:0", "packet %d was sent, with %d not acknowledged by all; %v has them up to %d", o.q, n-1, last, o.then[last].ack)
}

// repeats holds a broadcast packet that was sent before to the reports.
func (c *Conversation) repeats(s *station, q frame.Seq, src frame.MAC) {
	x := s.sendings[q]
	if x == nil {
		return
	}
	if x.n < len(x.by) && !slices.Contains(x.by[:x.n], src) {
		x.by[x.n] = src // in another network
		x.n++
		return
	}
	// A report may take its time, and none has two repetitions.
	c.addIf(x.reports == 0 && c.Slack == 0, "bcast-missing", "w2 15:0", "packet %d again, more often than somebody missed it", q)
	*x = sending{by: [clusterNets]frame.MAC{src}, n: 1, reports: max(0, x.reports-1)}
}
