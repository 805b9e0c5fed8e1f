// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A card is what a station said in discovery.
type card struct {
	said      bool // what follows counts
	signature uint16
	caps      frame.Capabilities
	identity  frame.Identity
	hash      uint32
	addressed bool           // it has its address
	node      frame.NodeAddr // that address

	asked, tried askedBy
}

// askedBy is who a station last said it is, and when.
type askedBy [4]struct {
	addr frame.NodeAddr
	at   time.Duration
	ok   bool
}

// put notes that the station named addr at now.
func (a *askedBy) put(addr frame.NodeAddr, now time.Duration) {
	i := 0
	for j := range a {
		if a[j].ok && a[j].addr == addr {
			i = j
			break
		}
		if a[j].at < a[i].at || a[i].ok && !a[j].ok {
			i = j
		}
	}
	a[i].addr, a[i].at, a[i].ok = addr, now, true
}

// since reports whether the station named addr at least at from.
func (a *askedBy) since(addr frame.NodeAddr, from time.Duration) bool {
	for _, x := range a {
		if x.ok && x.addr == addr && x.at >= from {
			return true
		}
	}
	return false
}

func (c *Conversation) card(m frame.MAC) *card {
	s := c.cards[m]
	if s == nil {
		s = &card{}
		c.cards[m] = s
	}
	return s
}

// discovery holds a discovery message to the rules.
func (c *Conversation) discovery(src, dst frame.MAC, m frame.Message) {
	d, err := frame.ParseMediaDiscovery(m)
	if err != nil || d.NetID() != c.netid {
		return
	}
	s := c.card(src)
	if s.said && s.signature == d.Signature() {
		same := s.caps == d.Capabilities() && s.identity == d.Identity() && s.hash == d.NetHash()
		c.addIf(!same, "announced", "w1, w13", "capabilities %v, identity %v, hash %x; were %v, %v, %x",
			d.Capabilities(), d.Identity(), d.NetHash(), s.caps, s.identity, s.hash)
	} else {
		s.addressed = false
		if !c.lives(d.Prev(), d.Signature()) {
			c.station(d.Prev()).claimed = false // what it said to have sent went with its last life
		}
		c.anew(s.node, d.Prev())
	}
	s.said, s.signature, s.caps, s.identity, s.hash = true, d.Signature(), d.Capabilities(), d.Identity(), d.NetHash()
	from := c.now - time.Second - c.Slack
	early := from < c.start // it may have asked before anybody listened
	switch d.Type() {
	case frame.Request:
		s.asked.put(d.Prev(), c.now)
	case frame.Response:
		asker, known := c.cards[dst]
		c.addIf(!early && (!known || !asker.asked.since(d.Dest(), from)), "answer-asked", "w2", "%v at %v did not ask", d.Dest(), dst)
	case frame.Trial:
		c.addIf(s.addressed, "trial-after", "w1 31:28", "%v has an address", src)
		s.tried.put(d.Prev(), c.now)
		return
	case frame.TrialFail:
		asker, known := c.cards[dst]
		c.addIf(!early && (!known || !asker.tried.since(d.Dest(), from)), "trial-refused", "w2", "%v at %v did not try", d.Dest(), dst)
		return
	}
	s.addressed, s.node = true, d.Prev()
	n := c.station(d.Prev())
	n.caps, n.told = d.Capabilities(), true
}

// lives reports whether a node was heard in discovery in its present life, which has that signature,
// from whichever of its stations.
func (c *Conversation) lives(a frame.NodeAddr, signature uint16) bool {
	for _, s := range c.cards {
		if s.said && s.addressed && s.node == a && s.signature == signature {
			return true
		}
	}
	return false
}

// known reports whether a station said that it is the node of an address.
func (c *Conversation) known(a frame.NodeAddr, at frame.MAC) bool {
	s := c.cards[at]
	return s != nil && s.addressed && s.node == a
}
