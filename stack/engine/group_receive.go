// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A GroupKind is what a program reads from a group.
type GroupKind uint8

const (
	GroupData      GroupKind = iota // a message
	MemberJoined                    // the member is there
	MemberLeft                      // it has left, or contact with its node is lost
	MemberEvicted                   // it was too slow: it is sent to no more, see Lag
	MemberDropping                  // it is too slow: messages for it are dropped, see DropOldest
)

// A GroupReceived is what is known of a message, or what became of a member.
type GroupReceived struct {
	Kind       GroupKind
	Len        int
	From       frame.SocketAddr // the member
	Instance   uint32           // of the member
	Type       frame.PayloadType
	Importance frame.Importance

	Evicts bool          // of MemberLeft: it has evicted this socket, which read too slowly; of a kernel that is not known
	Behind int           // of MemberEvicted and MemberDropping: messages that waited for it
	Idle   time.Duration // and how long it had given no room
}

// A groupRecord is what the port's queue does not know of what waits there.
type groupRecord struct {
	m      *member
	kind   GroupKind
	typ    frame.PayloadType
	blocks int // of an event: GroupReceived.Behind
	idle   time.Duration
}

// handleGroupData takes a message for members of a group.
// Source: docs/spec/08-groups.md §2.2.
func (e *Engine) handleGroupData(now time.Duration, n *node, p frame.Payload, in *netdev.Buffer, broadcast bool) {
	typ, instance, _ := p.Group()
	number, ask, _ := p.GroupSeq()
	it := flowctl.GroupItem{
		Number: number, Numbered: p.Type() != frame.GroupUcastMsg, AckRequest: ask,
		Type: p.Type(), Instance: instance, Importance: frame.Importance(p.User()), Data: p.Data(),
	}
	switch {
	case p.From().Node != n.addr:
		e.drop(DropForeign)
	case p.Error() != frame.OK:
		e.drop(DropNoPort)
	case it.Numbered:
		taken := false
		for _, g := range e.groups.byType[typ] { // a Leave makes a new list
			if !g.closed && g.Scope == p.Scope() && (g.Scope != frame.NodeScope || n == e.self) {
				g.hearNow(now)
				g.take(now, p.From(), &it, in)
				taken = true
			}
		}
		if !taken {
			e.drop(DropNoPort)
		}
	case broadcast:
		e.drop(DropNested)
	default:
		port := e.port(p.DestPort())
		if port == nil || port.group == nil || port.group.closed {
			e.drop(DropNoPort)
			return
		}
		g := port.group
		if g.Service.Type != typ || g.Scope != p.Scope() || g.Scope == frame.NodeScope && n != e.self {
			e.drop(DropGroup)
			return
		}
		g.hearNow(now)
		g.take(now, p.From(), &it, in)
	}
	e.runGroups(now)
}

// take takes a message of a member, unless it is more than was granted.
func (g *Group) take(now time.Duration, from frame.SocketAddr, it *flowctl.GroupItem, in *netdev.Buffer) {
	m := g.find(from)
	blocks := flowctl.GroupBlocks(len(it.Data))
	switch {
	case m == nil && from == g.Addr():
		return
	case g.overdrawn:
		g.port.e.drop(DropGroup)
		return
	case m == nil || !m.sends() || !m.flow.Arrived(blocks):
		g.port.e.drop(DropGroup)
		return
	}
	at, kept := m.order.Put(it)
	switch {
	case at:
		g.accept(now, m, it, in)
		g.advance(now, m)
	case !kept:
		g.port.e.drop(DropGroup)
		m.flow.Unarrive(blocks)
	}
}

// advance takes what has waited for its turn.
func (g *Group) advance(now time.Duration, m *member) {
	for !m.gone && !g.overdrawn {
		it, ok := m.order.Take()
		if !ok {
			return
		}
		g.accept(now, m, &it, nil)
	}
}

