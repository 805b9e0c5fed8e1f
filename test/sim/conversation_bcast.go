// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// A station is what one node said to all.
type station struct {
	addr frame.NodeAddr
	caps frame.Capabilities
	told bool // caps counts

	next       frame.Seq // number of the next packet on the broadcast link
	nextKnown  bool
	mayRestart bool // a link went down since the last packet: it may be the last
	sums       map[frame.Seq]uint32
	pieces     pieces
	listeners  map[frame.NodeAddr]*listener
	sendings   map[frame.Seq]*sending

	sent      returnable
	published map[frame.NameItem]bool
	bulk      bool // a whole bulk of its names was heard
}

// station returns the node of an address, new if need be.
func (c *Conversation) station(a frame.NodeAddr) *station {
	s := c.stations[a]
	if s == nil {
		s = &station{addr: a}
		c.stations[a] = s
	}
	return s
}

// caps returns what a node announced.
func (c *Conversation) caps(a frame.NodeAddr) (frame.Capabilities, bool) {
	s := c.station(a)
	return s.caps, s.told
}

// broadcast holds a packet of the broadcast link, from a station, to the rules.
func (c *Conversation) broadcast(src frame.MAC, m frame.Message) {
	if m.User() == frame.UserBroadcast {
		return // an old report, without a number
	}
	s, q := c.station(m.Prev()), m.Seq()
	if s.nextKnown && q == 1 && s.next != 1 && s.mayRestart {
		s.restart(1)
	}
	if !s.nextKnown {
		return
	}
	if q.Before(s.next) {
		sum, ok := s.sums[q]
		c.addIf(ok && sum != content(m.Bytes()), "bcast-repeat", "w2 15:0", "broadcast %d is not what it was", q)
		c.repeats(s, q, src)
		return
	}
	if q != s.next {
		c.add("bcast-seq", "w2 15:0", "%d, want %d", q, s.next)
		s.pieces = pieces{}
	}
	s.next, s.mayRestart = q+1, false
	s.sums = remember(s.sums, q, m.Bytes())
	c.sends(s, q, src)
	c.carried(&endpoint{endKey: endKey{way: way{from: s.addr}}}, &s.pieces, m)
}

func (s *station) restart(next frame.Seq) {
	s.next, s.nextKnown, s.mayRestart = next, true, false
	s.sums, s.pieces, s.listeners, s.sendings = nil, pieces{}, nil, nil
}

// lastBcast holds what a node says it last sent over the broadcast link to what
// it did send.
func (c *Conversation) lastBcast(from frame.NodeAddr, last frame.Seq) {
	s := c.station(from)
	switch {
	case !s.nextKnown:
		s.next, s.nextKnown = last+1, true
	case last+1 == s.next:
	case last == 0 && s.mayRestart:
		s.restart(1)
	default:
		c.add("last-bcast", "w4 31:16", "%d, want %d", last, s.next-1)
	}
}
