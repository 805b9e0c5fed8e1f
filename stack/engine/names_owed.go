// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A nameDebt is what a node is still to be told by unicast of the own names, in this order.
// It is paid at once when the node comes up; where there is no memory, or no room, the rest
// is tried again every owedPause. As long as there is one, whatever else the node is told by
// unicast of names goes behind it: its table may be late, and is never another one.
type nameDebt struct {
	bulk    bool             // the names that there were
	items   []frame.NameItem // of them those that are not sent
	next    frame.Seq        // the first update that is not among them
	updates []update         // sent since
}

// maxOwedUpdates is the number of updates that may wait for a node; one with more has to
// start over.
const maxOwedUpdates = 4096

// sendBulk tells a node that has come up every binding that it should know, at least the one
// that says this node is there. Source: docs/spec/03-discovery-and-node.md §6.1.
func (e *Engine) sendBulk(now time.Duration, n *node) {
	d := &nameDebt{bulk: true}
	d.items, d.next = e.pub.Bulk()
	n.owed = d
	n.reading = !e.cfg.AsKernel
	e.payNames(now, n)
}

// oweNames has what nodes are owed tried again at a time.
func (e *Engine) oweNames(at time.Duration) {
	if a := &e.namesAgain; !a.isSet() || at < a.at {
		a.owner = namesAgain{e}
		e.alarms.set(a, at)
	}
}

// namesAgain pays what nodes are owed.
type namesAgain struct{ e *Engine }

// ring implements ringer.
func (x namesAgain) ring(now time.Duration, _ *alarm) {
	for _, n := range x.e.nodes {
		if n.owed == nil {
			continue
		}
		l := n.slots[0] // of a node that is up, as all that are owed something
		x.e.payNames(now, n)
		x.e.after(now, l)
	}
}

// payNames sends a node what it is owed: as much as the turn may still do. The rest is tried
// again.
func (e *Engine) payNames(now time.Duration, n *node) {
	if !e.payNow(now, n) {
		e.oweNames(now + owedPause)
	} else if n.owed != nil {
		e.oweNames(now)
	}
}

// payNow is payNames, and reports false where there is no memory or room.
func (e *Engine) payNow(now time.Duration, n *node) bool {
	d, l := n.owed, n.slots[0]
	limit := max(1, (l.PacketLimit()-frame.IntLen)/frame.NameItemLen)
	for d.bulk {
		if !e.mayDo(3) {
			return true
		}
		part := d.items[:min(limit, len(d.items))]
		f := frame.NamesFields{Bulk: true, NonLegacy: true, BcastAckInvalid: true}
		if len(part) == len(d.items) {
			f.LastBulk, f.UpdateSeq = true, d.next
		}
		if !e.sendNames(now, l, f, part...) {
			return false
		}
		e.did(WorkBindings, len(part))
		d.items = d.items[len(part):]
		if d.bulk = !f.LastBulk; !d.bulk {
			l.told = d.next
			n.bulkOn, n.bulkEnd = l.bearer.id, l.Queued()
		}
	}
	for len(d.updates) > 0 {
		if !e.mayDo(3) {
			return true
		}
		e.did(WorkBindings, 1)
		u := d.updates[0]
		if !e.sendNames(now, l, u.fields(), u.item) {
			return false
		}
		d.updates = d.updates[1:]
		l.toldOf(u)
	}
	n.owed = nil
	return true
}

// tellOne sends an update to one node, by unicast.
func (e *Engine) tellOne(now time.Duration, n *node, u update) {
	l := n.slots[0]
	switch {
	case n.owed == nil && e.sendNames(now, l, u.fields(), u.item):
		l.toldOf(u)
	case n.owed == nil:
		n.owed = &nameDebt{}
		fallthrough
	default:
		n.owed.updates = append(n.owed.updates, u)
		e.oweNames(now + owedPause)
	}
	e.after(now, l)
	if n.owed != nil && len(n.owed.updates) > maxOwedUpdates {
		e.giveUp(now, n)
	}
}

// toldOf notes that an update was sent on the link.
func (l *link) toldOf(u update) {
	if l.told == u.seq { // and was told those before
		l.told++
	}
}
