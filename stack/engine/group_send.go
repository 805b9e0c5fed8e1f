// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// Send sends data to all members. It is copied. Empty data is not sent, but with the policy Strict
// fails as a message of one block would. Errors: ErrClosed; ErrUnreachable, as long as there are no others; ErrTooLong
// above frame.MaxPayload bytes. Those that pass: *MemberBlocked, after which TakeReadyGroups names the group when
// something has changed; ErrMemory and *Blocked, as of Port.Send.
func (g *Group) Send(now time.Duration, data []byte) error {
	g.hearNow(now)
	return g.cast(now, frame.GroupBcastMsg, 0, data)
}

// SendMulticast sends data to all members with an instance. Errors as for Send, with
// ErrUnreachable when there is none.
func (g *Group) SendMulticast(now time.Duration, instance uint32, data []byte) error {
	g.hearNow(now)
	var one *member
	n := 0
	for _, m := range g.members {
		if m.receives() && m.instance == instance {
			one, n = m, n+1
		}
	}
	switch {
	case g.closed:
		return ErrClosed
	case n == 0:
		return g.noMember(instance)
	case n == 1 && (g.Policy == Strict || g.mayUnicast(one, flowctl.GroupBlocks(len(data)))):
		return g.sendOne(now, one, data)
	}
	return g.cast(now, frame.GroupMcastMsg, instance, data)
}

// SendTo sends data to one member. Errors as for Send, with ErrUnreachable when it is none.
func (g *Group) SendTo(now time.Duration, to frame.SocketAddr, data []byte) error {
	g.hearNow(now)
	if to.Node == 0 {
		to.Node = g.port.e.addr
	}
	m := g.find(to)
	switch {
	case g.closed:
		return ErrClosed
	case m != nil && m.phase == evicted:
		return ErrEvicted
	case m == nil || !m.receives():
		return ErrNoMember
	}
	return g.sendOne(now, m, data)
}

// SendAnycast sends data to one member with an instance: they take turns, the
// newest first, and one that has no room is passed over. Errors as for SendMulticast. Source:
// docs/spec/08-groups.md §3.
func (g *Group) SendAnycast(now time.Duration, instance uint32, data []byte) error {
	g.hearNow(now)
	if g.closed {
		return ErrClosed
	}
	var next, open *member
	best := func(old, m *member) *member {
		if old == nil || m.turn < old.turn || m.turn == old.turn && m.serial > old.serial {
			return m
		}
		return old
	}
	blocks := flowctl.GroupBlocks(len(data))
	for _, m := range g.members {
		if m.receives() && m.instance == instance {
			next = best(next, m)
			if g.mayUnicast(m, blocks) {
				open = best(open, m)
			}
		}
	}
	if next == nil {
		return g.noMember(instance)
	}
	if open == nil {
		open = next
	}
	err := g.sendOne(now, open, data)
	if err == nil {
		g.turn++
		open.turn = g.turn
	}
	return err
}

// noMember is why there is nobody with an instance to send to.
func (g *Group) noMember(instance uint32) error {
	for _, m := range g.members {
		if m.phase == evicted && m.instance == instance {
			return ErrEvicted
		}
	}
	return ErrNoMember
}

// mayUnicast reports whether a member has room for a message of its own.
func (g *Group) mayUnicast(m *member, blocks int) bool {
	return m.lag.Len() == 0 && m.flow.Open(blocks)
}

// sendOne sends data to a member.
func (g *Group) sendOne(now time.Duration, m *member, data []byte) error {
	blocks := flowctl.GroupBlocks(len(data))
	switch {
	case len(data) > frame.MaxPayload:
		return &LengthError{len(data), frame.MaxPayload}
	case !g.mayUnicast(m, blocks) || !g.pay(now, m):
		return g.blocked(now, m, blocks)
	case len(data) == 0:
		return nil
	}
	err := g.unicast(now, m, data)
	g.port.e.runGroups(now)
	return err
}

// unicast sends data to a member that has room.
func (g *Group) unicast(now time.Duration, m *member, data []byte) error {
	e := g.port.e
	f := g.header(frame.GroupUcastMsg, 0, g.number(m), g.asked)
	f.DestPort, f.DestNode = m.addr.Port, m.addr.Node
	if m.addr.Node == e.addr {
		g.port.sent(e.self, len(data))
		g.sendLocal(&f, data)
	} else if err := g.port.send(now, &f, data); err != nil {
		return err
	}
	m.flow.Sent(flowctl.GroupBlocks(len(data)))
	g.forced = true
	g.count.Sent++
	return nil
}

// header is that of a message in the group.
func (g *Group) header(t frame.PayloadType, instance uint32, number frame.Seq, ask bool) frame.PayloadFields {
	f := g.port.template(t, frame.SocketAddr{})
	f.DestNode, f.DestDroppable, f.Scope = 0, true, g.Scope
	f.NameType, f.Lower, f.Upper = g.Service.Type, instance, frame.GroupWord(number, ask)
	return f
}

