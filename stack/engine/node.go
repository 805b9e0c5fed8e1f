// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A node is another node of the cluster, and the link to it.
type node struct {
	addr      frame.NodeAddr
	identity  frame.Identity
	caps      frame.Capabilities
	signature uint32 // as received; 1<<16 matches none
	mac       frame.MAC
	contact   Contact
	everUp    bool
	downSince time.Duration
	answered  time.Duration // when it was last answered; a second before the first
	bearer    *bearer
	link      *flowctl.Link             // nil until a station is accepted
	linkName  string                    // while the link is up
	linkID    uint32                    // of the binding that says so
	held      bool                      // it has messages that wait for Flush
	blocked   [frame.System + 1]Blocked // what a sender of each importance was told last
	bcast     *flowctl.Broadcast
	inbox     naming.Inbox
	joins     flowctl.Reassembly // of the link
	bjoins    flowctl.Reassembly // of the broadcast link
}

const noSignature = 1 << 16

// neighbour takes a request or response of another node, from the station src, and reports whether to
// answer; only requests are. S: the signature is the one known. M: the station is. U: the link is up.
//
//	S M U
//	1 1 1  repetition               nothing
//	1 1 0  link on its way          answer
//	1 0 1  moved without a restart, or a double   alarm
//	1 0 0  moved                    take the station, answer, reset the link
//	0 1 1  restarted, link is about to notice     store the signature
//	0 1 0  restarted                store the signature, answer
//	0 0 1  restarted elsewhere, or a double       alarm
//	0 0 0  new, or restarted elsewhere            all of it
//
// Source: docs/spec/03-discovery-and-node.md §3.
func (e *Engine) neighbour(now time.Duration, b *bearer, src frame.MAC, d frame.Discovery) (answer bool) {
	n := e.byAddr[d.Prev()]
	if n == nil {
		if n = e.byIdentity(d.Identity()); n != nil {
			if n.link != nil && n.link.IsUp() {
				e.alarm(now, d.Prev())
				e.drop(DropForeign)
				return false
			}
			e.remove(n) // it came back under another address
		}
		if n = e.create(now, d); n == nil {
			e.drop(DropLimit)
			return false
		}
	}
	n.caps = d.Capabilities()
	if n.link != nil {
		n.link.SetCapabilities(n.caps)
	}
	s := n.signature == uint32(d.Signature())
	m := n.link != nil && n.mac == src
	u := n.link != nil && n.link.IsUp()
	switch {
	case !m && u:
		e.alarm(now, n.addr)
		return false
	case s && m && u:
		return false
	case m && u:
		n.signature = uint32(d.Signature())
		return false
	}
	n.signature = uint32(d.Signature())
	n.identity = d.Identity()
	if !m {
		e.accept(now, n, b, src)
	}
	if d.Type() != frame.Request || now-n.answered < answerGap {
		return false
	}
	n.answered = now
	return true
}

// peer returns the node with an address, or nil. Mostly it is the same as last time.
func (e *Engine) peer(a frame.NodeAddr) *node {
	if n := e.lastPeer; n != nil && n.addr == a {
		return n
	}
	n := e.byAddr[a]
	if n != nil {
		e.lastPeer = n
	}
	return n
}

// create makes a node. When too many never had a link the oldest of those goes.
func (e *Engine) create(now time.Duration, d frame.Discovery) *node {
	var oldest *node
	strangers := 0
	for _, n := range e.nodes {
		if !n.everUp {
			strangers++
			if oldest == nil || n.downSince < oldest.downSince {
				oldest = n
			}
		}
	}
	if strangers >= maxStrangers {
		e.remove(oldest)
	}
	if len(e.nodes) >= MaxNodes {
		return nil
	}
	n := &node{
		addr: d.Prev(), identity: d.Identity(), signature: noSignature,
		downSince: now, answered: now - time.Second,
		bcast: flowctl.NewBroadcast(e.addr),
	}
	e.byAddr[n.addr] = n
	e.nodes = slices.Insert(e.nodes, e.find(n.addr), n)
	if e.slow == flowctl.Never {
		e.slow = now + slowTick
		e.arm(e.slow)
	}
	return n
}

