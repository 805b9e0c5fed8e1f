// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A memberPhase is how far a member has come.
//
//	binding ──► published ──(JOIN)────► joined ──(LEAVE, binding gone)──► leaving ──► (gone)
//	JOIN ─────► joining ──(binding)────►  │
//	                                      └──(too far behind: Lag)──► evicted ──(binding gone)──► (gone)
//
// Flow control has states of its own for those that have joined.
// Source: docs/spec/08-groups.md §4.
type memberPhase uint8

const (
	published memberPhase = iota // sent to; its window is closed
	joining                      // neither sent to nor heard
	joined
	leaving // heard, until what it sent before is there
	evicted
)

// A member is another socket in the group, or the own one with Loopback.
type member struct {
	addr     frame.SocketAddr
	instance uint32
	phase    memberPhase
	serial   uint64        // of those that came before, it is more
	turn     uint64        // which anycast it had last, see Group.turn
	since    time.Duration // that it is joining, or leaving
	flow     flowctl.GroupMember
	order    flowctl.GroupOrder
	ackNext  frame.Seq // to be acknowledged, when that is due
	gone     bool
	evicts   bool // it leaves as it has evicted this socket

	// Of a slow member: see group_slow.go.
	past     bool      // the broadcast being sent goes past it
	diverted bool      // broadcasts do not go to its node
	expects  frame.Seq // since this number
	dropping bool      // messages for it were dropped since then
	lag      flowctl.GroupLag
	dropped  uint64
	most     int           // the largest window that it gave us
	moved    time.Duration // when it last gave us room, or something began to wait for it
}

// receives reports whether the member may be sent to, and sends whether it is heard.
func (m *member) receives() bool { return m.phase == published || m.phase == joined }

func (m *member) sends() bool { return m.phase == joined || m.phase == leaving }

func byAddr(m *member, a frame.SocketAddr) int {
	return cmp.Or(cmp.Compare(m.addr.Node, a.Node), cmp.Compare(m.addr.Port, a.Port))
}

// find returns a member, or nil.
func (g *Group) find(a frame.SocketAddr) *member {
	if i, ok := slices.BinarySearchFunc(g.members, a, byAddr); ok {
		return g.members[i]
	}
	return nil
}

// enter makes a member. It returns nil when there are too many.
func (g *Group) enter(now time.Duration, a frame.SocketAddr, p memberPhase) *member {
	there := g.at(a.Node)
	if len(g.members) >= MaxMembers || len(there) >= maxMemberOf {
		return nil
	}
	if p == joining {
		g.port.e.did(WorkMembers, len(there))
		joinings := 0
		for _, m := range there {
			if m.phase == joining {
				joinings++
			}
		}
		if joinings >= maxJoining {
			return nil
		}
	}
	g.serial++
	m := &member{addr: a, phase: p, since: now, serial: g.serial}
	g.flow.Enter(&m.flow)
	i, _ := slices.BinarySearchFunc(g.members, a, byAddr)
	g.members = slices.Insert(g.members, i, m)
	if p == joining {
		g.sweepBy(now + joiningTime)
	}
	return m
}

// at returns the members of a node.
func (g *Group) at(n frame.NodeAddr) []*member {
	i, _ := slices.BinarySearchFunc(g.members, frame.SocketAddr{Node: n}, byAddr)
	j, last := slices.BinarySearchFunc(g.members, frame.SocketAddr{Node: n, Port: ^uint32(0)}, byAddr)
	if last {
		j++
	}
	return g.members[i:j]
}

// heard takes a binding that came or went.
func (g *Group) heard(now time.Duration, ev naming.Event) {
	b := ev.Binding
	a := b.Socket
	if b.Scope != g.Scope || a.Port == 0 || a == g.Addr() && !g.Loopback {
		return
	}
	m := g.find(a)
	if m != nil && m.phase == leaving && !ev.Withdrawn { // it is back before all else of it was
		g.finish(now, m)
		m = nil
	}
	switch {
	case ev.Withdrawn:
		if m != nil {
			g.unbound(now, m)
		}
	case m == nil:
		if m = g.enter(now, a, published); m == nil {
			g.port.e.drop(DropGroup)
			return
		}
		m.instance = b.Range.Lower
		m.flow.Owe(flowctl.DueJoin)
		g.forced = true
		g.pay(now, m)
	case m.phase == joining:
		m.instance = b.Range.Lower
		m.flow.Owe(flowctl.DueJoin)
		g.joined(now, m)
	}
}

