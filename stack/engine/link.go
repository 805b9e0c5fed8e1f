// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// A link is one of the links to another node: from a bearer of ours to a station of
// the node.
type link struct {
	*flowctl.Link
	n       *node
	bearer  *bearer
	mac     frame.MAC // the station
	held    bool      // it has messages that wait for Flush
	reached bool      // it was up: the station is there
	tuned   bool      // SetLink has set its window
	bound   bool      // the owner was told that the path carries less than the interface
	told    frame.Seq // the first update of names it was not told on this link, see tellAhead
	number  int32     // among the engine's deadlines; void where due is Never
	name    string    // once a sender had to wait for it
	id      uint32    // of the binding that says it is up
	due     time.Duration
	damper  damper
	spoke   time.Duration // when a message of the other end came, or the link began or went down
	prios   bucket        // changes of its priority that the peer asked for

	senders          *senders           // that wait for it; nil as long as none ever did
	joins            flowctl.Reassembly // fragments of its messages
	failoverReceiver *failoverReceiver  // of the link that failed while this one was up
}

// accept makes mac the station of the node on a bearer and begins a link to it, or
// begins anew. A node has two links at most.
// Source: docs/spec/03-discovery-and-node.md §3.
func (e *Engine) accept(now time.Duration, n *node, b *bearer, mac frame.MAC) {
	l := n.links[b.id]
	switch {
	case l == nil && n.count() == maxLinks:
		n.spares(now, b, mac, false)
		return
	case l != nil && l.State() == flowctl.FailingOver:
		l.mac = mac
		l.SetHeader(header(mac, b.MAC))
		return
	case l != nil:
		l.Stop()
		e.arm(l)
		e.drain(l)
	}
	c := flowctl.Config{
		Local: e.local(b), Peer: n.addr, Header: header(mac, b.MAC), MTU: b.MTU,
		Tolerance: b.Tolerance, Priority: b.Priority, MinWindow: b.Window, MaxWindow: b.MaxWindow,
		Session: e.cfg.Chance.Session(), Broadcast: n.bcast,
	}
	l = &link{Link: flowctl.NewLink(now, c, n.caps), n: n, bearer: b, mac: mac, due: flowctl.Never, spoke: now}
	n.links[b.id], n.heard[b.id] = l, nil
	if s := n.spare; s != nil && s.bearer == b.id {
		n.spare = nil
	}
	if n.contact == FailingOver {
		l.FailoverBegin()
	}
	e.arm(l)
}

// local is what the links over a bearer have in common.
func (e *Engine) local(b *bearer) *flowctl.Local {
	if b.local == nil {
		b.self = e.cfg.Identity.LinkText(e.addr)
		b.local = &flowctl.Local{
			Self: e.addr, Bearer: b.id, IfName: b.Name, Margin: e.cfg.Margin, Overhead: e.overhead(), Alone: e.cfg.NoBundles, Spread: !e.cfg.AsKernel, Arena: e.cfg.Arena, Pool: &e.pool,
			Capabilities: e.cfg.Capabilities, AsKernel: e.cfg.AsKernel, FirstSeq: e.cfg.FirstSeq, Broadcast: e.cast.sender,
			Watch: e.supervise(b),
		}
	}
	return b.local
}

// label is the link's name as tipc(8) shows it. There are many that idle, so it is made
// when somebody asks.
func (l *link) label() string {
	if l.n.addr == 0 {
		return broadcastName
	}
	return l.Name(l.bearer.self, l.n.identity.LinkText(l.n.addr))
}

func header(dst, src frame.MAC) (h [frame.EthernetLen]byte) {
	frame.PutEthernet(h[:], dst, src)
	return h
}

// after carries out what a link asks for and takes its frames. One that has failed is
// dealt with later, see reapFailed.
func (e *Engine) after(now time.Duration, l *link) {
	for ev := l.TakeEvents(); ev != 0; ev = l.TakeEvents() {
		if ev&flowctl.Stuck != 0 && l != e.cast.link { // what that does not take goes by unicast
			l.Fail()
		}
		if ev&flowctl.WentDown != 0 {
			e.noteFailed(l)
		}
		if ev&flowctl.WantUp != 0 {
			e.linkUp(now, l)
		}
		if ev&flowctl.Room != 0 {
			e.roomOn(now, l)
		}
		if ev&flowctl.Drained != 0 {
			e.drained(now, l)
		}
		if ev&flowctl.Ask != 0 {
			e.askMembers(now)
		}
	}
	e.drain(l)
	e.arm(l)
	if l.n.corked {
		e.uncork(now, l.n)
	}
}

// drain hands the link's frames to its bearer.
func (e *Engine) drain(l *link) {
	for f := l.NextFrame(); f != nil; f = l.NextFrame() {
		if l == e.cast.link {
			e.spread(f)
		} else if !l.reached && !e.cfg.AsKernel && !l.n.spend(l.bearer.id, l.mac, f.Len()-frame.EthernetLen) {
			e.count.OutDropped++
			f.Release()
		} else {
			e.push(l.bearer, f, l.n)
		}
	}
}

