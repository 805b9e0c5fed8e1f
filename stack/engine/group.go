// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// Limits of groups.
const (
	MaxMembers  = 4096             // members that a group's socket knows; others it does not hear
	maxJoining  = 64               // of one node, that have said they join and have no binding yet
	maxMemberOf = 1024             // of one node; no node has more sockets in a group
	joiningTime = 5 * time.Second  // until such a one is forgotten
	leavingTime = 30 * time.Second // until one that leaves is, of which not all has come
	maxGroups   = 65535            // group sockets in this node
	groupEvents = 4096             // member events that may wait to be read

	MaxLag   = flowctl.MaxGroupLag // messages that may wait for a slow member, see Lag and DropOldest
	SlowTime = time.Second         // for which a slow member gives no room, unless GroupConfig.Limit is set
)

// ErrGroup means that the node has as many group sockets as it may have, of all groups or of
// this one.
var ErrGroup = errors.New("engine: too many groups in this node")

// A SlowPolicy says what becomes of a member that does not read what this socket sends to
// the whole group. It is the sender's own choice; members hear of it only by what comes.
//
// With Lag and DropOldest messages go to each node by unicast, in copies.
type SlowPolicy uint8

const (
	// Strict has senders wait for the slowest member, as kernels do.
	Strict SlowPolicy = iota
	// Lag has messages wait here for a member that has no room, while the others get theirs.
	// One that is slow is evicted: told that this socket left the group, and sent to no more
	// until it joins anew. With a Limit it is slow when one more would wait. Without, when it
	// has given no room for SlowTime, as it does for each 195 blocks that it reads, and more waits than it has ever let us send at once; where
	// more waits than may, sends wait for it until then.
	Lag
	// DropOldest has messages wait likewise. Of one that is slow the oldest is dropped, for this
	// member alone; without a Limit, also where more would wait than may.
	DropOldest
)

// A GroupConfig describes a socket in a group. Zero fields mean the defaults.
type GroupConfig struct {
	Service      frame.Service // the group's type, and the socket's own instance
	Scope        frame.Scope   // NodeScope: of this node alone; default ClusterScope
	Importance   frame.Importance
	Loopback     bool // it is its own member: it reads what it sends to its instance or to all
	Events       bool // MemberJoined and MemberLeft are told
	Policy       SlowPolicy
	Limit        int      // messages, see SlowPolicy; 0: as its window and its time say; at most MaxLag
	ReceiveLimit int      // bytes that may wait to be read; default: what kernels let; each member has 65 KiB in any case
	Account      *Account // that it counts in, or nil
	Of           *Port    // the connectionless port whose number the member has until it leaves, or nil; nothing comes to that port meanwhile
	Owner        any      // the owner's own word for the group
}

// A Group is a socket in a communication group: all sockets bound to one service type in
// this manner. What one sends to all, or to some, comes to each of these once, and to all
// in the order in which it was sent, unicasts among it; and nothing is lost as long as
// there is contact, for flow control keeps what waits to be read within bounds.
//
// The parts: group_members.go who is in it, group_protocol.go what members tell each
// other, group_send.go, group_slow.go what becomes of slow members, group_receive.go.
// Source: docs/spec/08-groups.md.
type Group struct {
	GroupConfig
	port    Port // its number, its queue, its place among senders
	watch   watch
	members []*member // by address
	flow    flowctl.GroupFlow
	closed  bool

	next   frame.Seq // of its broadcasts
	forced bool      // the next one takes the way of unicasts, and is acknowledged
	asked  bool      // the last one was to be
	acks   flowctl.GroupAcks
	turn   uint64 // anycasts that were sent
	serial uint64 // of the last member

	records   flowctl.Queue[groupRecord] // what waits in the port's queue, by place
	events    int                        // of them
	stuck     bool                       // a send waits for a member
	lagging   int                        // bytes that wait for slow members, each message once
	overdrawn bool                       // it is to leave, see overdraw
	readied   bool
	spoke     bool // since Spoke was asked
	full      MemberBlocked

	again alarm // what is owed is sent again
	sweep alarm // those who neither came nor went are forgotten
	count GroupCounters
}

