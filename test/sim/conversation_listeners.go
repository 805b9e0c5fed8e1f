// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// bcastWindow is how many broadcast packets may be not acknowledged by all.
const bcastWindow = 50

// A listener is a node that answers for the broadcasts of another: since it was sent
// the opening, until contact is lost.
type listener struct {
	ack frame.Seq
	got map[frame.Seq]bool // packets behind it that it reported to have
}

// A sending is one packet of the broadcast link, since it was last reported missing.
type sending struct {
	by      [2]frame.MAC // stations of the sender's that sent it, one in each network
	n       int
	missing bool // reported so behind that
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
}

// unlistened is called when e begins a new session: unless its node has another link
// to the other one, neither answers for the other's broadcasts.
func (c *Conversation) unlistened(e *endpoint) {
	for k, o := range c.ends {
		if o != e && o.up && k.from == e.from && k.to == e.to {
			return
		}
	}
	delete(c.station(e.from).listeners, e.to)
	delete(c.station(e.to).listeners, e.from)
}

// heardBy takes an acknowledgement of r's broadcasts that e sends.
func (c *Conversation) heardBy(e, r *endpoint, ack frame.Seq) {
	s := c.station(r.from)
	l := s.listeners[e.from]
	if l == nil || e.stale || !ack.After(l.ack) || !ack.Before(s.next) {
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
			if l != nil && !e.stale {
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
			x.missing = true
		}
	}
	return behind
}

// sends holds a broadcast packet that was not sent before to the window.
func (c *Conversation) sends(s *station, q frame.Seq, src frame.MAC) {
	if s.sendings == nil {
		s.sendings = map[frame.Seq]*sending{}
	}
	s.sendings[q] = &sending{by: [2]frame.MAC{src}, n: 1}
	delete(s.sendings, q-kept)
	if c.Slack > 0 {
		return // the news that a node is lost may wait for another device
	}
	from := q - 1
	for _, l := range s.listeners {
		if l.ack.Before(from) {
			from = l.ack
		}
	}
	n := 0
	for x := from + 1; x.AtMost(q); x++ {
		for _, l := range s.listeners {
			if x.After(l.ack) && !l.got[x] {
				n++
				break
			}
		}
	}
	c.addIf(n > bcastWindow, "bcast-window", "w2 15:0", "packet %d, with %d not acknowledged by all behind %d", q, n-1, from)
}

// repeats holds a broadcast packet that was sent before to the reports.
func (c *Conversation) repeats(s *station, q frame.Seq, src frame.MAC) {
	x := s.sendings[q]
	if x == nil {
		return
	}
	if x.missing {
		*x = sending{by: [2]frame.MAC{src}, n: 1}
		return
	}
	for _, by := range x.by[:x.n] {
		if by == src {
			c.addIf(c.Slack == 0, "bcast-missing", "w2 15:0", "packet %d again, which nobody has missed since", q)
			return
		}
	}
	if x.n < len(x.by) {
		x.by[x.n] = src
		x.n++
	}
}