// accept makes mac the node's station and begins a link to it, or begins anew.
func (e *Engine) accept(now time.Duration, n *node, b *bearer, mac frame.MAC) {
	if n.link != nil {
		n.link.Stop()
		e.drain(n)
	}
	n.mac, n.bearer = mac, b
	c := flowctl.Config{
		Self: e.addr, Peer: n.addr, Bearer: b.id, IfName: b.Name, MTU: b.MTU,
		Tolerance: e.cfg.Tolerance, Priority: e.cfg.Priority, Window: e.cfg.Window, Margin: e.cfg.Margin, Alone: e.cfg.NoBundles,
		Session: e.cfg.Chance.Session(), Arena: e.cfg.Arena, Broadcast: n.bcast,
		Capabilities: e.cfg.Capabilities,
	}
	frame.PutEthernet(c.Header[:], mac, b.MAC)
	n.link = flowctl.NewLink(now, c, n.caps)
	e.arm(n.link.Deadline())
}

// remove forgets a node that is down.
func (e *Engine) remove(n *node) {
	if n.link != nil {
		n.link.Stop()
		e.drain(n)
	}
	n.bcast.Reset()
	delete(e.byAddr, n.addr)
	e.lastPeer = nil
	i := e.find(n.addr)
	e.nodes = slices.Delete(e.nodes, i, i+1)
}

// forget removes the nodes that have been down for long.
func (e *Engine) forget(now time.Duration) {
	for _, n := range slices.Clone(e.nodes) {
		if (n.link == nil || !n.link.IsUp()) && now-n.downSince >= forgetAfter {
			e.remove(n)
		}
	}
	e.slow = flowctl.Never
	if len(e.nodes) > 0 {
		e.slow = now + slowTick
	}
}

// after carries out what a node's link asks for and takes its frames.
func (e *Engine) after(now time.Duration, n *node) {
	for ev := n.link.TakeEvents(); ev != 0; ev = n.link.TakeEvents() {
		if ev&flowctl.Stuck != 0 {
			n.link.Fail()
		}
		if ev&flowctl.WentDown != 0 {
			e.linkDown(now, n)
		}
		if ev&flowctl.WantUp != 0 {
			e.linkUp(now, n)
		}
		if ev&flowctl.Room != 0 {
			e.events.Push(Event{Kind: Room, Node: n.addr})
		}
	}
	e.drain(n)
}

func (e *Engine) drain(n *node) {
	for f := n.link.NextFrame(); f != nil; f = n.link.NextFrame() {
		e.push(n.bearer, f)
	}
}

// linkUp brings the link up and with it the node: first on the wire a STATE, then
// the opening of the broadcast link, then all names.
// Source: docs/spec/03-discovery-and-node.md §5.2, §6.1.
func (e *Engine) linkUp(now time.Duration, n *node) {
	if n.contact != DownDown || !n.link.Up(now) {
		return
	}
	n.contact = n.contact.after(selfEstablished)
	n.everUp = true
	n.bearer.links++
	n.bearer.keep(n.mac, true)
	n.linkName = n.link.Name(e.cfg.Identity.LinkText(e.addr), n.identity.LinkText(n.addr))
	n.linkID = n.link.ID()
	e.openBroadcast(now, n)
	e.sendBulk(now, n)
	e.table.Insert(e.linkBinding(n))
	e.events.Push(Event{Kind: LinkUp, Node: n.addr, Link: n.linkName})
	e.events.Push(Event{Kind: PeerUp, Node: n.addr})
}

