// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// A crypt is a node's encryption: its own keys, what it was given of others', and when
// those have to be looked at. A node that never had a key, and does not expect any, has
// none.
//
//	link ──► bearer.out, plain ──NextFrame──► sealed, once or twice ──► device
//	device ──► HandleFrame: opened in place ──► as if it had come plain
//
// Source: docs/spec/09-security.md.
type crypt struct {
	ring  *seal.Ring
	given map[frame.Identity]*givenKey // keys of other nodes, by the owner's word
	now   time.Duration                // the latest that the engine was told
	next  time.Duration                // when serveKeys is due

	opened   bool        // what is dispatched came sealed
	open     seal.Opened // then: what its opening told
	openedBy *seal.Peer

	plain, stranger rateLimitedLog // of plain frames; of frames that no key opens
	count           Sealing
}

// A givenKey is a key of another node that this one was given.
type givenKey struct {
	key *seal.Key
	as  *seal.Peer // opens that node's discovery while nothing else is known of it
}

// maxGiven is how many keys of other nodes there may be.
const maxGiven = MaxNodes

// keyTick is the time between two looks at keys, which wear out and grow old.
const keyTick = time.Second

// newCrypt begins encryption, so far without a key.
func (e *Engine) newCrypt() *crypt {
	c := &crypt{ring: seal.NewRing(e.cfg.Chance.Generation(), !e.cfg.NoExchange), next: flowctl.Never, given: map[frame.Identity]*givenKey{}}
	c.ring.SetSelf(e.addr, e.cfg.Identity)
	c.ring.AcceptReplays(e.cfg.AsKernel)
	return c
}

// keyed reports whether any key was set.
func (c *crypt) keyed() bool { return c.ring.Working() || len(c.given) > 0 }

// cipherPeer is what the keys need of a node.
func (e *Engine) cipherPeer(n *node) *seal.Peer {
	if n.crypt == nil {
		n.crypt = seal.NewPeer(n.addr)
		e.giveKey(n)
	}
	return n.crypt
}

// giveKey lets a node's frames be opened with the key that was given for its identity.
func (e *Engine) giveKey(n *node) {
	var k *seal.Key
	if g := e.crypt.given[n.identity]; g != nil {
		k = g.key
	}
	n.crypt.Configure(k) // of a length that was checked
}

// lostCrypt forgets what a node said of keys.
func (e *Engine) lostCrypt(now time.Duration, n *node) {
	if n.crypt != nil {
		e.crypt.ring.Lost(now, n.crypt)
	}
}

// serveKeys does what is due at now for keys: switching, rekeying, handing out.
func (e *Engine) serveKeys(now time.Duration) {
	c := e.crypt
	did := c.ring.HandleTimeout(now)
	if did&seal.Switched != 0 {
		e.events.Push(Event{Kind: KeyInUse, Node: e.addr})
	}
	if did&seal.RekeyDue != 0 {
		e.Rekey(now)
	}
	if did&seal.KeyWearing != 0 {
		e.events.Push(Event{Kind: KeyWearing, Node: e.addr})
	}
	for _, n := range e.nodes {
		if p := n.crypt; p != nil {
			e.keyInUse(n, p.HandleTimeout(now))
			if p.TakeKeyDue(now) {
				e.sendKey(now, n)
			}
			if b := e.bearers[n.origin.bearer]; p.Required() && !p.Proven() && !b.removed { // as long as its station has credit
				e.challengeTo(now, b, n.origin.mac, n, keyTick)
			}
		}
	}
	e.armKeys(now)
}

// keyInUse tells the owner that a node uses the key in a slot, unless it was told.
func (e *Engine) keyInUse(n *node, slot uint8) {
	if slot != 0 && slot != n.keyTold {
		n.keyTold = slot
		e.events.Push(Event{Kind: PeerKeyInUse, Node: n.addr})
	}
}

// armKeys says when serveKeys is due.
func (e *Engine) armKeys(now time.Duration) {
	c := e.crypt
	c.next = flowctl.Never
	if !c.keyed() {
		return
	}
	c.next = min(now+keyTick, c.ring.Deadline())
	for _, n := range e.nodes {
		if n.crypt != nil {
			c.next = min(c.next, n.crypt.KeyDeadline())
		}
	}
}

// nameCrypt tells the keys who this node is.
func (e *Engine) nameCrypt() {
	if e.crypt != nil {
		e.crypt.ring.SetSelf(e.addr, e.cfg.Identity)
	}
}

// A Sealing is what encryption did that the keys themselves do not count.
type Sealing struct {
	Copies        uint64 // sent under another key, before the frame itself
	CopiesLeftOut uint64 // for want of memory, or of the key
	Unsealed      uint64 // frames dropped, as there was no key for them
	KeysSent      uint64 // key messages
	KeysTaken     uint64 // keys of other nodes that came in such
}
