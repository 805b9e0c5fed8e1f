// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// Own names reach the other nodes by these ways. A node that comes up is sent all of
// them on its first link, the bulk. Each change after that has a number, and goes to all
// on the broadcast link; where a node does not know such numbers, or the node is told to
// use Replicast, by unicast to each.
//
// The broadcast link and a node's own link may overtake each other. So an update goes to
// a node by unicast as well
//   - while it has not acknowledged the bulk: it might take a number that it does not
//     expect yet for an old one;
//   - before data: what refers to a name does not come before the name. See tellAhead.
//
// A node drops what it was told before, by the number.
// Source: docs/spec/05-naming.md §3.

// maxAhead is the number of updates, not acknowledged by all, up to which they are sent
// ahead of data. With more the broadcast link is as fast.
const maxAhead = 256

// An update is a change of names that may not have reached everybody.
type update struct {
	item       frame.NameItem
	withdrawal bool
	seq        frame.Seq
	packet     frame.Seq // of the broadcast link, that has it at the latest
}

// publish enters an own binding and tells the nodes that are up.
func (e *Engine) publish(now time.Duration, b naming.Binding) {
	e.did(WorkBindings, 1)
	e.table.Insert(b)
	e.bound(b)
	e.contest(now, b)
	if b.Scope == frame.ClusterScope {
		it := frame.NameItem{Range: b.Range, Port: b.Socket.Port, Key: b.Key}
		e.tell(now, update{item: it, seq: e.pub.Publish(it)})
	}
	e.giveWay(now)
	e.unpark(now)
	e.groupNews(now)
}

// withdraw removes an own binding and tells the nodes that are up.
func (e *Engine) withdraw(now time.Duration, b naming.Binding) {
	e.did(WorkBindings, 1)
	e.table.Remove(b)
	delete(e.exclusive.held, b)
	e.suspect(now, b.Socket)
	if b.Scope == frame.ClusterScope {
		it := frame.NameItem{Range: b.Range, Port: b.Socket.Port, Key: b.Key}
		e.tell(now, update{item: it, withdrawal: true, seq: e.pub.Withdraw(it)})
	}
	e.groupNews(now)
}

// tell sends an update to every node that is up.
func (e *Engine) tell(now time.Duration, u update) {
	e.did(WorkBindings, len(e.nodes)/16) // to look at a node is less than to look at a binding
	if e.ups == 0 {
		return
	}
	broadcast := e.namesByBroadcast() && e.broadcastUpdate(now, &u)
	for _, n := range e.nodes {
		if n.up() && (!broadcast || n.stillReads()) {
			e.tellOne(now, n, u)
		}
	}
}

// namesByBroadcast reports whether all nodes that are up know numbered updates, and
// multicast is not said to be broken. Source: docs/spec/05-naming.md §3.
func (e *Engine) namesByBroadcast() bool {
	if e.method == Replicast {
		return false
	}
	for _, n := range e.nodes {
		if n.up() && !n.caps.Has(frame.CapNamedBcast) {
			return false
		}
	}
	return true
}

// broadcastUpdate sends an update on the broadcast link. It reports false when there is
// no memory for that.
func (e *Engine) broadcastUpdate(now time.Duration, u *update) bool {
	l := e.cast.link
	if !e.sendNames(now, l, u.fields(), u.item) {
		return false
	}
	u.packet = l.Queued()
	if !e.cfg.NoNamesAhead && !e.cfg.AsKernel {
		e.recent = append(e.dropTold(), *u)
	}
	e.after(now, l)
	return true
}

func (u *update) fields() frame.NamesFields {
	return frame.NamesFields{Withdrawal: u.withdrawal, NonLegacy: true, UpdateSeq: u.seq}
}

// dropTold returns the recent updates without those that everybody has.
func (e *Engine) dropTold() []update {
	i := 0
	for i < len(e.recent) && e.cast.HasAcked(e.recent[i].packet) {
		i++
	}
	return slices.Delete(e.recent, 0, i)
}

// tellAhead sends a node, before data on a link, the updates that it was not told on that
// link and that may still be on their way to it on the broadcast link: the data may
// refer to them.
func (e *Engine) tellAhead(now time.Duration, n *node, l *link) {
	if n.owed != nil {
		return // they go behind that
	}
	e.recent = e.dropTold()
	next := e.pub.Next()
	untold := l.told.Distance(next)
	l.told = next
	if len(e.recent) > maxAhead {
		return
	}
	for _, u := range e.recent {
		if u.seq.Distance(next) > untold || n.member.Confirmed() && !n.member.Acked().Before(u.packet) {
			continue
		}
		if l.Congested(frame.System) || !e.sendNames(now, l, u.fields(), u.item) {
			break // the broadcast link has it all the same
		}
	}
	e.after(now, l)
}

// stillReads reports whether the node has not acknowledged the bulk.
func (n *node) stillReads() bool {
	if n.owed != nil && n.owed.bulk {
		return n.reading
	}
	if l := n.links[n.bulkOn]; n.reading && (l == nil || !l.IsUp() || l.HasAcked(n.bulkEnd)) {
		n.reading = false
	}
	return n.reading
}

// sendNames sends a name message, on the broadcast link to all. It reports false if that
// cannot be done now.
func (e *Engine) sendNames(now time.Duration, l *link, f frame.NamesFields, items ...frame.NameItem) bool {
	f.Prev, f.Orig, f.Dest = e.addr, e.addr, l.n.addr
	b := e.message(frame.IntLen+len(items)*frame.NameItemLen, netdev.Control)
	if b == nil {
		return false
	}
	f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen], items...)
	return e.transmit(now, l, b, frame.System) == nil
}