// linkDown drops everything that was shared with the node and tells it so.
// Source: docs/spec/03-discovery-and-node.md §5.4, §6.2.
func (e *Engine) linkDown(now time.Duration, n *node) {
	if n.link.State() == flowctl.PeerReset {
		n.contact = n.contact.after(peerLost)
	}
	n.contact = n.contact.after(selfLost)
	e.purge(n)
	n.link.Restart(now)
	e.arm(n.link.Deadline())
	n.bcast.Reset()
	n.joins.Clear()
	n.bjoins.Clear()
	n.inbox.Reset()
	n.downSince = now
	e.table.Purge(n.addr)
	e.table.Remove(e.linkBinding(n))
	n.bearer.keep(n.mac, false)
	e.lostLink(now, n.bearer)
	e.events.Push(Event{Kind: LinkDown, Node: n.addr, Link: n.linkName, Cause: n.link.Cause()})
	e.events.Push(Event{Kind: PeerLost, Node: n.addr, Cause: n.link.Cause()})
	e.events.Push(Event{Kind: Room, Node: n.addr})
}

// purge drops the packets of a session that is over and that a stalled device has
// not taken yet: packets carry no session, and the next one might take them for
// its own.
func (e *Engine) purge(n *node) {
	out := &n.bearer.out
	for range out.Len() {
		f := out.Pop()
		eth, payload, err := frame.ParseEthernet(f.Bytes())
		m, err2 := frame.Parse(payload)
		if err == nil && err2 == nil && eth.Dst() == n.mac && m.User() != frame.UserLink && !m.NonSeq() {
			e.count.OutDropped++
			f.Release()
			continue
		}
		out.Push(f)
	}
}

// lostLink makes discovery hurry when a bearer's last link is gone. The kernel asks
// for more than a second, and its fourth interval is more: 1024 ms with 250 ticks a
// second (capture 20, frame 40).
func (e *Engine) lostLink(now time.Duration, b *bearer) {
	if b.links--; b.links == 0 && b.interval >= discoverAlone {
		b.interval = discoverFast
		b.next = now + b.interval
		e.arm(b.next)
	}
}

// linkBinding is the binding that tells local programs of the link.
func (e *Engine) linkBinding(n *node) naming.Binding {
	return naming.Binding{
		Range: frame.Range{Type: naming.LinkState, Lower: uint32(n.addr), Upper: uint32(n.addr)},
		Scope: frame.NodeScope, Socket: frame.SocketAddr{Port: n.linkID, Node: e.addr}, Key: n.linkID,
	}
}

// openBroadcast tells the node where our broadcast link stands: nothing was ever
// sent on it.
func (e *Engine) openBroadcast(now time.Duration, n *node) {
	f := frame.BcastInitFields{Common: frame.Common{Prev: e.addr}, BcastAckInvalid: true, Orig: e.addr, Dest: n.addr}
	b := e.message(frame.IntLen, frame.Control)
	if b == nil {
		n.link.Fail() // without it the node would never hear our broadcasts
		return
	}
	f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen])
	e.transmit(now, n, b, frame.System)
}

// message takes a chunk for a message of n bytes behind an Ethernet header.
func (e *Engine) message(n int, use frame.Use) *frame.Buffer {
	b := e.cfg.Arena.Get(frame.EthernetLen+n, use)
	if b != nil {
		b.Extend(frame.EthernetLen + n)
	}
	return b
}

// transmit hands a message to the node's link; it takes over the caller's hold in
// any case.
func (e *Engine) transmit(now time.Duration, n *node, b *frame.Buffer, imp frame.Importance) error {
	err := ErrUnreachable
	switch {
	case !n.link.IsUp(): // a link that has just failed sends nothing
	case e.hold:
		if err = n.link.Hold(b, imp); err == nil {
			e.holdBack(now, n)
		}
	default:
		err = n.link.Send(now, b, imp)
	}
	if err != nil {
		b.Release()
	}
	return err
}
