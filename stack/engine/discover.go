// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Timing of discovery. Source: docs/spec/03-discovery-and-node.md §2.2.
const (
	discoverFast  = 125 * time.Millisecond
	discoverAlone = time.Second      // longest interval without a link
	discoverSlow  = 60 * time.Second // longest interval with one
	discoverLate  = 10 * time.Second // an announcement as late is one of a node that stood still
	trialPeriod   = time.Second
	maxTrials     = 8                      // addresses tried before an objection is overruled
	answerGap     = 100 * time.Millisecond // between two answers to one node
)

// A trial is the search for an address nobody else has.
type trial struct {
	addr  frame.NodeAddr // proposed
	end   time.Duration
	count int // objections heeded
}

func (e *Engine) inTrial(now time.Duration) bool { return e.addr == 0 && now < e.trial.end }

func (e *Engine) startDiscovery(now time.Duration, b *bearer) {
	if e.addr == 0 && e.trial.addr == 0 {
		e.trial.addr = e.cfg.Identity.Hash()
		e.trial.end = now + trialPeriod
	}
	b.interval = discoverFast
	e.announce(b)
	b.next = now + b.interval
}

// discoveryTimeout sends the next request or trial when it is due. The end of
// the trial sends nothing: the address is taken.
func (e *Engine) discoveryTimeout(now time.Duration, b *bearer) {
	if now < b.next {
		return
	}
	switch {
	case e.inTrial(now):
		b.interval = discoverFast
	case e.addr == 0:
		e.settle(now, e.trial.addr)
		b.interval = discoverFast
		b.next = now + b.interval
		return
	case now-b.next >= discoverLate && !e.cfg.AsKernel:
		// Peers may have lost this node, which may be about to forget them: it looks for them as
		// at first, or they would not hear of each other for a minute.
		b.interval = discoverFast
	default:
		limit := discoverAlone
		if b.links > 0 {
			limit = discoverSlow
		}
		b.interval = min(2*b.interval, limit)
	}
	b.next = now + b.interval
	e.announce(b)
}

// announce broadcasts a request, or a trial while the address is not settled.
func (e *Engine) announce(b *bearer) {
	t := frame.Request
	if e.addr == 0 {
		t = frame.Trial
	}
	e.discover(b, frame.BroadcastMAC, t, b.Domain, 0)
}

func (e *Engine) discover(b *bearer, to frame.MAC, t frame.DiscoveryType, dest, suggested frame.NodeAddr) {
	e.discoverWith(b, to, frame.DiscoveryFields{Type: t, Dest: dest, Suggested: suggested})
}

// discoverWith sends what fields say to a station; the rest is filled in.
func (e *Engine) discoverWith(b *bearer, to frame.MAC, fields frame.DiscoveryFields) {
	own := e.addr
	if own == 0 {
		own = e.trial.addr
	}
	if to != frame.BroadcastMAC && b.out.Len() >= maxAnswers {
		e.count.OutDropped++
		return
	}
	n := frame.EthernetLen + frame.DiscLen + len(frame.Identity{})
	if fields.Challenge != 0 || fields.Echo != 0 {
		n += frame.ProofLen
	}
	if x := e.byAddr[fields.Dest]; x != nil && fields.Type == frame.Response && !e.cfg.AsKernel && !x.spend(b.id, to, n-frame.EthernetLen) {
		e.count.OutDropped++
		return
	}
	f := e.cfg.Arena.Get(n, netdev.Control)
	if f == nil {
		return
	}
	frame.PutEthernet(f.Extend(frame.EthernetLen), to, b.MAC)
	fields.Capabilities, fields.Signature = e.cfg.Capabilities, uint16(e.random&0x7fff)
	fields.Prev, fields.NetID, fields.MAC, fields.UDP = own, e.cfg.NetID, b.MAC, b.udp()
	fields.NetHash, fields.Identity = e.netHash(), e.cfg.Identity
	fields.Append(f.Extend(n - frame.EthernetLen)[:0])
	e.push(b, f, nil)
}