// linkUp brings a link up, and with the first one the node. First on the wire is a
// STATE; behind it, on the first link, the opening of the broadcast link and all
// names, on a second one where the first stands. A first link without memory for the opening
// does not come up yet: a kernel's first packet is that, and it has to be true when it leaves.
// What the peer says next, and it says something at every interval, is the next try.
// Source: docs/spec/03-discovery-and-node.md §5.2, §6.1.
func (e *Engine) linkUp(now time.Duration, l *link) {
	n := l.n
	first := n.slots[0] == nil
	if first && n.contact != DownDown {
		return
	}
	if first && !e.cfg.AsKernel && !n.contacts.has(now, contactGap, contacts) {
		e.drop(DropFlapping) // it will ask again
		return
	}
	var opening *netdev.Buffer
	if first {
		if opening = e.message(frame.IntLen, netdev.Control); opening == nil {
			l.NoChunk++
			return
		}
	}
	if !l.Up(now) {
		if first {
			opening.Release()
		}
		return
	}
	e.suit(now, l)
	l.damper.up(now)
	e.answered(l)
	l.reached = true
	e.supervise(l.bearer).Up(n.addr)
	l.bearer.links++
	l.bearer.keep(l.mac, true)
	l.id = l.ID()
	n.join(l)
	if first {
		n.contact = n.contact.after(selfEstablished)
		e.strike(n)
		n.everUp = true
		n.contacts.take(now, contactGap, contacts)
		e.enlist(n)
		e.linkChanged(l)
		e.openBroadcast(now, l, opening)
		e.sendBulk(now, n)
	} else {
		e.linkChanged(l)
		old := other(n, l)
		l.told = old.told // it is held back behind that
		l.SendSynch(now, old.Link)
		_, n.corked = l.Corked()
		e.after(now, old)
	}
	e.moveSenders(now, n)
	e.table.Insert(e.linkBinding(l))
	e.events.Push(Event{Kind: LinkUp, Node: n.addr, Link: l.label()})
	if first {
		e.events.Push(Event{Kind: PeerUp, Node: n.addr})
	}
}

// linkDown takes a link out of use: what it still had goes to the other one, or
// contact with the node is lost.
// Source: docs/spec/03-discovery-and-node.md §5.4.
func (e *Engine) linkDown(now time.Duration, l *link) {
	n := l.n
	l.damper.down(now)
	l.spoke = now
	l.ringDown(false)
	if !l.bearer.removed { // what it still sends is the last, and in order
		e.purge(l)
	}
	had, lost := n.up(), false
	n.choose()
	l.bearer.keep(l.mac, false)
	e.table.Remove(e.linkBinding(l))
	switch {
	case n.up():
		n.slots[0].WatchBroadcast(now) // it has the reports from now on
		e.failover(now, n, l)
	case had:
		lost = true
		e.lost(now, n, l)
	default: // the other one has just gone
		l.Restart(now)
	}
	e.moveSenders(now, n)
	e.arm(l)
	e.lostLink(now, l.bearer)
	e.linkChanged(l)
	e.events.Push(Event{Kind: LinkDown, Node: n.addr, Link: l.label(), Cause: l.Cause()})
	if lost {
		e.events.Push(Event{Kind: PeerLost, Node: n.addr, Cause: l.Cause()})
	}
	e.events.Push(Event{Kind: Room, Node: n.addr})
}

// purge drops the packets of a session that is over and that a stalled device has
// not taken yet: packets carry no session, and the next one might take them for
// its own.
func (e *Engine) purge(l *link) {
	e.purgeIf(l.bearer, func(m frame.Message, station frame.MAC) bool { return ofSession(m) && station == l.mac })
}

// ofSession reports whether a message is a packet of some link's session.
func ofSession(m frame.Message) bool { return m.User() != frame.UserLink && !m.NonSeq() }

// purgeIf does so for the messages, by station, that of picks.
func (e *Engine) purgeIf(b *bearer, of func(m frame.Message, station frame.MAC) bool) {
	out := &b.out
	for i := range out.Len() {
		x := out.Pop()
		f := x.f
		eth, payload, err := frame.ParseEthernet(f.Bytes())
		m, err2 := frame.Parse(payload)
		if err == nil && err2 == nil && of(m, eth.Dst()) {
			e.count.OutDropped++
			f.Release()
			if i == 0 {
				b.copies = 0
			}
			continue
		}
		out.Push(x)
	}
}

// lostLink makes discovery hurry when a bearer's last link is gone. The kernel asks
// for more than a second, and its fourth interval is more: 1024 ms with 250 ticks a
// second (capture 20, frame 40).
func (e *Engine) lostLink(now time.Duration, b *bearer) {
	if b.links--; b.links == 0 && b.interval >= discoverAlone {
		b.interval = discoverFast
		b.next = now + b.interval
	}
}

// linkBinding is the binding that tells local programs of the link.
func (e *Engine) linkBinding(l *link) naming.Binding {
	return naming.Binding{
		Range: frame.Range{Type: naming.LinkState, Lower: uint32(l.n.addr), Upper: uint32(l.n.addr)},
		Scope: frame.NodeScope, Socket: frame.SocketAddr{Port: l.id, Node: e.addr}, Key: l.id,
	}
}

// transmit hands a message to a link; it takes over the caller's hold in any case. Errors:
// flowctl.ErrCongested, flowctl.ErrTooLong.
func (e *Engine) transmit(now time.Duration, l *link, b *netdev.Buffer, imp frame.Importance) error {
	err := flowctl.ErrCongested
	switch {
	case !l.IsUp(): // it has just failed, and another one may carry this soon
	case e.hold:
		if err = l.Hold(b, imp); err == nil {
			e.holdBack(now, l)
		}
	default:
		err = l.Send(now, b, imp)
	}
	if err != nil {
		b.Release()
	}
	return err
}
