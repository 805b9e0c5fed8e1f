// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A station is what one node said to all.
type station struct {
	addr frame.NodeAddr
	caps frame.Capabilities
	told bool // caps counts

	next       frame.Seq // number of the next packet on the broadcast link
	nextKnown  bool
	mayRestart bool         // a link went down since the last packet: it may be the last
	mayBegin   bool         // it said that it sent nothing, now or before that waited
	macs       [2]frame.MAC // its stations
	restarted  bool         // it counted from the first number again, or began anew
	before     frame.Seq    // next, before what was heard at the same time
	at         time.Duration
	claim      frame.Seq // it says that it sent up to here, which may be still to come
	top        frame.Seq // the highest that it said; counts while it is above next
	claimed    bool
	claimedAt  time.Duration
	sums       map[frame.Seq]uint32
	pieces     pieces
	listeners  map[frame.NodeAddr]*listener
	sendings   map[frame.Seq]*sending
	over       *overrun

	sent      returnable
	published map[frame.NameItem]bool
	updates   map[frame.Seq]uint32 // sums of the latest
	bulk      bool                 // a whole bulk of its names was heard
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
	if s.nextKnown && q == c.first() && s.next != q && (s.mayRestart || s.mayBegin) && s.sums[q] != content(m.Bytes()) {
		s.restart(q)
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
		late := c.Slack > 0 && c.networks(s.addr) > 1 // those before wait in another network, or were lost with it
		c.addIf(!late, "bcast-seq", "w2 15:0", "%d, want %d", q, s.next)
		s.pieces = pieces{}
	}
	if s.at != c.now {
		s.before, s.at = s.next, c.now
	}
	s.next, s.mayRestart = q+1, false
	if s.top.Before(q) {
		s.top = q
	}
	s.sums = remember(s.sums, q, m.Bytes())
	c.sends(s, q, src)
	c.carried(&endpoint{endKey: endKey{way: way{from: s.addr}}}, &s.pieces, m)
}

func (s *station) restart(next frame.Seq) {
	s.next, s.nextKnown, s.mayRestart, s.mayBegin = next, true, false, false
	s.before, s.top, s.claimed, s.restarted = next, next-1, false, true
	s.sums, s.pieces, s.listeners, s.sendings, s.over = nil, pieces{}, nil, nil, nil
}

// lastBcast holds what a node says it last sent over the broadcast link to what
// it did send; opening says that the link is not open yet for whom it says so. Where it has two networks neither waits for the other: a packet of the
// same time may be heard on the other side of that.
func (c *Conversation) lastBcast(from frame.NodeAddr, last frame.Seq, two, opening bool) {
	s := c.station(from)
	switch {
	case opening && last.After(s.next-1) && s.nextKnown && (len(s.listeners) == 0 || c.Slack > 0):
		s.restart(last + 1) // what had numbers when the last listener left was dropped
	case !s.nextKnown:
		s.next, s.nextKnown, s.top = last+1, true, last
	case last+1 == s.next:
	case last == c.first()-1 && two && c.Slack > 0 && !s.mayRestart:
		s.mayBegin = true // either this waited, or a packet did that came since a link went down
	case last == c.first()-1 && (s.mayRestart || c.Slack > 0): // or what waited has come since
		s.restart(c.first())
	case two && last.Before(s.next) && (c.Slack > 0 || s.at == c.now && !last.Before(s.before-1)):
	case two && last.After(s.next-1):
		if !s.top.After(last) {
			s.top = last
		}
		if !s.claimed {
			s.claim, s.claimed, s.claimedAt = last, true, c.now
		}
	default:
		c.add("last-bcast", "w4 31:16", "%d, want %d", last, s.next-1)
	}
}

// most is the last packet that the node sent, or says so.
func (s *station) most() frame.Seq {
	if s.top.After(s.next - 1) {
		return s.top
	}
	return s.next - 1
}

// claims looks whether what a node said to have sent has been heard by now, and whether
// what it did send was within the window.
func (c *Conversation) claims(from frame.NodeAddr) {
	s := c.station(from)
	c.overruns(s)
	if !s.claimed || c.now-s.claimedAt <= c.Slack {
		return
	}
	s.claimed = false
	c.addIf(s.claim.After(s.next-1), "last-bcast", "w4 31:16", "%d, of packets up to %d", s.claim, s.next-1)
}

// networks is in how many networks a node has said anything on a link, 2 for more.
func (c *Conversation) networks(a frame.NodeAddr) int {
	s := c.station(a)
	switch {
	case s.macs[0] == frame.MAC{}:
		return 0
	case s.macs[1] == frame.MAC{}:
		return 1
	}
	return 2
}

// speaks notes a station that a node speaks from.
func (c *Conversation) speaks(a frame.NodeAddr, src frame.MAC) {
	s := c.station(a)
	for i := range s.macs {
		if s.macs[i] == src {
			return
		}
		if s.macs[i] == (frame.MAC{}) {
			s.macs[i] = src
			return
		}
	}
}
