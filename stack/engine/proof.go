// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// Among nodes of this implementation that have keys, a sealed frame is taken only once its
// sender has shown that it is there now. It sends back a number that this node drew for it:
//
//	x                              y
//	REQ (mark) ──────────────────► knows nothing of x: no link yet
//	◄──────────── RESP (challenge y)
//	RESP (challenge x, echo y) ──► x is there: what has higher numbers is fresh
//	◄───────────────── RESP (echo x)
//	RESET, ACTIVATE … ◄──────────►
//
// The same happens when a frame comes that is not fresh: x may have started again, or
// somebody repeats what x sealed long ago. Nothing changes until x answers, so the link
// goes on; if it does, with numbers of another life, the link ends.
// Source: docs/explanation/security.md, "Replays"; docs/explanation/protocol.md, "Among nodes of utipc".

const (
	challengeGap = 100 * time.Millisecond // between two challenges to a node
	inviteGap    = time.Second            // where nothing waits for the answer
)

// proves decides whether a discovery message goes on. What came sealed from a node that has
// to prove itself does only when it is fresh, or is the proof.
func (e *Engine) proves(now time.Duration, b *bearer, src frame.MAC, d frame.Discovery) bool {
	c := e.crypt
	if c == nil || !c.opened || e.cfg.AsKernel {
		return true
	}
	n, version := e.claimed(d), d.Version()
	if n == nil {
		if version < uint8(Proofs) {
			return true
		}
		if n = e.create(now, d, station{src, b.id}); n == nil {
			e.drop(DropPeerLimit)
			return false
		}
	}
	p := e.cipherPeer(n)
	challenge, echo := d.Proof()
	switch {
	case version < uint8(Proofs):
		if p.Required() && n.up() {
			e.drop(DropReplay) // if it is one that was exchanged, the link ends first
			return false
		}
		p.Excuse()
		return true
	case c.open.Fresh && c.openedBy == p:
		p.Answered(echo, e.challenge())
		if challenge != 0 {
			e.answer(b, src, d.Prev(), 0, challenge)
		}
		return true
	case n.up():
		p.Ask(e.challenge()) // it goes on as it was until the answer
	default:
		p.Require(e.challenge())
	}
	ok, again := p.HandleEcho(echo, c.open.Number, e.challenge())
	switch {
	case ok && challenge != 0:
		e.answer(b, src, d.Prev(), 0, challenge)
	case ok:
	case challenge != 0:
		e.answer(b, src, d.Prev(), p.Challenge(), challenge)
	default:
		e.challengeTo(now, b, src, n, challengeGap)
	}
	if !ok {
		return false
	}
	if again && n.up() {
		e.giveUp(now, n) // what it shared with us went with its life
	}
	if n.addr != d.Prev() { // it came back under another address
		if n.up() {
			return true // which is for neighbour to refuse
		}
		e.remove(n)
		m := e.byAddr[d.Prev()]
		if m == nil {
			if m = e.create(now, d, station{src, b.id}); m == nil {
				e.drop(DropPeerLimit)
				return false
			}
		}
		e.cipherPeer(m).TakeProof(p)
	}
	return true
}

// claimed is the node that a discovery message says it is from, nil for one not known.
func (e *Engine) claimed(d frame.Discovery) *node {
	if n := e.byAddr[d.Prev()]; n != nil {
		return n
	}
	return e.identities[d.Identity()]
}

// challenge draws a number that nobody can guess, not 0.
func (e *Engine) challenge() uint64 { return e.cfg.Chance.Nonce() | 1 }

// challengeTo asks a node to prove that it is there, at most once in gap.
func (e *Engine) challengeTo(now time.Duration, b *bearer, to frame.MAC, n *node, gap time.Duration) {
	if now-n.challenged < gap {
		return
	}
	n.challenged = now
	p := e.cipherPeer(n)
	p.Ask(e.challenge())
	e.answer(b, to, n.addr, p.Challenge(), 0)
}

// answer sends a Response with a challenge of our own, an echo, or both. Plain it would be
// of no use.
func (e *Engine) answer(b *bearer, to frame.MAC, dest frame.NodeAddr, challenge, echo uint64) {
	if e.addr != 0 && e.crypt.ring.Working() {
		e.discoverWith(b, to, frame.DiscoveryFields{Type: frame.Response, Dest: dest, Challenge: challenge, Echo: echo})
	}
}

// unproven looks at a sealed frame that was opened, or that was not fresh: its sender may
// have to be asked whether it is there.
func (e *Engine) unproven(now time.Duration, b *bearer, from frame.MAC, n *node, p *seal.Peer, strange bool) {
	switch {
	case n == nil || e.cfg.AsKernel:
	case strange:
		e.challengeTo(now, b, from, n, challengeGap)
	case n.has(Proofs) && !p.Required(): // its mark came plain
		e.challengeTo(now, b, from, n, inviteGap)
	}
}
