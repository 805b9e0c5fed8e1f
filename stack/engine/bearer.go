// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A bearer is one attachment to a network, with its part of discovery.
type bearer struct {
	BearerConfig
	id       uint8
	interval time.Duration // between discovery messages
	next     time.Duration // when the next is due
	links    int           // links over it that are up
	out      flowctl.Queue[*frame.Buffer]
}

// SetMTU follows a bearer's interface: mtu is the largest message it may carry now,
// in bytes, 0 or less than frame.MinMTU while it carries nothing. A change takes
// its links down; with one that works, discovery begins anew.
func (e *Engine) SetMTU(now time.Duration, bearerID, mtu int) {
	b := e.bearers[bearerID]
	if mtu < frame.MinMTU {
		mtu = 0
	}
	if mtu == b.MTU {
		return
	}
	if e.addr == 0 && b.MTU == 0 {
		e.trial.end = now + trialPeriod // nobody was there to object
	}
	b.MTU = mtu
	for _, n := range e.nodes {
		if n.bearer == b && n.link != nil {
			n.link.SetMTU(now, mtu)
			e.after(now, n)
		}
	}
	if mtu > 0 {
		e.startDiscovery(now, b)
	}
}

// push queues a frame for the bearer's device, taking over one hold.
func (e *Engine) push(b *bearer, f *frame.Buffer) {
	if b.out.Len() >= maxOut || b.MTU == 0 {
		e.count.OutDropped++
		f.Release()
		return
	}
	b.out.Push(f)
}

// HandleFrame takes a frame a bearer has received. The caller keeps its hold.
func (e *Engine) HandleFrame(now time.Duration, bearerID int, f *frame.Buffer) {
	b := e.bearers[bearerID]
	e.count.FramesIn++
	if b.MTU == 0 {
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
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	switch {
	case m.NonSeq() && m.User() == frame.UserDiscovery:
		e.handleDiscovery(now, b, eth.Src(), m)
	case e.addr == 0:
		e.drop(DropNoAddress)
	case m.NonSeq():
		e.handleBroadcast(now, b, eth.Src(), m, f)
	default:
		e.handleUnicast(now, b, m, f)
	}
}

// handleUnicast takes what a link carries, and the link protocol.
func (e *Engine) handleUnicast(now time.Duration, b *bearer, m frame.Message, f *frame.Buffer) {
	if d, ok := m.DestNode(); ok && d != e.addr {
		e.drop(DropForeign)
		return
	}
	n := e.peer(m.Prev())
	if n == nil || n.link == nil {
		e.drop(DropStranger)
		return
	}
	if m.User() == frame.UserLink {
		l, err := frame.ParseLink(m)
		if err != nil {
			e.drop(dropOf(err))
			return
		}
		e.handleLink(now, n, l)
		return
	}
	if !n.admit(true, true) {
		e.drop(DropNodeState)
		return
	}
	switch n.link.HandlePacket(now, m, f) {
	case flowctl.Deliver:
		e.deliver(now, n, m, f)
		for n.link.Deferring() && n.link.IsUp() {
			p, ok := n.link.Next(now)
			if !ok {
				break
			}
			e.deliver(now, n, p.Message, p.Buffer())
			p.Release()
		}
	case flowctl.Dropped:
		e.drop(DropOrder)
	}
	e.after(now, n)
}

func (e *Engine) handleLink(now time.Duration, n *node, l frame.LinkMessage) {
	if !n.link.Accept(l) {
		e.drop(DropSession)
		return
	}
	if !n.admit(l.IsState(), l.IsState() || l.RedundantLink()) {
		e.drop(DropNodeState)
		return
	}
	// What is missing on the broadcast link is found out first, so that the answer
	// to a probe tells of it.
	s, _ := l.State()
	report := l.IsState() && !l.BcastAckInvalid() && n.bcast.HandleState(l.LastBcast())
	n.link.HandleLink(now, l)
	if report && !s.Probe() {
		n.link.Report(now)
	}
	e.after(now, n)
	e.arm(n.link.Deadline())
}

// handleBroadcast takes a packet of a node's broadcast link.
func (e *Engine) handleBroadcast(now time.Duration, b *bearer, src frame.MAC, m frame.Message, f *frame.Buffer) {
	if m.User() == frame.UserBroadcast {
		e.drop(DropUnsupported) // the missing-packet reports of old nodes; we send no broadcast
		return
	}
	n := e.byAddr[m.Prev()]
	switch {
	case n == nil || n.link == nil:
		e.drop(DropStranger)
		return
	case m.HeaderLen() < frame.IntLen:
		e.drop(DropMalformed)
		return
	case m.NetID() != e.cfg.NetID:
		e.drop(DropNetID)
		return
	case src != n.mac:
		e.drop(DropSpoofed)
		return
	}
	verdict, report := n.bcast.HandlePacket(m, f)
	switch verdict {
	case flowctl.Deliver:
		e.deliver(now, n, m, f)
		for {
			p, due, ok := n.bcast.Next()
			if !ok {
				break
			}
			report = report || due
			e.deliver(now, n, p.Message, p.Buffer())
			p.Release()
		}
	case flowctl.Dropped:
		e.drop(DropOrder)
	}
	if report {
		n.link.Report(now)
	}
	e.after(now, n)
}
