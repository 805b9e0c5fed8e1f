// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// A node is another node of the cluster, and the links to it.
type node struct {
	addr       frame.NodeAddr
	identity   frame.Identity
	caps       frame.Capabilities
	next       said // once contact is lost, if renewed: of its next life
	renewed    bool
	version    uint8  // of this implementation, see has
	signature  uint32 // as received; 1<<16 matches none
	contact    Contact
	syncPoint  frame.Seq // where synchronising or a failover ends, see admit
	corked     bool      // a link of ours waits for the other, see uncork
	everUp     bool
	origin     station       // who announced it first
	challenged time.Duration // when it was last asked to prove itself; a second before the first
	contacts   bucket        // times that contact began
	downSince  time.Duration
	answered   [MaxBearers]time.Duration // when it was last answered there; a second before the first
	credits    [MaxBearers]credit        // of stations that had no link yet
	links      [MaxBearers]*link         // by own bearer; nil until a station is accepted there
	heard      [MaxBearers]*heardDown    // of links that are down
	spare      *spare                    // a bearer on which it is heard and has no link; nil: none
	slots      [2]*link                  // that carry messages; nil while there is no contact
	bcast      *flowctl.BroadcastReceiver
	inbox      naming.Inbox
	draining   bool               // what it holds is a chore
	bjoins     flowctl.Reassembly // fragments on its broadcast link
	member     *flowctl.Member    // of our broadcast link; nil while there is no contact
	castFrom   *castWatch         // of its broadcast link; nil while nothing stalls
	castTo     *castWatch         // of ours, likewise
	owed       *nameDebt          // nil: it was told all of our names
	openOn     uint8              // the bearer over which it was told of our broadcast link
	openAt     frame.Seq          // by this packet
	reading    bool               // it may not have all of the names it was sent first
	bulkOn     uint8              // the bearer those were sent over
	bulkEnd    frame.Seq          // the last packet of them
	parked     parked             // messages of it that wait for a name

	crypt          *seal.Peer // nil as long as there are no keys
	keyTold        uint8      // slot of its key that the owner was told of
	conns          *Conn      // that lead there, the newest first
	open           int        // of them
	ended          []uint32   // ports of connections that were closed when they had ended, see noteEnded
	lingerers      lingerers  // of them
	traffic        Traffic
	twin           *node    // the next that claims its identity
	lruList        *lruList // that it is on while there is no contact
	before, behind *node    // on it
}

const noSignature = 1 << 16

// said is what a node says in discovery that it is able to. It does not change in a node's life,
// and discovery bears no session: a message of another life changes nothing of a link that is up.
type said struct {
	caps    frame.Capabilities
	version uint8
}

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
		if n = e.identities[d.Identity()]; n != nil {
			if n.up() {
				e.alarm(now, d.Prev(), station{src, b.id})
				e.drop(DropForeign)
				return false
			}
			if !e.cfg.AsKernel && !n.mayGo(now) { // somebody says so while it makes contact
				e.drop(DropPeerLimit)
				return false
			}
			e.remove(n) // it came back under another address
		}
		if n = e.create(now, d, station{src, b.id}); n == nil {
			e.drop(DropPeerLimit)
			return false
		}
	}
	l := n.links[b.id]
	s := n.signature == uint32(d.Signature())
	m := l != nil && l.mac == src
	u := l != nil && l.IsUp()
	switch {
	case e.cfg.AsKernel || !n.up():
		e.setCaps(n, d.Capabilities())
		n.version = d.Version()
	case m && !s: // it started again, or somebody says so: the link will show
		n.next, n.renewed = said{d.Capabilities(), d.Version()}, true
	}
	if m {
		l.hear(now)
	}
	switch {
	case !m && u:
		e.alarm(now, n.addr, station{src, b.id})
		return false
	case s && m && u:
		return false
	case m && u:
		n.signature = uint32(d.Signature())
		return false
	}
	n.signature = uint32(d.Signature())
	e.reidentify(n, d.Identity())
	if !m {
		e.accept(now, n, b, src)
	}
	if d.Type() != frame.Request || now-n.answered[b.id] < answerGap {
		return false
	}
	n.answered[b.id] = now
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

// setCaps notes what a node can do now.
func (e *Engine) setCaps(n *node, caps frame.Capabilities) {
	n.caps = caps
	e.capsVoid = true
	for _, l := range n.links {
		if l != nil {
			l.SetCapabilities(caps)
		}
	}
}

