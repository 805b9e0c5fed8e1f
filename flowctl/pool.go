// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"github.com/utipc/utipc/netdev"
)

// A Pool bounds the memory that other nodes can make this one keep until something
// else comes: packets before their turn, and fragments. Nobody has more than is left for
// all others, but poolShare of each kind in any case: however much some have, a peer
// that lost a packet is kept what it sent behind. A nil Pool has no end. Not safe for
// concurrent use.
type Pool struct {
	Limit  int                 // bytes
	Wholes *netdev.MessagePool // for what is joined of fragments; nil: the heap
	used   int
}

const (
	// DefaultPool is the Limit of a node, in bytes.
	DefaultPool = 128 << 20
	poolShare   = 64 << 10
)

// Used is the memory taken, in bytes.
func (p *Pool) Used() int { return p.used }

// has reports whether somebody who has own bytes may have n more.
func (p *Pool) has(own, n int) bool { return p == nil || own+n <= max(p.Limit-p.used, poolShare) }

// get takes memory for n bytes of a message that is joined, and counts it.
func (p *Pool) get(n int) *netdev.Buffer {
	var w *netdev.MessagePool
	if p != nil {
		w = p.Wholes
	}
	b := w.Get(n)
	p.add(room(b))
	return b
}

// add takes n bytes, or gives back if n is negative.
func (p *Pool) add(n int) {
	if p != nil {
		p.used += n
	}
}
