// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// leaveEvicted is the window in a LEAVE to a member that is evicted, between nodes that have Reasons; in
// others it is 0.
const leaveEvicted = 1

// number is that of the next broadcast that a member gets.
func (g *Group) number(m *member) frame.Seq {
	if m.diverted {
		return m.expects
	}
	return g.next
}

// owe has what is due to members sent soon.
func (g *Group) owe(now time.Duration) {
	if !g.again.isSet() {
		g.port.e.alarms.set(&g.again, now+owedPause)
	}
}

// pay sends a member what is due to it, as far as that can be done now. Without it the
// member might wait for ever, so the rest is tried again.
func (g *Group) pay(now time.Duration, m *member) (all bool) {
	for _, kind := range [...]struct {
		due flowctl.GroupDue
		typ frame.GroupType
	}{
		{flowctl.DueJoin, frame.GroupJoin},
		{flowctl.DueAck, frame.GroupAck},
		{flowctl.DueAdv, frame.GroupAdv},
		{flowctl.DueReclaim, frame.GroupReclaim},
		{flowctl.DueRemit, frame.GroupRemit},
		{flowctl.DueLeave, frame.GroupLeave},
	} {
		if m.flow.Due()&kind.due != 0 && !g.tellMember(now, m, kind.typ) {
			g.owe(now)
			return false
		}
		m.flow.Paid(kind.due)
	}
	return true
}

// tellMember sends a message of the group protocol. It reports false when that is to be
// tried again; to a node without contact nothing is.
func (g *Group) tellMember(now time.Duration, m *member, typ frame.GroupType) bool {
	e := g.port.e
	f := frame.GroupFields{
		Common: frame.Common{Prev: e.addr}, Type: typ, DestDroppable: true,
		OrigPort: g.port.number, Orig: e.addr, DestPort: m.addr.Port, Dest: m.addr.Node,
	}
	var granted, remitted uint16
	switch typ {
	case frame.GroupJoin:
		f.Number = uint16(g.number(m))
		granted = g.flow.Grant(&m.flow)
	case frame.GroupLeave:
		f.Number = uint16(g.number(m))
		if n := e.home(m.addr.Node); m.phase == evicted && n != nil && (n == e.self || n.has(Reasons)) {
			f.Window = leaveEvicted
		}
	case frame.GroupAck:
		f.Number = uint16(m.ackNext)
	case frame.GroupAdv:
		if granted = g.flow.Grant(&m.flow); granted == 0 {
			return true
		}
	case frame.GroupRemit:
		remitted = m.flow.Remit()
		f.Number = remitted
	}
	f.Window |= granted
	g.spoke = true
	if m.addr.Node == e.addr {
		f.Append(e.groups.localRoom(frame.IntLen)[:0])
		return true
	}
	n := e.reach(m.addr.Node)
	if n == nil {
		return true // its members are about to be forgotten
	}
	b := e.message(frame.IntLen, netdev.Control)
	err := ErrMemory
	if b != nil {
		f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen])
		l := n.route(g.port.number)
		err = e.transmit(now, l, b, frame.System)
		e.after(now, l)
	}
	if err != nil {
		g.flow.Ungrant(&m.flow, granted)
		if typ == frame.GroupRemit {
			m.flow.Unremit(remitted)
		}
	}
	return err == nil
}

// handleGroup takes a message of the group protocol.
func (e *Engine) handleGroup(now time.Duration, n *node, msg frame.Message) {
	x, err := frame.ParseGroup(msg)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	if x.From().Node != n.addr { // nobody passes them on
		e.drop(DropForeign)
		return
	}
	e.groupNews(now) // a binding may have come with it
	p := e.port(x.DestPort())
	switch {
	case p == nil || p.group == nil || p.group.closed || x.From().Port == 0:
		e.drop(DropNoPort)
	case n != e.self && p.group.Scope == frame.NodeScope:
		e.drop(DropGroup)
	default:
		p.group.hearNow(now)
		p.group.handle(now, x)
		e.runGroups(now)
	}
}

// handle takes a message of a member, or of one that wants to be.
// Source: docs/spec/08-groups.md §4, §6.
func (g *Group) handle(now time.Duration, x frame.Group) {
	e, m, ok := g.port.e, g.find(x.From()), true
	number := frame.Seq(x.Number())
	switch {
	case x.Type() == frame.GroupJoin:
		ok = g.handleJoin(now, m, x.From(), number, x.Window())
	case m == nil || m.phase == evicted:
		ok = false
	case x.Type() == frame.GroupLeave:
		m.evicts = x.Window() == leaveEvicted
		g.handleLeave(now, m, number)
	case x.Type() == frame.GroupAdv:
		ok = m.flow.HandleGrant(x.Window())
		g.opened(now, m, x.Window())
	case x.Type() == frame.GroupAck:
		if ok = g.acks.Handle(&m.flow, number); ok && g.acks.Missing() == 0 {
			g.wake()
		}
	case x.Type() == frame.GroupReclaim:
		m.flow.Owe(flowctl.DueRemit)
		g.pay(now, m)
	case x.Type() == frame.GroupRemit:
		var other *flowctl.GroupMember
		other, ok = g.flow.HandleRemit(&m.flow, x.Number())
		g.pay(now, m)
		if other != nil {
			g.payOther(now, other)
		}
	}
	if !ok {
		e.drop(DropGroup)
	}
}

// payOther pays the member that a flow is of.
func (g *Group) payOther(now time.Duration, f *flowctl.GroupMember) {
	for _, m := range g.members {
		if &m.flow == f {
			g.pay(now, m)
			return
		}
	}
}

// handleJoin takes it that a socket says it is in the group. One that is heard already
// says so when some of its broadcasts went past us: it may only go forward.
func (g *Group) handleJoin(now time.Duration, m *member, from frame.SocketAddr, next frame.Seq, window uint16) bool {
	if m != nil && (m.phase == leaving || m.phase == evicted) { // it is back before all else of it was
		g.finish(now, m)
		m = nil
	}
	if m == nil {
		if from == g.Addr() && !g.Loopback {
			return false
		}
		if m = g.enter(now, from, joining); m == nil {
			return false
		}
	}
	switch m.phase {
	case joining:
		m.order.Sync(next, nil)
	case published:
		m.order.Sync(next, nil)
		m.flow.Owe(flowctl.DueAdv)
		ok := m.flow.HandleGrant(window)
		g.joined(now, m)
		g.opened(now, m, window)
		return ok
	case joined:
		if next.Before(m.order.Next()) {
			return false
		}
		m.order.Sync(next, func(it *flowctl.GroupItem) { g.skip(now, m, it) })
		g.advance(now, m)
	}
	ok := m.flow.HandleGrant(window)
	g.opened(now, m, window)
	return ok
}

// handleLeave takes it that a member leaves, after its broadcasts before a number. That
// it says so once is all that may wait.
func (g *Group) handleLeave(now time.Duration, m *member, next frame.Seq) {
	if m.phase != joined && m.phase != leaving {
		g.forget(now, m)
		return
	}
	if m.phase == joined {
		g.depart(now, m)
	}
	if m.order.Leaves() {
		g.port.e.drop(DropGroup)
		return
	}
	it := flowctl.GroupItem{Number: next, Event: true}
	if at, kept := m.order.Put(&it); at || !kept { // or its number is none that could come
		g.finish(now, m)
	}
}

// opened lets those who wait for a member send, which has granted so much.
func (g *Group) opened(now time.Duration, m *member, window uint16) {
	if window > 0 {
		m.moved, m.most = now, max(m.most, m.flow.Window())
	}
	g.catchUp(now, m)
	g.wake()
}
