// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// When a second link comes up, some sockets begin to send over it. What they sent
// before is still on its way on the old link; so the new one is held back until the
// old one has delivered everything up to the synchronisation point that its first
// packet names.
// Source: docs/spec/02-link.md §10.1, docs/spec/03-discovery-and-node.md §4.3.

// synchSeen takes the first packet of a new link, and reports false if that link may
// not come up now.
func (e *Engine) synchSeen(now time.Duration, l *link, t frame.Tunnel) bool {
	n := l.n
	point, err := t.SyncPoint()
	if err != nil || t.IsSynchPoint() != (n.caps&e.cfg.Capabilities).Has(frame.CapTunnelEnhanced) {
		e.drop(DropMalformed)
		return false
	}
	if !l.IsUp() {
		e.linkUp(now, l)
		e.after(now, l)
	}
	if n.contact == UpUp && l.IsUp() {
		n.syncPoint = point
		l.SynchBegin()
		n.contact = n.contact.after(synchBegin)
	}
	return true
}

// synching decides on a message while a link is held back; l is the one it came on,
// pass is set for those that may always pass.
func (e *Engine) synching(now time.Duration, l, o *link, pass bool) bool {
	n := l.n
	t, old := l, o
	if o.IsSynching() {
		t, old = o, l
	}
	if old.Expected().After(n.syncPoint) {
		t.SynchEnd()
		n.contact = n.contact.after(synchEnd)
		e.resume(now, t)
		if t != l { // who handles the message looks after l
			e.after(now, t)
		}
		return true
	}
	return l == old || pass
}

// resume delivers the packets that came early, as far as they have their turn; not
// those of a link that is held back.
func (e *Engine) resume(now time.Duration, l *link) {
	for l.Deferring() && l.IsUp() && !l.IsSynching() {
		p, ok := l.Next(now)
		if !ok {
			break
		}
		e.deliver(now, l, &l.joins, p.Message, p.Buffer())
		p.Release()
	}
}

// uncork lets our new link go when the old one has got through what was sent before,
// or is gone.
func (e *Engine) uncork(now time.Duration, n *node) {
	n.corked = false
	for _, l := range n.links {
		if l == nil {
			continue
		}
		upTo, on := l.Corked()
		if !on {
			continue
		}
		if o := other(n, l); o != nil && !o.IsReset() && !o.Delivered(upTo) {
			n.corked = true
			continue
		}
		l.Uncork(now)
		e.after(now, l)
	}
}
