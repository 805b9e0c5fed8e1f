// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// rejoinWindow is how many blocks a member's window must have before broadcasts go to its
// node again: less would soon be used up.
const rejoinWindow = flowctl.GroupIdle / 2

// castPast sends a broadcast to the members that have room, and has it wait here for the
// others.
//
// A sender's broadcasts have one row of numbers for all members, and a receiver waits at
// a gap. So a member that a broadcast goes past, and all members of its node, as a
// broadcast to a node is for all of them, are diverted: they expect the number they did
// not get, and until further notice everything comes to them as unicasts, which wait for
// no later number. When nothing waits for any of them, a second JOIN tells each the
// number that comes next, and broadcasts go to their node again. All copies go by the
// node's own link, lest such a JOIN overtake a broadcast.
func (g *Group) castPast(now time.Duration, t frame.PayloadType, instance uint32, data []byte) error {
	blocks := flowctl.GroupBlocks(len(data))
	g.markPast(now, blocks)
	if m := g.ahead(now, t, instance, len(data)); m != nil {
		if at := m.moved + SlowTime; !g.again.isSet() || at < g.again.at {
			g.port.e.alarms.set(&g.again, at)
		}
		return g.blocked(now, m, blocks)
	}
	if err := g.spread(now, t, instance, data, true, false); err != nil {
		return err
	}
	var kept *flowctl.Lagging // for all of those that it went past
	var late []*member
	for _, m := range g.members {
		switch {
		case !m.receives():
		case !m.past:
			m.flow.Sent(blocks)
		default:
			if !m.diverted {
				m.diverted, m.expects = true, g.next
			}
			if t == frame.GroupMcastMsg && m.instance != instance {
				continue
			}
			if kept == nil {
				kept = &flowctl.Lagging{Data: bytes.Clone(data)}
			}
			if !g.keep(now, m, kept) {
				late = append(late, m)
			}
		}
	}
	g.next++
	g.count.Sent++
	for _, m := range late {
		g.evict(now, m)
	}
	if kept != nil {
		for _, m := range g.members {
			g.catchUp(now, m)
		}
	}
	g.port.e.runGroups(now)
	return nil
}

// markPast notes which members a broadcast goes past: those that have no room, and all
// others of their nodes.
func (g *Group) markPast(now time.Duration, blocks int) {
	for _, m := range g.members {
		if m.receives() && m.flow.Due() != 0 {
			g.pay(now, m)
		}
	}
	for first := 0; first < len(g.members); {
		there := g.at(g.members[first].addr.Node)
		past := false
		for _, m := range there {
			past = past || m.receives() && (m.diverted || !m.flow.Open(blocks) || m.flow.Due() != 0)
		}
		for _, m := range there {
			m.past = past
		}
		first += len(there)
	}
}

// late reports whether a member may have no message of n bytes more wait for it.
func (g *Group) late(now time.Duration, m *member, n int) bool {
	if g.Limit > 0 {
		return !m.lag.Fits(n, g.Limit)
	}
	return !m.lag.Fits(n, MaxLag) || m.lag.Blocks()+flowctl.GroupBlocks(n) > m.most && now-m.moved >= SlowTime
}

// ahead returns a member that reads, and for which no message of n bytes more can wait: the sender has
// to. With DropOldest nobody has to.
func (g *Group) ahead(now time.Duration, t frame.PayloadType, instance uint32, n int) *member {
	if g.Policy != Lag || g.Limit > 0 {
		return nil
	}
	for _, m := range g.members {
		if m.receives() && m.past && (t != frame.GroupMcastMsg || m.instance == instance) && now-m.moved < SlowTime && !m.lag.Fits(n, MaxLag) {
			return m
		}
	}
	return nil
}

// keep has a message wait for a member. It reports false when too much would.
func (g *Group) keep(now time.Duration, m *member, data *flowctl.Lagging) bool {
	if m.lag.Len() == 0 {
		m.moved = now
	}
	for g.late(now, m, len(data.Data)) || data.Held() == 0 && g.port.Account.beyond(len(data.Data)) != nil {
		if g.Policy == Lag {
			return false
		}
		none := m.lag.Len() == 0 // not even this one can wait
		if !none {
			g.dropLag(m)
		}
		m.dropped++
		g.count.Dropped++
		if !m.dropping {
			m.dropping = true
			g.slowEvent(now, m, MemberDropping, m.lag.Len()+1)
		}
		if none {
			return true
		}
	}
	g.lagging += m.lag.Push(data)
	g.port.recount()
	return true
}

// dropLag drops the oldest message that waits for a member.
func (g *Group) dropLag(m *member) {
	g.lagging -= m.lag.Drop()
	g.port.recount()
}

// clearLag drops all that wait for one.
func (g *Group) clearLag(m *member) {
	for m.lag.Len() > 0 {
		g.lagging -= m.lag.Drop()
	}
	g.port.recount()
}

// evict ends sending to a member, which is told.
func (g *Group) evict(now time.Duration, m *member) {
	if m.gone || m.phase == evicted {
		return
	}
	number, behind := g.number(m), m.lag.Len()
	g.count.Evicted++
	g.unblock(m)
	m.order.Clear(func(*flowctl.GroupItem) {})
	other := g.flow.Leave(&m.flow)
	m.phase = evicted
	m.diverted, m.expects = true, number
	m.flow.Owe(flowctl.DueLeave)
	g.pay(now, m)
	if other != nil {
		g.payOther(now, other)
	}
	g.slowEvent(now, m, MemberEvicted, behind)
}

// catchUp sends a diverted member what waits for it, as far as it has room; and when
// nothing waits for any member of its node, has broadcasts go there again.
func (g *Group) catchUp(now time.Duration, m *member) {
	if !m.diverted || !m.receives() {
		return
	}
	for m.lag.Len() > 0 {
		d := m.lag.First().Data
		if !m.flow.Open(flowctl.GroupBlocks(len(d))) {
			return
		}
		if !g.pay(now, m) || g.unicast(now, m, d) != nil {
			g.owe(now)
			return
		}
		g.count.Sent-- // it was counted before
		g.dropLag(m)
	}
	there := g.at(m.addr.Node)
	for _, x := range there {
		if x.receives() && (x.lag.Len() > 0 || !x.flow.Open(rejoinWindow) || x.flow.Due() != 0) {
			return
		}
	}
	for _, x := range there {
		if !x.receives() || !x.diverted {
			continue
		}
		expects := x.expects
		x.diverted = false
		if !g.tellMember(now, x, frame.GroupJoin) {
			x.diverted, x.expects = true, expects
			g.owe(now)
			return
		}
		x.dropping = false
	}
	g.wake()
}
