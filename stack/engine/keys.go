// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// A Key says whose a key is that a node is given.
type Key struct {
	*seal.Key

	// Master makes it the key that protects discovery and the handing out of all
	// others; the same at all nodes.
	Master bool
	// Node is whose key it is, if its mode is frame.NodeKey: another node's, whose frames
	// are opened with it, or else this one's.
	Node frame.Identity
}

// SetKey gives the node a key: the cluster's, its own, the master key, or another node's
// that is known by its identity. The key is copied; to wipe the caller's is the caller's.
//
// An own key, or the cluster's, is used for sending as soon as the other nodes have it:
// they are told on their links, and if it is the first at once. A node that was not made
// for keys (Config.Sealed) restarts its links once, with the first.
// Errors: ErrConfig, seal.ErrBusy while the key before is being taken up.
// Source: docs/spec/09-security.md §3.
func (e *Engine) SetKey(now time.Duration, k Key) error {
	other := k.Node != (frame.Identity{}) && k.Node != e.cfg.Identity
	switch {
	case k.Key == nil || k.Len() == 0:
		return fmt.Errorf("%w: no key", ErrConfig)
	case other && !k.Master && k.Mode() != frame.NodeKey:
		return fmt.Errorf("%w: a cluster key is of no node alone", ErrConfig)
	}
	if e.crypt == nil {
		e.crypt = e.newCrypt()
		e.leaveRoom(now)
	}
	c := e.crypt
	c.now = now
	if !c.ring.Working() {
		c.ring.SetInterval(now, e.cfg.Rekey) // counted from now
	}
	switch {
	case k.Master:
		if err := c.ring.SetMaster(now, k.Key, e.cfg.Chance.Nonce()); err != nil {
			return err
		}
	case other:
		if err := e.setGiven(k); err != nil {
			return err
		}
	default:
		if _, err := c.ring.SetKey(now, k.Key, e.cfg.Chance.Nonce()); err != nil {
			return err
		}
		e.sendKeyToAll(now)
	}
	e.armKeys(now)
	return nil
}

// setGiven keeps a key of another node.
func (e *Engine) setGiven(k Key) error {
	c := e.crypt
	g := c.given[k.Node]
	if g == nil {
		if len(c.given) >= maxGiven {
			return fmt.Errorf("%w: keys of more than %d nodes", ErrConfig, maxGiven)
		}
		g = &givenKey{as: seal.NewPeer(0)}
	}
	if err := g.as.Configure(k.Key); err != nil {
		return err
	}
	if g.key != nil {
		g.key.Wipe()
	}
	g.key = k.Key.Clone()
	c.given[k.Node] = g
	for n := e.identities[k.Node]; n != nil; n = n.twin {
		if n.crypt != nil {
			e.giveKey(n)
		}
	}
	return nil
}

// FlushKeys wipes all keys, others' too: everything goes plain again.
// Source: docs/spec/10-management.md §1.
func (e *Engine) FlushKeys(now time.Duration) {
	c := e.crypt
	if c == nil {
		return
	}
	c.ring.Flush(now)
	for _, g := range c.given {
		g.key.Wipe()
	}
	clear(c.given)
	for _, n := range e.nodes {
		if n.crypt != nil {
			c.ring.Forget(now, n.crypt)
			n.crypt = nil
		}
	}
	e.armKeys(now)
}

// Rekey makes the node a new key of its own and hands it to the others. The links stay up.
// Errors: seal.ErrNoKey without a key to succeed, seal.ErrBusy while one is being taken up,
// ErrConfig where keys are not exchanged.
func (e *Engine) Rekey(now time.Duration) error {
	c := e.crypt
	switch {
	case c == nil:
		return seal.ErrNoKey
	case !c.ring.Exchange():
		return fmt.Errorf("%w: keys are not exchanged", ErrConfig)
	}
	c.now = now
	var material [seal.MaxKeyLen]byte
	random := material[:c.ring.RekeyLen()]
	defer clear(random)
	e.cfg.Chance.Material(random)
	if _, err := c.ring.Rekey(now, random, e.cfg.Chance.Nonce()); err != nil {
		return err
	}
	e.sendKeyToAll(now)
	e.armKeys(now)
	return nil
}

// SetRekeying sets the time between two keys that the node makes itself, 0 for none.
func (e *Engine) SetRekeying(now, interval time.Duration) {
	e.cfg.Rekey = max(interval, 0)
	if e.crypt != nil {
		e.crypt.ring.SetInterval(now, e.cfg.Rekey)
		e.armKeys(now)
	}
}

// SetMigration begins or ends a migration, in which the node takes plain frames of others
// though it has keys.
func (e *Engine) SetMigration(on bool) { e.cfg.Migration = on }

// leaveRoom makes all links leave room for sealing, which restarts them.
func (e *Engine) leaveRoom(now time.Duration) {
	if e.cfg.Sealed || e.cfg.AsKernel {
		return
	}
	e.cfg.Sealed = true
	for _, n := range e.nodes {
		e.giveUp(now, n)
	}
	e.reapFailed(now)
	for _, b := range e.bearers {
		b.local = nil
		if b.removed {
			continue
		}
		for _, n := range e.nodes {
			if l := n.links[b.id]; l != nil {
				e.accept(now, n, b, l.mac)
			}
		}
	}
}

// An Encryption is how a node's encryption stands. It has no key in it.
type Encryption struct {
	Working      bool               // what the node sends is sealed
	Strict       bool               // plain frames are dropped once there are keys
	Exchange     bool               // keys are handed out and taken
	Rekey        time.Duration      // between two keys that the node makes itself, 0 for none
	Slots        [4]seal.SlotStatus // of its own keys; 0 is the master's
	Given        []frame.Identity   // nodes whose keys it was given
	Peers        []EncryptionPeer   // by address
	Keys         seal.Counters
	Sealing      Sealing
	PlainDropped uint64 // dropped, see DropPlain
}

// An EncryptionPeer is how the encryption with another node stands.
type EncryptionPeer struct {
	Node     frame.NodeAddr
	Identity frame.Identity
	seal.PeerStatus
}

// Encryption returns how the node's encryption stands.
func (e *Engine) Encryption() Encryption {
	x := Encryption{Strict: !e.takesPlain(), Exchange: !e.cfg.NoExchange, Rekey: e.cfg.Rekey, PlainDropped: e.count.Drops[DropPlain]}
	c := e.crypt
	if c == nil {
		return x
	}
	x.Working, x.Slots, x.Keys, x.Sealing = c.ring.Working(), c.ring.Status(), c.ring.Counters(), c.count
	for id := range c.given {
		x.Given = append(x.Given, id)
	}
	slices.SortFunc(x.Given, func(a, b frame.Identity) int { return bytes.Compare(a[:], b[:]) })
	for _, n := range e.nodes {
		if n.crypt != nil {
			x.Peers = append(x.Peers, EncryptionPeer{n.addr, n.identity, n.crypt.Status()})
		}
	}
	return x
}