// sendLocal sends a message to members of this node.
func (g *Group) sendLocal(f *frame.PayloadFields, data []byte) {
	h := f.Len()
	b := g.port.e.groups.localRoom(h + len(data))
	f.Put(b, len(data))
	copy(b[h:], data)
}

// blocked says what a send waits for. A member that has less than it may have is told the
// rest: it may wait for that. Source: docs/spec/08-groups.md §6.1.
func (g *Group) blocked(now time.Duration, m *member, blocks int) error {
	if m.flow.Short() {
		m.flow.Owe(flowctl.DueAdv)
		g.pay(now, m)
		g.port.e.runGroups(now)
	}
	g.stuck = true
	g.full = MemberBlocked{g.Service.Type, m.addr, m.instance, m.flow.Window(), blocks, 0, m.lag.Len()}
	if m.flow.Awaited() && blocks == 0 {
		g.full.Acks = g.acks.Missing()
	}
	return &g.full
}

// cast sends a message that has a number of its own: to all members, though those with
// another instance drop it. Source: docs/spec/08-groups.md §5.2, §6.1.
func (g *Group) cast(now time.Duration, t frame.PayloadType, instance uint32, data []byte) error {
	g.port.e.did(WorkMembers, len(g.members))
	switch {
	case g.closed:
		return ErrClosed
	case len(data) > frame.MaxPayload:
		return &LengthError{len(data), frame.MaxPayload}
	case !g.any():
		return ErrNoMember
	case len(data) == 0 && g.Policy != Strict:
		return nil
	case g.Policy != Strict:
		return g.castPast(now, t, instance, data)
	}
	blocks := flowctl.GroupBlocks(len(data))
	if m := g.slowest(now, blocks); m != nil {
		return g.blocked(now, m, blocks)
	}
	if g.acks.Missing() > 0 {
		for _, m := range g.members {
			if m.flow.Awaited() {
				return g.blocked(now, m, 0)
			}
		}
	}
	if len(data) == 0 {
		return nil
	}
	forced := g.forced
	if err := g.spread(now, t, instance, data, forced, forced); err != nil {
		return err
	}
	if forced {
		g.acks.Ask(g.next)
		g.forced = false
	}
	for _, m := range g.members {
		if m.receives() {
			m.flow.Sent(blocks)
			if forced {
				g.acks.Await(&m.flow)
			}
		}
	}
	g.asked = forced
	g.next++
	g.count.Sent++
	g.port.e.runGroups(now)
	return nil
}

// any reports whether there is anybody to send to.
func (g *Group) any() bool {
	for _, m := range g.members {
		if m.receives() {
			return true
		}
	}
	return false
}

// slowest returns the member that has least room for a broadcast, or is owed something,
// if it holds that up; else nil.
func (g *Group) slowest(now time.Duration, blocks int) (slow *member) {
	for _, m := range g.members {
		if !m.receives() || m.flow.Due() == 0 && m.flow.Open(blocks) {
			continue
		}
		if g.pay(now, m) && m.flow.Open(blocks) {
			continue
		}
		if slow == nil || m.flow.Window() < slow.flow.Window() {
			slow = m
		}
	}
	return slow
}

// spread sends a broadcast to the nodes that have members, but for those that it goes
// past, and to this one.
func (g *Group) spread(now time.Duration, t frame.PayloadType, instance uint32, data []byte, copies, ask bool) error {
	e := g.port.e
	x := &e.mcast
	x.remote = x.remote[:0]
	here := false
	var last frame.NodeAddr
	for _, m := range g.members {
		if !m.receives() || m.past || m.addr.Node == last {
			continue
		}
		last = m.addr.Node
		if last == e.addr {
			here = true
		} else if n := e.reach(last); n != nil {
			x.remote = append(x.remote, n)
		}
	}
	x.head = g.header(t, instance, g.next, ask)
	if len(x.remote) > 0 {
		if !copies {
			copies, _ = e.chooseMethod(now, &g.port, len(x.remote))
		}
		x.head.SrcDroppable = copies
		x.ways = x.ways[:0]
		e.addWays(now, &g.port, copies, false)
		var err error
		if len(x.ways) == 1 {
			err = e.sendOneWay(now, &g.port, data)
		} else {
			err = e.sendAllWays(now, &g.port, data)
		}
		if err != nil {
			return err
		}
		g.port.method.replicast = copies
		e.count.MessagesOut++
		if copies {
			e.count.Replicasts++
		} else {
			e.count.Broadcasts++
		}
	}
	if here {
		f := g.header(t, instance, g.next, ask)
		g.sendLocal(&f, data)
	}
	g.port.stats.MessagesOut++
	g.port.stats.BytesOut += uint64(len(data))
	return nil
}
