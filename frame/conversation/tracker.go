// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"errors"

	"github.com/utipc/utipc/frame"
)

// Limits are the most a Tracker keeps. Zero fields mean the defaults.
type Limits struct {
	Links    int // and as many senders of broadcasts; default 1024
	Stations int // of which it knows the node; default 4096
	Pairs    int // of sockets; default 16384
	Services int // default 16384
	// Numbers of packets remembered, in all; 40 bytes each; default 2^19. Each link
	// has 64 for each end besides.
	Numbers int
}

// Beyond counts what was not followed because of Limits: packets of links, and
// messages of pairs and services.
type Beyond struct {
	Links    uint64 `json:"links"`
	Pairs    uint64 `json:"pairs"`
	Services uint64 `json:"services"`
}

// A Tracker follows conversations. It is not safe for concurrent use.
type Tracker struct {
	limits Limits
	room   int // numbers that may yet be remembered
	beyond Beyond

	nodes    map[Station]frame.NodeAddr
	links    []*Link // as they came
	byLink   map[linkKey]*Link
	senders  []*Sender
	bySender map[senderKey]*Sender

	pairs     []*Pair
	byPair    map[pairKey]*Pair
	services  []*Service
	byService map[serviceKey]*Service
	asked     map[frame.SocketAddr]frame.Range // what sockets asked to be connected with

	packets, discovery, malformed, sealed uint64
	v                                     Verdict
}

// NewTracker makes a Tracker.
func NewTracker(l Limits) *Tracker {
	set := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	set(&l.Links, 1024)
	set(&l.Stations, 4096)
	set(&l.Pairs, 16384)
	set(&l.Services, 16384)
	set(&l.Numbers, 1<<19)
	return &Tracker{
		limits: l, room: l.Numbers,
		nodes: map[Station]frame.NodeAddr{}, byLink: map[linkKey]*Link{}, bySender: map[senderKey]*Sender{},
		byPair: map[pairKey]*Pair{}, byService: map[serviceKey]*Service{}, asked: map[frame.SocketAddr]frame.Range{},
	}
}

// Links returns the links in the order in which they appeared. They belong to t.
func (t *Tracker) Links() []*Link { return t.links }

// Senders returns who has broadcast, in the order in which they appeared. They
// belong to t.
func (t *Tracker) Senders() []*Sender { return t.senders }

// Pairs returns the pairs of sockets in the order in which they appeared. They belong
// to t.
func (t *Tracker) Pairs() []*Pair { return t.pairs }

// Services returns the services in the order in which they appeared. They belong to t.
func (t *Tracker) Services() []*Service { return t.services }

// Totals are the packets that were added: all, those of discovery, those that stayed
// encrypted, and those that are no message of a kind that is known.
type Totals struct {
	Packets   uint64 `json:"packets"`
	Discovery uint64 `json:"discovery"`
	Sealed    uint64 `json:"sealed"`
	Malformed uint64 `json:"malformed"`
}

// Totals returns the packets added, and what was beyond the limits.
func (t *Tracker) Totals() (Totals, Beyond) {
	return Totals{t.packets, t.discovery, t.sealed, t.malformed}, t.beyond
}

// Add takes the next packet. Whatever is in it, Add neither fails nor panics.
func (t *Tracker) Add(p Packet) Verdict {
	t.packets++
	t.v = Verdict{Users: t.v.Users[:0], Sockets: t.v.Sockets[:0], Services: t.v.Services[:0]}
	m, err := frame.Parse(p.Message)
	switch {
	case errors.Is(err, frame.ErrEncrypted):
		t.sealedPacket(p)
	case err != nil:
		t.malformed++
		t.v.Err = err
	default:
		t.message(p, m)
	}
	return t.v
}

// learn takes note of the node at a station.
func (t *Tracker) learn(s Station, a frame.NodeAddr) {
	if a == 0 || s == (Station{}) {
		return
	}
	if _, ok := t.nodes[s]; ok || len(t.nodes) < t.limits.Stations {
		t.nodes[s] = a
	}
}

// sealedPacket counts a packet that stayed closed.
func (t *Tracker) sealedPacket(p Packet) {
	e, err := frame.ParseEncrypted(p.Message)
	if err != nil {
		t.malformed++
		t.v.Err = err
		return
	}
	t.sealed++
	src, ok := e.Source()
	if !ok {
		return // discovery, which has no address
	}
	t.learn(p.Src, src)
	t.v.From, t.v.To = src, t.nodes[p.Dst]
	if t.v.To == 0 {
		return
	}
	if l, from := t.linkOf(p, src, t.v.To); l != nil {
		t.v.Link = l
		l.Last = p.Time
		c := &l.Sent[from]
		c.Packets++
		c.Bytes += uint64(max(p.Len, 0))
		c.Sealed++
	}
}

