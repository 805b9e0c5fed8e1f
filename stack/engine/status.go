// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"iter"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A LinkStatus is how a link to another node stands.
type LinkStatus struct {
	Peer      frame.NodeAddr
	Identity  frame.Identity
	Bearer    int
	Name      string // the peer's interface is "unknown" until it told
	Up        bool
	Active    bool // it carries messages; one that is up and does not stands by
	MTU       int  // bytes
	Tolerance time.Duration
	Priority  uint8
	Senders   int           // calls that wait for it
	Ended     flowctl.Cause // why it went down last
	Impaired  Impairment    // what the network does not do for it
	flowctl.Statistics
}

// Peers yields the links to all nodes known, by address and bearer, as they stand at
// now.
func (e *Engine) Peers(now time.Duration) iter.Seq[LinkStatus] {
	return func(yield func(LinkStatus) bool) {
		for _, n := range e.nodes {
			for _, l := range n.links {
				if l != nil && !yield(l.status(now)) {
					return
				}
			}
		}
	}
}

// Contacts yields the other nodes that there is contact with, by address.
func (e *Engine) Contacts(yield func(frame.NodeAddr) bool) {
	for _, n := range e.nodes {
		if n.up() && !yield(n.addr) {
			return
		}
	}
}

func (l *link) status(now time.Duration) LinkStatus {
	s := LinkStatus{
		Peer: l.n.addr, Identity: l.n.identity, Bearer: int(l.bearer.id), Name: l.label(),
		Up: l.IsUp(), Active: l.n.uses(l), Priority: l.Priority(),
		MTU: l.MTU(), Tolerance: l.Tolerance(), Ended: l.Cause(), Impaired: l.impairment(), Statistics: l.Link.Statistics(now),
	}
	if l.senders != nil {
		for i := range l.senders.lines {
			s.Senders += l.senders.lines[i].waiting
		}
	}
	return s
}

// LinkName is the name of a link that carries messages to a node; empty without contact.
func (e *Engine) LinkName(a frame.NodeAddr) string {
	if n := e.reach(a); n != nil {
		return n.slots[0].label()
	}
	return ""
}

// Bearer returns what new links on a bearer begin with.
func (e *Engine) Bearer(id int) LinkConfig { return e.bearers[id].LinkConfig }

// Overlapping yields every binding that overlaps r.
func (e *Engine) Overlapping(r frame.Range) iter.Seq[naming.Binding] { return e.table.Overlapping(r) }

// link returns the link to a node on a bearer. Errors: ErrNoLink.
func (e *Engine) link(to frame.NodeAddr, bearer int) (*link, error) {
	n := e.byAddr[to]
	if n == nil || bearer < 0 || bearer >= MaxBearers || n.links[bearer] == nil {
		return nil, ErrNoLink
	}
	return n.links[bearer], nil
}

// SetTolerance changes how long the peer of a link may be silent and tells the
// peer; bounds as flowctl.Link.SetTolerance. Errors: ErrNoLink when there is
// no such link.
func (e *Engine) SetTolerance(now time.Duration, to frame.NodeAddr, bearer int, tolerance time.Duration) error {
	l, err := e.link(to, bearer)
	if err == nil {
		l.SetTolerance(now, tolerance)
		e.after(now, l)
	}
	return err
}

// SetPriority changes the priority of a link, 1 to 31, and tells the peer, which
// resets the link. Errors: ErrNoLink when there is no such link.
func (e *Engine) SetPriority(now time.Duration, to frame.NodeAddr, bearer int, priority uint8) error {
	l, err := e.link(to, bearer)
	if err == nil {
		l.SetPriority(now, priority)
		e.after(now, l)
	}
	return err
}

// selected yields the links to a node on a bearer, those to all nodes if the address
// is 0.
func (e *Engine) selected(to frame.NodeAddr, bearer int) iter.Seq[*link] {
	return func(yield func(*link) bool) {
		for _, n := range e.nodes {
			if l := n.links[bearer]; l != nil && (to == 0 || to == n.addr) && !yield(l) {
				return
			}
		}
	}
}

// SetLink changes the link to a node on a bearer, at once, and tells the peer of a new
// tolerance or priority; a new priority resets the link. Zero fields mean no change,
// a Window without MaxWindow one that never changes.
// With address 0 it is all links of the bearer, and those to come. Errors: ErrConfig,
// ErrNoLink when there is no such link.
func (e *Engine) SetLink(now time.Duration, to frame.NodeAddr, bearer int, c LinkConfig) error {
	if bearer < 0 || bearer >= len(e.bearers) {
		return ErrNoLink
	}
	if c.MaxWindow < 0 {
		return fmt.Errorf("%w: a window of at most %d packets", ErrConfig, c.MaxWindow)
	}
	b := e.bearers[bearer]
	whole := c.or(b.LinkConfig)
	if c.Window == 0 && c.MaxWindow != 0 {
		whole.MaxWindow = max(c.MaxWindow, whole.Window)
	}
	if err := whole.check(); err != nil {
		return err
	}
	found := to == 0
	for l := range e.selected(to, bearer) {
		found = true
		e.change(now, l, c)
	}
	if !found {
		return ErrNoLink
	}
	if to == 0 {
		b.LinkConfig = whole
		b.tuned = b.tuned || c.sizesWindow()
	}
	return nil
}

// change makes what is not zero in c hold for a link.
func (e *Engine) change(now time.Duration, l *link, c LinkConfig) {
	if c.sizesWindow() {
		l.tuned = true
		least := c.Window
		if least == 0 {
			least, _ = l.WindowBounds()
		}
		l.SetWindow(now, least, c.MaxWindow)
	}
	if c.Tolerance != 0 {
		l.SetTolerance(now, c.Tolerance)
	}
	if c.Priority != 0 && c.Priority != l.Priority() {
		l.SetPriority(now, c.Priority)
	}
	e.after(now, l)
}

// ResetStatistics sets the counters of the link to a node on a bearer to 0, those of all
// its links if the address is 0. Errors: ErrNoLink when there is no such link.
func (e *Engine) ResetStatistics(now time.Duration, to frame.NodeAddr, bearer int) error {
	if bearer < 0 || bearer >= len(e.bearers) {
		return ErrNoLink
	}
	found := to == 0
	for l := range e.selected(to, bearer) {
		found = true
		l.ResetStatistics(now)
	}
	if !found {
		return ErrNoLink
	}
	return nil
}
