// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A broadcastLink is the node's own broadcast link: to every node there is contact
// with, over the one bearer that reaches all of them, else over every bearer that
// reaches some. It is a link like others for those who send on it, to no node in
// particular. Source: docs/spec/04-broadcast.md §1, §3.
type broadcastLink struct {
	*link
	sender *flowctl.BroadcastSender
	over   []*bearer // the bearers that it is sent over
	mtu    int       // the smallest of the links that are up; 0: there is none
}

// broadcastName is what tipc(8) calls it.
const broadcastName = "broadcast-link"

// openBroadcastLink makes the node's broadcast link, once it has an address.
func (e *Engine) openBroadcastLink() {
	s := flowctl.NewBroadcastSender(flowctl.BroadcastConfig{
		Local: &flowctl.Local{
			Self: e.addr, IfName: broadcastName, Margin: e.cfg.Margin, Alone: e.cfg.NoBundles, Arena: e.cfg.Arena,
			Capabilities: e.cfg.Capabilities, AsKernel: e.cfg.AsKernel, FirstSeq: e.cfg.FirstSeq,
		},
		NetID: e.cfg.NetID, Window: flowctl.DefaultWindow, Tolerance: e.links.Tolerance,
	})
	nobody, nowhere := &node{}, &bearer{}
	e.cast = broadcastLink{sender: s, link: &link{Link: s.Link, n: nobody, bearer: nowhere, due: flowctl.Never}}
}

// enlist makes a node that has come up one of those that the broadcast link is sent to:
// what is sent from now on it has to acknowledge.
func (e *Engine) enlist(n *node) {
	n.member = e.cast.sender.Join()
	n.bcast.SetMember(n.member)
	if n.castTo != nil {
		n.castTo.mark = uint32(n.member.Acked())
	}
	e.ups++
}

// dismiss ends that, as if the node had acknowledged all.
func (e *Engine) dismiss(now time.Duration, n *node) {
	e.cast.sender.Leave(now, n.member)
	n.member = nil
	if e.ups--; e.ups == 0 {
		e.purgeBroadcasts()
		e.recent = e.recent[:0]
	}
	e.acknowledged(now)
}

// acknowledged carries out what follows when members have acknowledged broadcasts.
func (e *Engine) acknowledged(now time.Duration) {
	e.recent = e.dropTold() // here, as numbers come again
	e.after(now, e.cast.link)
}

// purgeBroadcasts drops the packets of the broadcast link that a stalled device has not
// taken yet: its numbers begin anew, and whoever comes next would take them for those.
func (e *Engine) purgeBroadcasts() {
	for _, b := range e.bearers {
		e.purgeIf(b, func(m frame.Message, _ frame.MAC) bool { return m.NonSeq() && m.User() != frame.UserDiscovery })
	}
}

// routeBroadcast chooses the bearers for the broadcast link, and its packet size, after
// a link went up or down: one bearer that reaches all nodes, of several the first whose
// number and the own address make an odd sum, so that nodes spread over them; with none
// such all that reach any.
func (e *Engine) routeBroadcast() {
	c := &e.cast
	c.over = c.over[:0]
	var all *bearer
	for _, b := range e.bearers {
		if b.links == 0 || b.removed {
			continue
		}
		c.over = append(c.over, b)
		if b.links == e.ups && (all == nil || (uint32(all.id)^uint32(e.addr))&1 == 0) {
			all = b
		}
	}
	if all != nil {
		c.over = append(c.over[:0], all)
	}
}

// linkChanged lets the broadcast link follow a link that went up or down: it takes the
// bearers that are right now, and packets that fit all links.
func (e *Engine) linkChanged(l *link) {
	e.routeBroadcast()
	c := &e.cast
	switch mtu := l.MTU(); {
	case !l.IsUp():
		if c.mtu = e.smallestMTU(); c.mtu == 0 {
			return
		}
	case c.mtu == 0 || mtu < c.mtu:
		c.mtu = mtu
	default:
		return
	}
	c.sender.SetMTU(c.mtu)
}

// smallestMTU is that of the links that are up, 0 if there is none.
func (e *Engine) smallestMTU() (mtu int) {
	for _, n := range e.nodes {
		for _, l := range n.links {
			if l != nil && l.IsUp() && (mtu == 0 || l.MTU() < mtu) {
				mtu = l.MTU()
			}
		}
	}
	return mtu
}

// spread hands a packet of the broadcast link to the bearers, taking over one hold. The
// last gets the packet itself, others copies: each has a station address of its own.
func (e *Engine) spread(f *netdev.Buffer) {
	over := e.cast.over
	if len(over) == 0 {
		f.Release()
		return
	}
	const linkAndThis = 2
	first, waits := over[0], f.Holders() > linkAndThis // it was sent before, and no device has taken it yet
	same := frame.MAC(f.Bytes()[6:12]) == first.MAC
	if waits && same { // many may miss it meanwhile: it is not queued once more for each
		f.Release()
		return
	}
	for _, b := range over[1:] {
		e.spreadCopy(b, f)
	}
	if waits { // at another bearer, whose header it has
		e.spreadCopy(first, f)
		f.Release()
		return
	}
	frame.PutEthernet(f.Bytes(), frame.BroadcastMAC, first.MAC)
	e.push(first, f, nil)
}

