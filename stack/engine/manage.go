// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/utipc/utipc/frame"
)

// What a node can be told while it runs, beside SetLink and the keys.

// ErrSettled means that the node has an address already, or is about to have one.
var ErrSettled = errors.New("engine: the node has an address, or tries one")

// ErrContact means that there is contact with the node that was to be forgotten.
var ErrContact = errors.New("engine: there is contact with the node")

// unsettled reports whether nobody was told of the node yet.
func (e *Engine) unsettled() bool { return e.addr == 0 && e.trial.addr == 0 }

// SetAddress gives the node its address, at once. Without an identity it is named after
// it. Errors: ErrConfig, ErrSettled.
func (e *Engine) SetAddress(now time.Duration, a frame.NodeAddr) error {
	switch {
	case !e.unsettled():
		return ErrSettled
	case a == 0:
		return fmt.Errorf("%w: address 0", ErrConfig)
	}
	e.cfg.Address = a
	if e.cfg.Identity == (frame.Identity{}) {
		e.cfg.Identity = frame.AddrIdentity(a)
	}
	e.settle(now, a)
	return nil
}

// SetIdentity names the node; its address follows from that with the first bearer.
// Errors: ErrConfig, ErrSettled.
func (e *Engine) SetIdentity(id frame.Identity) error {
	switch {
	case !e.unsettled():
		return ErrSettled
	case id == frame.Identity{}:
		return fmt.Errorf("%w: an empty identity", ErrConfig)
	}
	e.cfg.Identity = id
	e.nameCrypt()
	return nil
}

// SetNetID sets the cluster's number, 1 to 9999. Errors: ErrConfig, ErrSettled.
func (e *Engine) SetNetID(id uint32) error {
	switch {
	case !e.unsettled():
		return ErrSettled
	case id < 1 || id > 9999:
		return fmt.Errorf("%w: network id %d is not in 1 to 9999", ErrConfig, id)
	}
	e.cfg.NetID = id
	return nil
}

// NetID is the cluster's number.
func (e *Engine) NetID() uint32 { return e.cfg.NetID }

// RemovePeer forgets another node that there is no contact with.
// Errors: ErrNoNode for one not known, ErrContact.
func (e *Engine) RemovePeer(a frame.NodeAddr) error {
	n := e.byAddr[a]
	switch {
	case n == nil:
		return ErrNoNode
	case n.lruList == nil:
		return ErrContact
	}
	e.remove(n)
	return nil
}

// ByIdentity returns the address of the first node that claims an identity, and whether
// there is contact with it; 0 if none does.
func (e *Engine) ByIdentity(id frame.Identity) (a frame.NodeAddr, contact bool) {
	if n := e.identities[id]; n != nil {
		return n.addr, n.lruList == nil
	}
	return 0, false
}

// SetMulticast says how multicast messages of sockets that have no method of their own
// go: Auto takes copies for up to 1 and ratio per cent of the other nodes, 1 to 100.
// Ratio 0 is no change. Errors: ErrConfig.
func (e *Engine) SetMulticast(m Method, ratio int) error {
	if ratio < 0 || ratio > 100 || m > Replicast {
		return fmt.Errorf("%w: method %d with ratio %d, not in 1 to 100", ErrConfig, m, ratio)
	}
	e.method = m
	if ratio > 0 {
		e.ratio = ratio
	}
	return nil
}

// Multicast returns what SetMulticast has set.
func (e *Engine) Multicast() (m Method, ratio int) { return e.method, e.share() }

// A BroadcastReception is what came on another node's broadcast link.
type BroadcastReception struct {
	Peer                           frame.NodeAddr
	Identity                       frame.Identity
	Name                           string // as tipc(8) says it
	Received, Duplicates, Deferred uint64
}

// Receptions yields what came on the broadcast links of the nodes there is contact with,
// by address.
func (e *Engine) Receptions() iter.Seq[BroadcastReception] {
	return func(yield func(BroadcastReception) bool) {
		for _, n := range e.nodes {
			r := BroadcastReception{
				Peer: n.addr, Identity: n.identity, Name: broadcastName + ":" + n.identity.LinkText(n.addr),
				Received: n.bcast.Received, Duplicates: n.bcast.Duplicates, Deferred: n.bcast.Deferred,
			}
			if n.up() && !yield(r) {
				return
			}
		}
	}
}

// ResetBroadcastStatistics sets the counters of the broadcast link to 0, and those of
// what came on other nodes'.
func (e *Engine) ResetBroadcastStatistics(now time.Duration) {
	if e.cast.link != nil {
		e.cast.ResetStatistics(now)
	}
	for _, n := range e.nodes {
		e.ResetReception(n.addr)
	}
}

// ResetReception sets the counters of what came on a node's broadcast link to 0.
// Errors: ErrNoNode for one not known.
func (e *Engine) ResetReception(a frame.NodeAddr) error {
	n := e.byAddr[a]
	if n == nil {
		return ErrNoNode
	}
	n.bcast.Received, n.bcast.Duplicates, n.bcast.Deferred = 0, 0, 0
	return nil
}

// Outgoing is the number of frames that wait for a bearer's device.
func (e *Engine) Outgoing(bearer int) int { return e.bearers[bearer].out.Len() }

// Abandon drops them.
func (e *Engine) Abandon(bearer int) {
	b := e.bearers[bearer]
	for b.out.Len() > 0 {
		b.out.Pop().f.Release()
		e.count.OutDropped++
	}
	b.copies, b.starved = 0, false
}

// inScope reports whether an address is of a domain: 0 is all, an address with node 0, or
// cluster and node 0, all of that cluster, or zone.
// Source: docs/spec/03-discovery-and-node.md §2.3.
func inScope(domain, a frame.NodeAddr) bool {
	const node, cluster = 0xfff, 0xffffff
	switch {
	case domain == 0 || domain == a:
		return true
	case domain&cluster == 0:
		return a&^cluster == domain
	case domain&node == 0:
		return a&^node == domain
	}
	return false
}