// create makes a node that a station announces, or nil when there is no room for it.
func (e *Engine) create(now time.Duration, d frame.Discovery, s station) *node {
	if !e.makeRoom(now, s) {
		return nil
	}
	n := &node{
		addr: d.Prev(), signature: noSignature,
		downSince: now,
		bcast:     flowctl.NewBroadcastReceiver(e.addr),
	}
	n.bcast.SetPool(&e.pool)
	for i := range n.answered {
		n.answered[i] = now - time.Second
	}
	n.challenged = now - time.Second
	n.earn(s.bearer, s.mac, len(d.Bytes()))
	e.byAddr[n.addr] = n
	e.nodes = slices.Insert(e.nodes, e.find(n.addr), n)
	e.identify(n, d.Identity())
	e.announced(n, s)
	e.enrol(n)
	if e.slow == flowctl.Never {
		e.slow = now + slowTick
	}
	return n
}

// remove forgets a node that is down.
func (e *Engine) remove(n *node) {
	for _, l := range n.links {
		if l != nil {
			l.Stop()
			l.ringDown(true)
			e.arm(l)
			e.drain(l)
		}
	}
	n.bcast.Reset()
	if n.crypt != nil {
		e.crypt.ring.Lost(e.crypt.now, n.crypt)
	}
	e.strike(n)
	e.unidentify(n)
	e.unannounce(n)
	delete(e.byAddr, n.addr)
	e.lastPeer, e.capsVoid = nil, true
	i := e.find(n.addr)
	e.nodes = slices.Delete(e.nodes, i, i+1)
}

// forget removes the nodes that have been down for long.
func (e *Engine) forget(now time.Duration) {
	for _, r := range []*lruList{&e.strangers, &e.gone} {
		for r.first != nil && now-r.first.downSince >= forgetAfter {
			e.remove(r.first)
		}
	}
	for e.strangers.n > fewStrangers && now-e.strangers.first.downSince >= strangersStay {
		e.remove(e.strangers.first)
	}
	e.slow = flowctl.Never
	if len(e.nodes) > 0 {
		e.slow = now + slowTick
	}
}

// lost drops everything that was shared with a node whose last link went down, and
// tells it so. Source: docs/spec/03-discovery-and-node.md §6.2.
func (e *Engine) lost(now time.Duration, n *node, last *link) {
	if last.State() == flowctl.PeerReset {
		n.contact = n.contact.after(peerLost)
	}
	n.contact = n.contact.after(selfLost)
	e.loseUnacked(n) // before the links forget it
	last.Restart(now)
	n.bcast.Reset()
	e.lostCrypt(now, n)
	if n.renewed {
		e.setCaps(n, n.next.caps)
		n.version, n.renewed = n.next.version, false
	}
	n.bjoins.Clear()
	n.inbox.Reset()
	e.loseConns(now, n)
	e.loseGroups(now, n)
	e.loseProbes(n)
	e.loseNames(n)
	e.loseRequests(n)
	e.dropParked(n)
	n.downSince = now
	e.enrol(n)
	n.castFrom.pause(now)
	n.castTo.pause(now)
	e.dismiss(now, n)
	n.reading, n.owed = false, nil
	e.openBarriers(n)
	e.condemn(now, n.addr)
	for _, l := range n.links {
		if l != nil {
			l.FailoverEnd()
			l.joins.Clear()
			l.disinherit()
			e.arm(l)
		}
	}
}

// giveUp ends contact with a node.
func (e *Engine) giveUp(now time.Duration, n *node) {
	for _, l := range n.links { // all before any is looked after: none fails over
		if l != nil {
			l.Fail()
		}
	}
	for _, l := range n.links {
		if l != nil {
			e.after(now, l)
		}
	}
}

// openBroadcast tells a node that has come up, in the first packet of its first link, where our
// broadcast link stands: it answers for what comes behind. b is a chunk for that message.
func (e *Engine) openBroadcast(now time.Duration, l *link, b *netdev.Buffer) {
	f := frame.BcastInitFields{Common: frame.Common{Prev: e.addr}, LastBcast: e.cast.sender.Last(), BcastAckInvalid: true, Orig: e.addr, Dest: l.n.addr}
	f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen])
	if e.transmit(now, l, b, frame.System) != nil {
		l.Fail() // a link is not to begin with something else
	}
	l.n.openOn, l.n.openAt = l.bearer.id, l.Queued()
}

// message takes a chunk for a message of n bytes behind an Ethernet header.
func (e *Engine) message(n int, use netdev.Use) *netdev.Buffer {
	b := e.cfg.Arena.Get(frame.EthernetLen+n, use)
	if b != nil {
		b.Extend(frame.EthernetLen + n)
	}
	return b
}