// message takes a message that is not encrypted.
func (t *Tracker) message(p Packet, m frame.Message) {
	v := &t.v
	u := m.User()
	v.From = m.Prev()
	dest, _ := m.DestNode()
	if err := m.Check(); err != nil {
		t.malformed++
		v.Err = err
		return
	}
	if u == frame.UserDiscovery {
		v.Users = append(v.Users, u)
		t.discovery++
		t.learn(p.Src, v.From)
		v.To = t.nodes[p.Dst]
		return
	}
	if within(p, m, dest) {
		v.Within, v.To = true, v.From
		t.contents(p, m, nil, nil)
		return
	}
	t.learn(p.Src, v.From)
	nack := u == frame.UserBroadcast && m.NonSeq()
	if m.NonSeq() && !nack {
		v.Broadcast, v.To = true, t.nodes[p.Dst]
		t.broadcast(p, m)
		return
	}
	if dest == 0 || m.HeaderLen() == frame.ShortLen {
		dest = t.nodes[p.Dst]
	}
	t.learn(p.Dst, dest)
	v.To = dest
	if dest == 0 {
		t.contents(p, m, nil, nil) // a capture may begin anywhere
		return
	}
	l, from := t.linkOf(p, v.From, dest)
	if l == nil {
		t.contents(p, m, nil, nil)
		return
	}
	v.Link, l.Last = l, p.Time
	c := &l.Sent[from]
	c.Packets++
	c.Bytes += uint64(max(p.Len, 0))
	if p.Lost {
		c.Lost++
	}
	switch {
	case nack:
		v.Users = append(v.Users, u)
		t.broadcastNack(m, c)
	case u == frame.UserLink:
		v.Users = append(v.Users, u)
		if k, err := frame.ParseLink(m); err == nil {
			t.linkMessage(p, k, l, from)
		}
	default:
		t.numbered(p, m, l, from)
	}
}

// within reports whether a message is from one socket of a node to another of the same node.
// Such a message has no sequence number and no station. A message to a connected socket
// names no node, and is recognized by the missing stations alone.
func within(p Packet, m frame.Message, dest frame.NodeAddr) bool {
	if !m.User().IsPayload() {
		return false
	}
	return dest != 0 && dest == m.Prev() || p.Src == Station{} && p.Dst == Station{}
}

// numbered takes a packet in a link's sequence.
func (t *Tracker) numbered(p Packet, m frame.Message, l *Link, from int) {
	c, own := &l.Sent[from], &l.lines[from]
	v := &t.v
	v.Class, v.Repeats, v.Skipped = own.sent(m.Seq(), p, &t.room)
	v.Needless = v.Class == Retransmitted && own.has(m.Seq())
	c.classify(v.Class, v.Skipped)
	if v.Needless {
		c.Needless++
	}
	c.InFlight = max(c.InFlight, own.inFlight())
	t.acks(p, m, l, from)
	t.contents(p, m, c, own)
}

// acks takes what a packet acknowledges.
func (t *Tracker) acks(p Packet, m frame.Message, l *Link, from int) {
	other := 1 - from
	news, unseen, took, ok := l.lines[other].acknowledged(m.Ack(), p.Time, &t.room)
	l.Sent[other].Unseen += uint64(unseen)
	if ok {
		l.Sent[other].AckTime.add(took)
	}
	if news > 0 {
		l.Sent[from].Acks++
		t.v.Acked = news
	}
}

// broadcast takes a packet to all.
func (t *Tracker) broadcast(p Packet, m frame.Message) {
	s := t.senderOf(p, m.Prev())
	if s == nil {
		t.contents(p, m, nil, nil)
		return
	}
	c, v := &s.Sent, &t.v
	c.Packets++
	c.Bytes += uint64(max(p.Len, 0))
	if p.Lost {
		c.Lost++
	}
	v.Class, v.Repeats, v.Skipped = s.line.sent(m.Seq(), p, &t.room)
	s.line.acked = s.line.highest // who has it is told apart for each node
	c.classify(v.Class, v.Skipped)
	t.contents(p, m, c, &s.line)
}