// GroupCounters are what a group's socket has done.
type GroupCounters struct {
	Sent, Received uint64 // messages
	Dropped        uint64 // for a slow member, by DropOldest; each time one
	Evicted        uint64 // members, by Lag
	EventsLost     uint64 // beyond what may wait
}

// A MemberBlocked is an ErrWindow that names the member a send waits for. It is the
// group's: its next send may change it.
type MemberBlocked struct {
	Group    uint32
	Member   frame.SocketAddr
	Instance uint32
	Window   int // blocks of 1 KiB that it lets us send
	Need     int // that the message takes
	Acks     int // members that have to acknowledge the broadcast before; if not 0 it is that
	Behind   int // messages that wait for it here
}

func (b *MemberBlocked) Error() string { return "engine: " + b.What() }

// What says what a send waits for.
func (b *MemberBlocked) What() string {
	s := fmt.Sprintf("member %v of group %d", b.Member, b.Group)
	switch {
	case b.Acks > 0:
		return fmt.Sprintf("%s has not acknowledged the last broadcast, nor have %d others", s, b.Acks-1)
	case b.Behind > 0:
		return fmt.Sprintf("%s is %d messages behind", s, b.Behind)
	}
	return fmt.Sprintf("%s lets us send %d KiB, the message takes %d", s, b.Window, b.Need)
}

// Unwrap returns ErrWindow.
func (b *MemberBlocked) Unwrap() error { return ErrWindow }

// groups are a node's group sockets.
type groups struct {
	all    []*Group // in order of joining; those that still have to say they leave, too
	byType map[uint32][]*Group
	news   flowctl.Queue[groupNews]
	local  flowctl.Queue[[]byte] // messages within the node
	spare  [][]byte
	busy   bool
	held   bool // see HoldGroups
	kept   flowctl.Queue[heldMessage]
	ready  []*Group
}

// A groupNews is a binding that came or went.
type groupNews struct {
	g  *Group
	ev naming.Event
}

// Join makes a socket in a group. Errors: ErrReserved, ErrConfig, also of a port that is closed or
// a member's already, ErrSockets, ErrGroup,
// ErrTooManyBindings. Source: docs/spec/08-groups.md §1.
func (e *Engine) Join(now time.Duration, k GroupConfig) (*Group, error) {
	if k.Scope != frame.NodeScope {
		k.Scope = frame.ClusterScope
	}
	switch {
	case k.Service.Type < naming.FirstUser:
		return nil, ErrReserved
	case k.Of != nil && e.ports[k.Of.number] != k.Of: // it is closed, or in a group
		return nil, ErrConfig
	case k.Service.Node != 0 || k.Limit < 0 || k.Limit > flowctl.MaxGroupLag || k.ReceiveLimit < 0 || k.Policy > DropOldest || k.Importance > frame.Critical:
		return nil, ErrConfig
	case len(e.ports) >= maxPorts || e.addr == 0:
		return nil, ErrSockets
	case len(e.groups.all) >= maxGroups || len(e.groups.byType[k.Service.Type]) >= maxMemberOf:
		return nil, ErrGroup
	}
	g := &Group{GroupConfig: k, forced: true}
	g.flow.Room = k.ReceiveLimit >> 10
	g.port = Port{PortConfig: PortConfig{Importance: k.Importance, Account: k.Account}, e: e, group: g}
	g.port.enter()
	g.again.owner, g.sweep.owner = g, g
	if k.Of != nil {
		g.port.number = k.Of.number
		e.putPort(&g.port)
	}
	e.number(&g.port)
	typ := k.Service.Type
	all := frame.Range{Type: typ, Upper: ^uint32(0)}
	g.watch = watch{Subscription: naming.Subscription{Range: all, Filter: frame.FilterPorts}, by: g, due: flowctl.Never}

	s := &e.groups
	e.takeChanges() // what was before is no news to it
	var there []naming.Binding
	find := func(b naming.Binding) { there = append(there, b) }
	if g.watch.Few(e.table, MaxMembers) {
		e.did(WorkBindings, g.watch.Existing(e.table, find))
	} else { // not all could be members
		e.did(WorkBindings, new(naming.Listing).Next(e.table, &g.watch.Subscription, MaxMembers, find))
	}
	for _, b := range slices.Backward(there) { // as kernels do: capture 22, frames 74 and 75
		g.told(naming.Event{Binding: b})
	}
	e.watch(&g.watch)
	s.all = append(s.all, g)
	if s.byType == nil {
		s.byType = map[uint32][]*Group{}
	}
	s.byType[typ] = append(s.byType[typ], g)
	was := s.busy
	s.busy = true // those who are there are told when it is bound
	err := g.port.Bind(now, frame.Range{Type: typ, Lower: k.Service.Instance, Upper: k.Service.Instance}, k.Scope)
	s.busy = was
	if err != nil {
		g.closed = true
		g.giveNumberBack()
		g.release(now)
		return nil, err
	}
	e.groupNews(now)
	return g, nil
}