// handleDiscovery follows docs/spec/03-discovery-and-node.md §2.3.
func (e *Engine) handleDiscovery(now time.Duration, b *bearer, src frame.MAC, m frame.Message) {
	d, err := b.parseDiscovery(m)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	switch own, other := b.announces(d, src); {
	case own:
		e.drop(DropForeign)
		return
	case other:
		e.drop(DropSpoofed)
		return
	case d.NetID() != e.cfg.NetID:
		e.drop(DropNetID)
		return
	}
	trying := e.inTrial(now)
	if d.Type() == frame.TrialFail {
		if trying && d.Dest() == e.trial.addr {
			e.objected(now, d.Suggested())
		}
		return
	}
	if !trying && e.addr == 0 {
		e.settle(now, e.trial.addr)
	}
	if d.Type() == frame.Trial {
		switch s := e.objection(d.Identity(), d.Prev()); {
		case s == 0:
		case e.objections.take(now, objectionGap, objections):
			e.discover(b, src, frame.TrialFail, d.Prev(), s)
		default:
			e.drop(DropPeerLimit)
		}
		return
	}
	switch {
	case trying:
		e.drop(DropNoAddress)
	case d.Prev() == e.addr || d.Prev() == 0 || d.Identity() == e.cfg.Identity:
		e.alarm(now, d.Prev(), station{src, b.id})
		e.drop(DropForeign)
	case !inScope(d.Dest(), e.addr) || !inScope(b.Domain, d.Prev()):
		e.drop(DropForeign)
	default:
		if n := e.byAddr[d.Prev()]; n != nil {
			n.earn(b.id, src, len(m.Bytes()))
		}
		if e.proves(now, b, src, d) && e.neighbour(now, b, src, d) {
			e.discover(b, src, frame.Response, d.Prev(), 0)
		}
	}
}

// alarm reports two nodes that claim one address or identity, or one that moved without a
// restart.
func (e *Engine) alarm(now time.Duration, a frame.NodeAddr, s station) {
	claim := Claim{s.mac, int(s.bearer), e.ownStation(s.mac)}
	e.conflict = Conflict{a, claim, now, e.conflict.Times + 1}
	if e.said.due(now, a, claim) {
		e.events.Push(Event{Kind: DuplicateAddress, Node: a, Claim: claim})
	}
}

// ownStation returns the bearer of this node that a station is, or -1.
func (e *Engine) ownStation(mac frame.MAC) int {
	for _, b := range e.bearers {
		if b != nil && b.MAC == mac {
			return int(b.id)
		}
	}
	return -1
}

// objected begins a new trial with the address another node suggests. After
// maxTrials the present one is kept: objections are not authenticated.
func (e *Engine) objected(now time.Duration, suggested frame.NodeAddr) {
	if suggested == 0 || suggested == e.trial.addr || e.trial.count == maxTrials {
		return
	}
	e.trial.count++
	e.trial.addr = suggested
	e.trial.end = now + trialPeriod
}

// objection says what another node should be called that tries addr, or 0 when
// there is nothing against it. Source: docs/spec/03-discovery-and-node.md §2.4.
func (e *Engine) objection(id frame.Identity, addr frame.NodeAddr) frame.NodeAddr {
	if n := e.byAddr[addr]; n != nil {
		if n.identity == id {
			return 0
		}
		return e.suggest(addr)
	}
	if n := e.identities[id]; n != nil {
		return n.addr
	}
	if addr == e.addr || e.addr == 0 && addr == e.trial.addr {
		return e.suggest(addr)
	}
	return 0
}

func (e *Engine) suggest(addr frame.NodeAddr) frame.NodeAddr {
	for addr ^= frame.NodeAddr(e.random); addr == 0 || addr == e.addr || e.byAddr[addr] != nil; addr++ {
	}
	return addr
}