// spreadCopy hands a copy of a packet of the broadcast link to a bearer. Without memory
// for it nothing goes there: it will be asked for again.
func (e *Engine) spreadCopy(b *bearer, f *netdev.Buffer) {
	c := e.cfg.Arena.Get(f.Len(), netdev.Control)
	if c == nil {
		e.drop(DropLimit)
		return
	}
	copy(c.Extend(f.Len()), f.Bytes())
	frame.PutEthernet(c.Bytes(), frame.BroadcastMAC, b.MAC)
	e.push(b, c, nil)
}

// askMembers asks the nodes that have not acknowledged all of the broadcast link how
// they stand. The answers tell what they miss. One that does not acknowledge for too
// long is given up.
func (e *Engine) askMembers(now time.Duration) {
	for _, n := range e.nodes {
		switch m := n.member; {
		case m == nil || !m.Behind():
		case m.Overdue(now):
			e.giveUp(now, n)
		default:
			l := n.slots[0]
			l.Probe(now)
			e.after(now, l)
		}
	}
}

// lastMember is the node that has acknowledged least of the broadcast link, 0 if all have
// everything.
func (e *Engine) lastMember() (a frame.NodeAddr) {
	var last frame.Seq
	for _, n := range e.nodes {
		if m := n.member; m != nil && m.Behind() && (a == 0 || m.Acked().Before(last)) {
			a, last = n.addr, m.Acked()
		}
	}
	return a
}

// broadcastAck takes what a packet of a node says of our broadcast link.
func (e *Engine) broadcastAck(now time.Duration, n *node, m frame.Message) {
	switch m.User() {
	case frame.UserName, frame.UserBroadcast:
		if m.BcastAckInvalid() {
			return
		}
	}
	e.cast.sender.HandleAck(now, n.member, m.BcastAck())
	e.acknowledged(now)
}

// broadcastReport takes what a STATE says of our broadcast link, and reports whether
// contact lasts. What a node says before it knows where that link began means nothing:
// it does once it has our first packet, the opening.
// Source: docs/spec/04-broadcast.md §2, §5.
func (e *Engine) broadcastReport(now time.Duration, l *link, s frame.State) bool {
	n, m := l.n, l.n.member
	switch {
	case m == nil || s.BcastAckInvalid():
	case m.Confirmed():
		acks, _, _ := s.GapAcks((e.cfg.Capabilities & n.caps).Has(frame.CapGapAckBlock))
		failed := e.cast.sender.HandleReport(now, m, s.BcastAck(), s.BcastGap(), acks.Bcast())
		e.acknowledged(now)
		if failed {
			e.giveUp(now, n)
			return false
		}
	case n.bcast.Up() && (l.bearer.id != n.openOn || !s.Ack().Before(n.openAt)):
		m.Confirm()
	}
	return true
}

// handleBroadcast takes a packet of a node's broadcast link.
// Source: docs/spec/04-broadcast.md §4.
func (e *Engine) handleBroadcast(now time.Duration, b *bearer, src frame.MAC, m frame.Message, f *netdev.Buffer) {
	if m.User() == frame.UserBroadcast {
		e.drop(DropUnsupported) // the missing-packet reports of old nodes to all
		return
	}
	n := e.byAddr[m.Prev()]
	if n == nil || n.links[b.id] == nil {
		e.drop(DropStranger)
		return
	}
	l := n.links[b.id]
	switch {
	case m.HeaderLen() < frame.IntLen:
		e.drop(DropMalformed)
		return
	case m.NetID() != e.cfg.NetID:
		e.drop(DropNetID)
		return
	case src != l.mac:
		e.drop(DropSpoofed)
		return
	}
	verdict, report := n.bcast.HandlePacket(m, f)
	switch verdict {
	case flowctl.Deliver:
		e.deliver(now, l, &n.bjoins, m, f)
		for {
			p, due, ok := n.bcast.Next()
			if !ok {
				break
			}
			report = report || due
			e.deliver(now, l, &n.bjoins, p.Message, p.Buffer())
			p.Release()
		}
	case flowctl.Dropped:
		e.drop(DropOrder)
	}
	if !l.IsUp() && n.up() { // reports take the other one
		e.after(now, l)
		l = n.slots[0]
	}
	if verdict == flowctl.Deferred {
		l.WatchBroadcast(now)
	}
	if report {
		l.Report(now)
	}
	e.after(now, l)
}

// A BroadcastStatus is how the node's broadcast link stands, and what came on those of
// other nodes.
type BroadcastStatus struct {
	Peers                          int // that it is sent to
	MTU                            int // bytes
	Received, Duplicates, Deferred uint64
	flowctl.Statistics             `json:"Statistics"` // some have the names of what is above
}

// Broadcast returns how the broadcast link stands at now.
func (e *Engine) Broadcast(now time.Duration) (s BroadcastStatus) {
	if e.cast.link == nil {
		return s // no address yet
	}
	s = BroadcastStatus{Peers: e.ups, MTU: e.cast.MTU(), Statistics: e.cast.Statistics(now)}
	for _, n := range e.nodes {
		s.Received += n.bcast.Received
		s.Duplicates += n.bcast.Duplicates
		s.Deferred += n.bcast.Deferred
	}
	return s
}