// accept takes a message that has its turn.
func (g *Group) accept(now time.Duration, m *member, it *flowctl.GroupItem, in *netdev.Buffer) {
	if it.Event {
		g.finish(now, m)
		return
	}
	if it.Numbered && it.AckRequest {
		m.ackNext = m.order.Next()
		m.flow.Owe(flowctl.DueAck)
		g.pay(now, m)
	}
	g.port.e.arrivedIn(m.addr.Node)
	if len(it.Data) == 0 || it.Type == frame.GroupMcastMsg && it.Instance != g.Service.Instance {
		g.consumed(now, m, flowctl.GroupBlocks(len(it.Data)))
		return
	}
	if a := g.port.Account; a != nil && a.beyond(len(it.Data)+recordCost) != nil && !g.port.relieve(now, len(it.Data)+recordCost) {
		g.port.overdraw(now)
		g.port.e.drop(DropOverload)
		return
	}
	r := g.port.store(it.Data, in)
	r.From, r.Importance = m.addr, it.Importance
	*g.records.Extend() = groupRecord{m: m, typ: it.Type, blocks: flowctl.GroupBlocks(len(it.Data))}
	g.count.Received++
	g.ready()
}

// arrivedIn counts a message from a node.
func (e *Engine) arrivedIn(n frame.NodeAddr) {
	if n == e.addr {
		e.count.MessagesLocal++
	} else {
		e.count.MessagesIn++
	}
}

// skip drops a message that waited for one that will not come.
func (g *Group) skip(now time.Duration, m *member, it *flowctl.GroupItem) {
	if !it.Event {
		g.port.e.drop(DropGroup)
		g.consumed(now, m, flowctl.GroupBlocks(len(it.Data)))
	}
}

// slowEvent has it read what became of a member that read too slowly.
func (g *Group) slowEvent(now time.Duration, m *member, kind GroupKind, behind int) {
	lost := g.count.EventsLost
	g.event(m, kind)
	if k := g.records.Len(); k > 0 && !g.closed && g.count.EventsLost == lost {
		x := g.records.At(k - 1)
		x.blocks, x.idle = behind, now-m.moved
	}
}

// event has the program read what became of a member, if it wants that.
func (g *Group) event(m *member, kind GroupKind) {
	g.ready() // who waits for members looks
	if !g.Events && (kind == MemberJoined || kind == MemberLeft) || g.closed {
		return
	}
	if g.events >= groupEvents {
		g.count.EventsLost++
		return
	}
	g.events++
	g.port.store(nil, nil).From = m.addr
	*g.records.Extend() = groupRecord{m: m, kind: kind}
}

// Pending is the number of messages and events that wait to be read.
func (g *Group) Pending() int { return g.records.Len() }

// Read takes the first message or event that waits, and copies as much of its data as fits
// into b; ok is false when nothing waits. It tells the member that there is room, when that
// is due.
func (g *Group) Read(now time.Duration, b []byte) (n int, r GroupReceived, ok bool) {
	if g.records.Len() == 0 {
		return 0, r, false
	}
	x := g.records.Pop()
	n, p, _ := g.port.Read(b)
	r = GroupReceived{Kind: x.kind, Len: p.Len, From: x.m.addr, Instance: x.m.instance, Type: x.typ, Importance: p.Importance}
	if x.kind != GroupData {
		r.Evicts, r.Behind, r.Idle = x.kind == MemberLeft && x.m.evicts, x.blocks, x.idle
		g.events--
		return n, r, true
	}
	g.consumed(now, x.m, x.blocks)
	g.port.e.runGroups(now)
	return n, r, true
}

// consumed counts a message of a member that was read, or was not for this socket.
func (g *Group) consumed(now time.Duration, m *member, blocks int) {
	if m.gone || m.phase == evicted {
		return
	}
	other := g.flow.Read(&m.flow, blocks)
	if m.flow.Due() != 0 {
		g.pay(now, m)
	}
	if other != nil && other != &m.flow {
		g.payOther(now, other)
	}
}

// drainRead drops what waits to be read.
func (g *Group) drainRead() {
	for g.records.Len() > 0 {
		g.records.Drop()
		g.port.Read(nil)
	}
	g.events = 0
	g.port.data = ring{}
}
