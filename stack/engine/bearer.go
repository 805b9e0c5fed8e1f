// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// A bearer is one attachment to a network, with its part of discovery.
type bearer struct {
	BearerConfig
	id       uint8
	interval time.Duration // between discovery messages
	next     time.Duration // when the next is due
	links    int           // links over it that are up
	removed  bool
	tuned    bool // SetLink has set the window of its links
	out      flowctl.Queue[outgoing]
	choice   seal.Choice    // of keys for the first in out, once a copy of it has gone
	copies   int            // of it that have gone
	starved  bool           // it waits for a chunk to be sealed into
	local    *flowctl.Local // of its links; nil before the first
	self     string         // this node in the names of its links
	ring     *supervision   // of its neighbours; nil before the first link
}

// freeBearer is the lowest number that no bearer has.
func (e *Engine) freeBearer() int {
	for i, b := range e.bearers {
		if b.removed && b.out.Len() == 0 {
			return i
		}
	}
	return len(e.bearers)
}

// RemoveBearer takes a bearer out of use. What its links still had goes over others;
// a node without any other is told once, and contact with it is lost. Frames may be
// left to send; then the number is free for another bearer.
// Source: docs/spec/03-discovery-and-node.md §7; capture 19.
func (e *Engine) RemoveBearer(now time.Duration, bearerID int) {
	b := e.bearers[bearerID]
	if b.removed {
		return
	}
	b.removed = true
	for _, n := range e.nodes {
		if l := n.links[bearerID]; l != nil {
			l.Fail()
			e.after(now, l)
		}
	}
	e.reapFailed(now)
	for _, n := range e.nodes {
		if l := n.links[bearerID]; l != nil {
			e.end(l)
			n.links[bearerID] = nil
		}
		s := n.spare
		n.spare = nil // there are not two others any more
		if s != nil && int(s.bearer) != bearerID && now-s.heard <= heardGap && !e.cfg.AsKernel {
			e.accept(now, n, e.bearers[s.bearer], s.mac)
		}
	}
	b.next = flowctl.Never
}

// end gives back all that a link has.
func (e *Engine) end(l *link) {
	l.Stop()
	l.ringDown(true)
	e.drain(l)
	l.disinherit()
	e.arm(l)
}

// SetMTU follows a bearer's interface: mtu is the largest message it may carry now,
// in bytes, 0 or less than a bearer must have while it carries nothing. A change takes
// its links down; with one that works, discovery begins anew.
func (e *Engine) SetMTU(now time.Duration, bearerID, mtu int) {
	b := e.bearers[bearerID]
	if mtu < e.leastMTU() {
		mtu = 0
	}
	if mtu == b.MTU || b.removed {
		return
	}
	if e.addr == 0 && b.MTU == 0 {
		e.trial.end = now + trialPeriod // nobody was there to object
	}
	b.MTU = mtu
	e.purgeIf(b, func(m frame.Message, _ frame.MAC) bool { return ofSession(m) }) // at once: every link would look through all of it
	for _, n := range e.nodes {
		if l := n.links[b.id]; l != nil {
			l.SetMTU(now, mtu)
			e.after(now, l)
		}
	}
	e.reapFailed(now)
	if mtu > 0 {
		e.startDiscovery(now, b)
	}
}

// An outgoing frame waits for its device, plain: it is sealed when the device takes it.
type outgoing struct {
	f  *netdev.Buffer
	to *node // on whose link it goes; nil: discovery, or of the broadcast link
}

// push queues a frame for the bearer's device, taking over one hold. to is the node on
// whose link it goes, nil for discovery and the broadcast link.
func (e *Engine) push(b *bearer, f *netdev.Buffer, to *node) {
	if b.out.Len() >= maxOut || b.MTU == 0 {
		e.count.OutDropped++
		f.Release()
		return
	}
	if e.observer.on {
		e.observe(b, f, to)
	}
	b.out.Push(outgoing{f, to})
}