// joined makes a member whose binding and whose JOIN are there one that is heard.
func (g *Group) joined(now time.Duration, m *member) {
	m.phase = joined
	g.flow.Join(&m.flow)
	g.forced = true
	g.event(m, MemberJoined)
	g.pay(now, m)
	g.wake()
}

// unbound takes it that the binding of a member is gone.
func (g *Group) unbound(now time.Duration, m *member) {
	switch m.phase {
	case published, evicted:
		g.forget(now, m)
	case joined:
		g.depart(now, m)
	}
}

// depart ends sending to a member that leaves. What it sent before may be under way
// still, until its LEAVE has told how much that is.
func (g *Group) depart(now time.Duration, m *member) {
	m.phase, m.since = leaving, now
	g.unblock(m)
	g.sweepBy(now + joiningTime)
}

// unblock ends all that senders wait for from a member.
func (g *Group) unblock(m *member) {
	g.acks.Forget(&m.flow)
	g.clearLag(m)
	m.diverted = false
	g.wake()
	if len(g.members) == 1 {
		g.ready()
	}
}

// forget removes a member.
func (g *Group) forget(now time.Duration, m *member) {
	if m.gone {
		return
	}
	m.gone = true
	g.unblock(m)
	if m.phase != evicted {
		if other := g.flow.Leave(&m.flow); other != nil {
			g.owe(now)
		}
	}
	if i, ok := slices.BinarySearchFunc(g.members, m.addr, byAddr); ok {
		g.members = slices.Delete(g.members, i, i+1)
	}
	g.wake()
}

// finish removes a member that has left, and of which no more will come.
func (g *Group) finish(now time.Duration, m *member) {
	m.order.Clear(func(*flowctl.GroupItem) {})
	was := m.phase
	g.forget(now, m)
	if was == joined || was == leaving {
		g.event(m, MemberLeft)
	}
}

// sweepBy has forgetLate called.
func (g *Group) sweepBy(at time.Duration) {
	if !g.sweep.isSet() {
		g.port.e.alarms.set(&g.sweep, at)
	}
}

// forgetLate forgets the members that have said they join and never had a binding, and
// those that lost it and never said they leave.
func (g *Group) forgetLate(now time.Duration) {
	next := flowctl.Never
	var late []*member
	for _, m := range g.members {
		if m.phase != joining && m.phase != leaving {
			continue
		}
		end := m.since + joiningTime
		if m.phase == leaving {
			end = m.since + leavingTime
		}
		if now < end {
			next = min(next, end)
			continue
		}
		late = append(late, m)
	}
	for _, m := range late {
		g.finish(now, m)
	}
	if next != flowctl.Never {
		g.sweepBy(next)
	}
}

// loseGroups ends the members on a node with which contact is lost. Nothing is sent; the
// node's bindings are about to go.
func (e *Engine) loseGroups(now time.Duration, n *node) {
	s := &e.groups
	if len(s.all) == 0 {
		return
	}
	e.tellWatches()
	for range s.news.Len() {
		if x := s.news.Pop(); x.ev.Binding.Socket.Node != n.addr {
			s.news.Push(x)
		}
	}
	for _, g := range s.all {
		for _, m := range slices.Clone(g.at(n.addr)) {
			g.finish(now, m)
		}
		if g.closed {
			g.owe(now)
		}
	}
}

// Joined is the number of members that are heard.
func (g *Group) Joined() (n int) {
	for _, m := range g.members {
		if m.phase == joined {
			n++
		}
	}
	return n
}

// A GroupMember is a member as this socket sees it.
type GroupMember struct {
	Addr     frame.SocketAddr
	Instance uint32
	Joined   bool // it is heard, too
	Evicted  bool
	Window   int    // blocks of 1 KiB that it lets us send
	Granted  int    // that it may send, or has sent and the program has not read
	Unread   int    // of them
	Behind   int    // messages that wait for it here
	Dropped  uint64 // messages for it that were dropped
}

// Members returns the members that may be sent to, and those evicted, by address.
func (g *Group) Members() (all []GroupMember) {
	for _, m := range g.members {
		if m.receives() || m.phase == evicted {
			all = append(all, GroupMember{
				m.addr, m.instance, m.phase == joined, m.phase == evicted,
				m.flow.Window(), m.flow.Advertised(), m.flow.Unread(), m.lag.Len(), m.dropped,
			})
		}
	}
	return all
}