// told implements subscriber.
func (g *Group) told(ev naming.Event) { g.port.e.groups.news.Push(groupNews{g, ev}) }

// timedOut implements subscriber.
func (g *Group) timedOut() {}

// hearNow has the group know all that the table does: what refers to a binding does not come
// before the binding, whatever others have still to be told.
func (g *Group) hearNow(now time.Duration) {
	e := g.port.e
	if e.watches.pending.Len() == 0 || g.closed {
		return
	}
	e.hearNow(&g.watch)
	s := &e.groups
	for range s.news.Len() {
		if x := s.news.Pop(); x.g == g {
			g.heard(now, x.ev)
		} else {
			s.news.Push(x)
		}
	}
}

// Addr is the socket's address.
func (g *Group) Addr() frame.SocketAddr { return g.port.Addr() }

// Spoke reports whether something was sent to members since the last call, beside what the
// program sent: it wants to go out.
func (g *Group) Spoke() bool {
	was := g.spoke
	g.spoke = false
	return was
}

// Room reports whether there is a member, and no send has found one without room since TakeReadyGroups
// named the group.
func (g *Group) Room() bool { return !g.stuck && g.Joined() > 0 }

// Counters returns what the socket has done so far.
func (g *Group) Counters() GroupCounters { return g.count }

// Leave tells the members that this socket is none any more, and withdraws its binding.
// What waits to be read is dropped. Source: docs/spec/08-groups.md §1.
func (g *Group) Leave(now time.Duration) {
	if g.closed {
		return
	}
	g.closed = true
	e := g.port.e
	e.unwatch(&g.watch)
	for _, m := range g.members {
		if m.phase != evicted && m.phase != leaving {
			m.flow.Paid(^flowctl.GroupDue(0))
			m.flow.Owe(flowctl.DueLeave)
			g.pay(now, m)
		}
	}
	for _, b := range g.port.bindings {
		e.withdraw(now, b)
	}
	g.port.bindings = nil
	g.drainRead()
	g.wake()
	e.runGroups(now)
	g.giveNumberBack()
	g.linger(now)
}

// giveNumberBack has the port that the member had its number of receive again. What is still to be
// sent says the same number.
func (g *Group) giveNumberBack() {
	if of := g.Of; of != nil {
		g.Of = nil
		if !of.closed {
			g.port.e.putPort(of)
		}
	}
}

// linger keeps the number of a socket that has left until all members are told.
func (g *Group) linger(now time.Duration) {
	e := g.port.e
	keep := g.members[:0]
	for _, m := range g.members {
		if m.flow.Due()&flowctl.DueLeave != 0 {
			keep = append(keep, m)
		}
	}
	clear(g.members[len(keep):])
	g.members = keep
	if len(keep) > 0 {
		e.alarms.set(&g.again, now+owedPause)
		return
	}
	g.release(now)
}