// HandleFrame takes a frame a bearer has received. The caller keeps its hold; a sealed
// frame is opened in place where that is the only one, and is what was inside then.
func (e *Engine) HandleFrame(now time.Duration, bearerID int, f *netdev.Buffer) {
	e.reapFailed(now)
	b := e.bearers[bearerID]
	e.count.FramesIn++
	if b.MTU == 0 || b.removed {
		e.drop(DropBearer)
		return
	}
	eth, payload, err := frame.ParseEthernet(f.Bytes())
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	if dst := eth.Dst(); dst != b.MAC && !dst.IsGroup() || eth.Src() == b.MAC {
		e.drop(DropForeign)
		return
	}
	m, err := frame.Parse(payload)
	if c := e.crypt; c != nil {
		c.now = now
		if err == frame.ErrEncrypted && c.keyed() {
			e.handleSealed(now, b, f)
			return
		}
		if err == nil && !e.plainFrame(now, m) {
			return
		}
	}
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	e.dispatch(now, b, eth.Src(), m, f)
}

// dispatch takes the message in a frame from a station.
func (e *Engine) dispatch(now time.Duration, b *bearer, src frame.MAC, m frame.Message, f *netdev.Buffer) {
	switch {
	case m.NonSeq() && m.User() == frame.UserDiscovery:
		e.handleDiscovery(now, b, src, m)
	case e.addr == 0:
		e.drop(DropNoAddress)
	case m.NonSeq():
		e.handleBroadcast(now, b, src, m, f)
	default:
		e.handleUnicast(now, b, src, m, f)
	}
	e.reapFailed(now)
	e.serveConns(now)
}

// handleUnicast takes what a link carries, and the link protocol.
func (e *Engine) handleUnicast(now time.Duration, b *bearer, src frame.MAC, m frame.Message, f *netdev.Buffer) {
	if d, ok := m.DestNode(); ok && d != e.addr {
		e.drop(DropForeign)
		return
	}
	n := e.peer(m.Prev())
	if n == nil || n.links[b.id] == nil {
		if n != nil && m.User() == frame.UserLink {
			e.stray(now, n, b, src, m)
		}
		e.drop(DropStranger)
		return
	}
	l := n.links[b.id]
	if src != l.mac {
		e.drop(DropSpoofed)
		return
	}
	if m.User() == frame.UserLink {
		if !l.reached {
			n.earn(b.id, src, len(m.Bytes()))
		}
		p, err := frame.ParseLink(m)
		if err != nil {
			e.drop(dropOf(err))
			return
		}
		e.handleLink(now, l, p)
		return
	}
	if !e.admit(now, l, m, nil) {
		e.drop(DropNodeState)
		return
	}
	if k := n.member; k != nil && k.Acked() != m.BcastAck() && l.IsUp() && l.MayAck(m.Ack()) {
		e.broadcastAck(now, n, m)
	}
	switch l.HandlePacket(now, m, f) {
	case flowctl.Deliver:
		e.deliver(now, l, &l.joins, m, f)
		e.resume(now, l)
	case flowctl.Dropped:
		e.drop(DropOrder)
	}
	e.after(now, l)
}

// handleLink takes a message of the link protocol.
func (e *Engine) handleLink(now time.Duration, l *link, p frame.LinkMessage) {
	n := l.n
	l.spoke = now
	l.hear(now)
	switch {
	case !l.Accept(p):
		e.drop(DropSession)
		return
	case !l.IsUp() && n.up() && !e.cfg.AsKernel && l.damper.waits(now):
		e.drop(DropFlapping)
		return
	case !e.admit(now, l, p.Message, &p):
		e.drop(DropNodeState)
		return
	}
	// What is missing on the broadcast link is found out first, so that the answer
	// to a probe tells of it.
	s, isState := p.State()
	if isState && !e.broadcastReport(now, l, s) {
		return
	}
	if asked := p.Info().Priority; isState && !e.cfg.AsKernel && (asked != 0 && asked != l.Priority() || l.AskedPriority() != 0) {
		l.HoldPriority(!l.prios.take(now, priorityGap, priorities))
	}
	report := p.IsState() && !p.BcastAckInvalid() && n.bcast.HandleState(p.LastBcast())
	l.HandleLink(now, p)
	switch {
	case !report || s.Probe():
	case s.BcastGap() > 0 && !e.cfg.AsKernel:
		// A report is not answered by a report, or two nodes that each miss something
		// would answer each other without end.
		l.WatchBroadcast(now)
	default:
		l.Report(now)
	}
	e.after(now, l)
}
