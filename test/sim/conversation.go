// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/lint"
)

const (
	maxEndpoints = 1024 // endpoints and contacts, each; with more, all is forgotten
	maxStations  = 1024 // nodes, and stations in discovery
)

// A Conversation holds frames to the rules that only a sequence of them can break;
// lint.Check has those of a single one. It is an observer that hears all that is
// sent, before any of it is lost, and must not take what it hears for what was
// received: each rule is one that a sender keeps to whatever it received.
//
//	every frame sent, in order ── Frame ──► []lint.Finding
//
// It may begin at any time: what was not heard from its beginning is held only to
// what was heard. It reads no clock, its memory is bounded, and what it finds
// depends on the frames alone. Encrypted messages and what is inside of tunnels it
// passes over.
type Conversation struct {
	// Slack is how long frames may wait for a sender's device, and is added to
	// every limit of time. Unless it is 0, acknowledgements may be brought up to
	// date in frames that wait, so that only those in STATE messages have an order.
	Slack time.Duration

	// First is the number of a link's first packet, 1 but for simulations that set both
	// ends to another one; 0 is 1.
	First frame.Seq

	// Owed says that nodes may be short of memory: what one cannot broadcast then, it sends
	// each peer as soon as it can, perhaps behind what was broadcast since.
	Owed bool
	// TakesBack says that a link which goes down takes back packets that a STATE of the same turn
	// told of: such a STATE is found when its sender goes on in that session.
	TakesBack bool

	netid    uint32
	heard    bool // anything
	start    time.Duration
	now      time.Duration
	ends     map[endKey]*endpoint
	last     map[way]frame.NodeAddr // whom the sender's last link message was for
	contacts map[audienceKey]*audience
	stations map[frame.NodeAddr]*station
	cards    map[frame.MAC]*card
	talking  talks
	found    []lint.Finding
}

// A way is a sender and the addresses its frames go from and to.
type way struct {
	from     frame.NodeAddr
	src, dst frame.MAC
}

// NewConversation returns a Conversation of one network that has heard nothing.
func NewConversation(netid uint32) *Conversation {
	c := &Conversation{netid: netid}
	c.forget()
	return c
}

// first is the number of a link's first packet.
func (c *Conversation) first() frame.Seq { return max(c.First, 1) }

// forget starts over.
func (c *Conversation) forget() {
	c.ends, c.last = map[endKey]*endpoint{}, map[way]frame.NodeAddr{}
	c.contacts, c.stations = map[audienceKey]*audience{}, map[frame.NodeAddr]*station{}
	c.cards = map[frame.MAC]*card{}
	c.talking = talks{}
}

// Frame takes the next message sent, from and to the stations given, and returns
// the rules it breaks. now never goes back. What is no message, or one of another
// network, breaks none. It keeps nothing of msg.
func (c *Conversation) Frame(now time.Duration, src, dst frame.MAC, msg []byte) []lint.Finding {
	m, err := frame.Parse(msg)
	if err != nil {
		return nil
	}
	if max(len(c.ends), len(c.contacts), len(c.last)) >= maxEndpoints || max(len(c.stations), len(c.cards)) >= maxStations {
		c.forget()
	}
	c.now, c.found = now, nil
	if !c.heard {
		c.heard, c.start = true, now
	}
	if m.User() == frame.UserDiscovery {
		c.discovery(src, dst, m) // may be of a new life, which is not held to the claims of the old one
	}
	c.claims(m.Prev())
	c.speaks(m.Prev(), src)
	switch {
	case m.User() == frame.UserDiscovery:
	case m.NonSeq():
		c.addIf(m.NetID() != c.netid && c.known(m.Prev(), src), "bcast-net", "w5", "network %d", m.NetID())
		if m.NetID() == c.netid {
			c.broadcast(src, m)
		}
	default:
		c.unicast(way{m.Prev(), src, dst}, m)
	}
	return c.found
}

func (c *Conversation) add(rule, where, format string, a ...any) {
	c.found = append(c.found, lint.Finding{Rule: rule, Where: where, Text: fmt.Sprintf(format, a...)})
}

func (c *Conversation) addIf(cond bool, rule, where, format string, a ...any) {
	if cond {
		c.add(rule, where, format, a...)
	}
}

// unicast takes what one endpoint of a link sends to the other.
func (c *Conversation) unicast(w way, m frame.Message) {
	to, ok := m.DestNode()
	if m.User() == frame.UserLink && ok {
		c.last[w] = to
	} else if !ok {
		if to, ok = c.last[w]; !ok {
			return
		}
	}
	e := c.end(endKey{w, to})
	r := c.end(e.reverse())
	if p, err := frame.ParseLink(m); err == nil {
		c.link(e, r, p)
	} else {
		c.packet(e, r, m)
	}
}
