// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// How long the other end of a link that is down is silent before the link makes way for a spare.
const (
	spareFor   = 2 * time.Second // where the peer has a link on the spare
	spareLater = 4 * time.Second // more, at the end with the higher address: both would change places
	spareWaits = 5               // tolerances, where it has none: an end that is down speaks every 4 of them
)

// A spare is a bearer on which a node is heard that has its two links (maxLinks) on the others.
// It gets a link in place of one that is down and whose other end is silent:
//
//   - The two ends chose other bearers. Each takes the two on which it hears the other first; then
//     one link of each has no other end, and the peer's is heard on the spare.
//   - A network failed that carried a link. The peer announces itself on the spare, and makes its
//     link there once it hears that of this node. A kernel's never does, and is not led to the spare.
//
// Nothing is sent for it but what a new link sends.
// Source: docs/spec/03-discovery-and-node.md §3.
type spare struct {
	bearer  uint8
	mac     frame.MAC     // the station that is heard
	heard   time.Duration // when it was heard last
	strayed time.Duration // when that was a message of a link that has no end here; 0: never
}

// spares notes that a node is heard where it has no link; strays, that the peer has a link there.
func (n *node) spares(now time.Duration, b *bearer, mac frame.MAC, strays bool) {
	switch s := n.spare; {
	case s == nil:
		n.spare = &spare{bearer: b.id, mac: mac}
	case s.bearer != b.id || s.mac != mac:
		*s = spare{bearer: b.id, mac: mac}
	}
	n.spare.heard = now
	if strays {
		n.spare.strayed = now
	}
}

// stray takes a message of a link that has no end here. It earns its station what the link is sent
// that may be made there.
func (e *Engine) stray(now time.Duration, n *node, b *bearer, src frame.MAC, m frame.Message) {
	if !e.cfg.AsKernel && n.count() == maxLinks {
		n.earn(b.id, src, len(m.Bytes()))
		n.spares(now, b, src, true)
	}
}

// replace gives up a link, at its tick, for the node's spare.
func (e *Engine) replace(now time.Duration, l *link) {
	n := l.n
	s := n.spare
	if s == nil || e.cfg.AsKernel || !l.IsReset() || l.State() == flowctl.FailingOver || l.damper.waits(now) {
		return
	}
	strays := s.strayed > l.spoke
	wait := spareFor
	switch {
	case strays:
	case n.version == 0, s.heard < l.spoke && (!n.up() || now-s.heard > heardGap):
		return
	default:
		wait = spareWaits * l.Tolerance()
	}
	if e.addr > n.addr {
		wait += spareLater
	}
	if b := e.bearers[s.bearer]; b.MTU > 0 && now-l.spoke >= wait {
		e.answered(l)
		e.end(l)
		n.links[l.bearer.id] = nil
		e.accept(now, n, b, s.mac)
	}
}

// Spares is the number of nodes that are heard on a bearer and have their two links on others.
func (e *Engine) Spares(now time.Duration, bearerID int) (count int) {
	for _, n := range e.nodes {
		if s := n.spare; s != nil && int(s.bearer) == bearerID && now-s.heard <= heardGap {
			count++
		}
	}
	return count
}
