// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// handleNames brings a node's bulk and updates into the table.
func (e *Engine) handleNames(now time.Duration, n *node, m frame.Message) {
	names, err := frame.ParseNames(m)
	if err != nil || names.Orig() != n.addr {
		e.refuseName(now, n)
		return
	}
	fits := true
	err = n.inbox.Handle(names, func(it frame.NameItem, withdrawal bool) { fits = e.applyName(now, n, it, withdrawal) && fits })
	if n.inbox.Due() && !n.draining {
		fits = e.drainNames(now, n) && fits
		if n.draining = n.inbox.Due(); n.draining {
			e.later(drain{e, n})
		}
	}
	e.namesCame(now, n, err == nil && fits)
}

// drainNames brings a node's names into the table that came ahead of their turn and have it
// now: as many as the turn may still do. It reports false when they are too many.
func (e *Engine) drainNames(now time.Duration, n *node) (fits bool) {
	fits = true
	for n.inbox.Due() && e.mayDo(1) {
		e.did(WorkBindings, n.inbox.Drain(64, func(it frame.NameItem, withdrawal bool) { fits = e.applyName(now, n, it, withdrawal) && fits }))
	}
	return fits
}

// namesCame gives a node up whose names do not fit, and does what others wait for.
func (e *Engine) namesCame(now time.Duration, n *node, fit bool) {
	if !fit {
		e.drop(DropLimit)
		e.logLimited(now, &e.tooManyNames, TooManyNames, n.addr)
		e.giveUp(now, n)
	}
	e.giveWay(now)
	e.namesTaken(now, n)
	e.unpark(now)
	e.groupNews(now)
}

// applyName enters or removes one binding of a node, unless it breaks a rule:
// the reserved types would fake nodes and links for local programs. It reports false
// when the node, or all of them, have as many as they may have.
func (e *Engine) applyName(now time.Duration, n *node, it frame.NameItem, withdrawal bool) (fits bool) {
	b := naming.Binding{
		Range: it.Range, Scope: frame.ClusterScope,
		Socket: frame.SocketAddr{Port: it.Port, Node: n.addr}, Key: it.Key,
	}
	own := frame.Range{Type: naming.NodeState, Lower: uint32(n.addr), Upper: uint32(n.addr)}
	switch {
	case it.Range.Lower > it.Range.Upper,
		it.Range.Type < naming.FirstUser && it.Range != own:
		e.refuseName(now, n)
	case withdrawal:
		if !e.table.Remove(b) {
			e.refuseName(now, n)
		}
		e.suspect(now, b.Socket)
	default:
		err := e.table.Add(b)
		if err == naming.ErrTableFull && e.relieve(now, n) {
			err = e.table.Add(b)
		}
		switch err {
		case nil:
			e.bound(b)
			e.contest(now, b)
		case naming.ErrNodeFull, naming.ErrTableFull:
			return false
		}
	}
	return true
}

// relieve makes room in a table that is full for a node's names: the node that has the
// most goes, so that a few that bind without end keep nobody out. It reports false when
// it is that node.
func (e *Engine) relieve(now time.Duration, n *node) bool {
	most, count := n, e.table.Count(n.addr)
	for _, x := range e.nodes {
		if c := e.table.Count(x.addr); c > count {
			most, count = x, c
		}
	}
	if most == n {
		return false
	}
	e.drop(DropLimit)
	e.logLimited(now, &e.tooManyNames, TooManyNames, most.addr)
	e.giveUp(now, most)
	e.condemn(now, most.addr)
	return true
}

// refuseName counts a name message, or an item in one, that breaks a rule.
func (e *Engine) refuseName(now time.Duration, n *node) {
	e.drop(DropNames)
	e.logLimited(now, &e.refused, BadNames, n.addr)
}

// A rateLimitedLog is told once in logGap, however often there is reason for it.
type rateLimitedLog struct {
	next  time.Duration // not told before
	count int           // reasons since it was told
}

const logGap = time.Second

// logLimited tells the owner of something that a node does which it should not.
func (e *Engine) logLimited(now time.Duration, c *rateLimitedLog, kind EventKind, of frame.NodeAddr) {
	if c.count++; now >= c.next {
		e.events.Push(Event{Kind: kind, Node: of, Count: c.count})
		*c = rateLimitedLog{next: now + logGap}
	}
}