// release gives back everything of a socket that has left.
func (g *Group) release(now time.Duration) {
	e := g.port.e
	s := &e.groups
	e.unwatch(&g.watch)
	e.alarms.cancel(&g.again)
	e.alarms.cancel(&g.sweep)
	s.all = without(s.all, g)
	typ := g.Service.Type
	if s.byType[typ] = without(s.byType[typ], g); len(s.byType[typ]) == 0 {
		delete(s.byType, typ)
	}
	g.port.retire(now)
}

func without(l []*Group, g *Group) []*Group {
	for i, x := range l {
		if x == g {
			return append(append([]*Group(nil), l[:i]...), l[i+1:]...)
		}
	}
	return l
}

// groupNews tells group sockets what has changed in the binding table.
func (e *Engine) groupNews(now time.Duration) {
	if len(e.groups.all) > 0 {
		e.tellWatches()
		e.runGroups(now)
	}
}

// runGroups does what group sockets have noted, and delivers what they sent within the
// node; and what comes of that. Within itself it does nothing.
func (e *Engine) runGroups(now time.Duration) {
	s := &e.groups
	if s.busy || s.held {
		return
	}
	s.busy = true
	for s.news.Len() > 0 || s.local.Len() > 0 {
		if s.news.Len() > 0 {
			if x := s.news.Pop(); !x.g.closed {
				x.g.heard(now, x.ev)
			}
			continue
		}
		msg := s.local.Pop()
		if m, err := frame.Parse(msg); err == nil {
			e.deliverMessage(now, e.self, m, nil, false)
		}
		if len(s.spare) < 64 && cap(msg) <= 2048 {
			s.spare = append(s.spare, msg)
		}
	}
	s.busy = false
}

// localRoom returns room for a message within the node, that is queued.
func (s *groups) localRoom(n int) []byte {
	var b []byte
	if k := len(s.spare); k > 0 && n <= cap(s.spare[k-1]) {
		b = s.spare[k-1][:n]
		s.spare = s.spare[:k-1]
	} else {
		b = make([]byte, n, max(n, 256))
	}
	s.local.Push(b)
	return b
}

// TakeReadyGroups appends to dst the groups that can be read, or sent to again, or that
// have changed, since the last call, each once.
func (e *Engine) TakeReadyGroups(dst []*Group) []*Group {
	s := &e.groups
	if len(s.ready) == 0 {
		return dst
	}
	for _, g := range s.ready {
		g.readied = false
	}
	dst = append(dst, s.ready...)
	clear(s.ready)
	s.ready = s.ready[:0]
	return dst
}

// ready has TakeReadyGroups name the group.
func (g *Group) ready() {
	if !g.readied {
		g.readied = true
		s := &g.port.e.groups
		s.ready = append(s.ready, g)
	}
}

// wake does so if a send waits for a member.
func (g *Group) wake() {
	if g.stuck {
		g.stuck = false
		g.ready()
	}
}

// ring implements ringer.
func (g *Group) ring(now time.Duration, a *alarm) {
	if a == &g.sweep {
		g.forgetLate(now)
	} else {
		for _, m := range g.members {
			g.pay(now, m)
			g.catchUp(now, m)
		}
		if g.closed {
			g.linger(now)
		}
		g.wake()
	}
	if g.overdrawn {
		g.Leave(now)
	}
	g.port.e.runGroups(now)
}

// Err is why a group's socket has left without being asked to: the Full of its account;
// else nil.
func (g *Group) Err() error {
	if g.overdrawn {
		return g.Account.Full
	}
	return nil
}

// overdraw has a socket leave its group, whose owner holds too much, and of all of that
// this one most. What waits is dropped now. It leaves in a turn of its own: now the groups
// may be walked.
func (g *Group) overdraw(now time.Duration) {
	g.overdrawn = true
	g.drainRead()
	for _, m := range g.members {
		g.clearLag(m)
	}
	g.port.e.alarms.set(&g.again, now)
	g.ready()
	g.wake()
}
