// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Publication finds out whether the nodes that are up know the names that this node has bound and
// taken back so far.
//
//	this node, all updates before u               a node of this implementation
//	CONN_PROBE u to a number without a socket ──► has applied those before u: it comes back, "no port",
//	                                              with v: its own updates so far are before v
//	… this node has applied those before v        it has not: dropped; Again asks once more
//
//	its links have acknowledged the updates       a kernel
//	CONN_PROBE to a number without a socket ────► comes back, "no port"
//
// The probe follows the updates that went on the same link. So of two nodes that bind and then ask, at
// least one knows what the other has bound when its own Publication ends. A kernel says nothing of its
// table: of it, and of nodes that do not have Names, a Publication shows that its links have
// acknowledged the updates, and no more.
// Source: docs/explanation/protocol.md, "Among nodes of utipc"; docs/spec/07-sockets.md §4.5.
type Publication struct {
	probe  Probe
	next   frame.Seq // the first update that they need not know
	cast   frame.Seq // the last packet of the broadcast link that may have one before it
	marker uint32    // a number that no socket has; the next of the same parity is another
	left   map[*node]*informed
}

// An informed is how far a node is in a Publication.
type informed struct {
	answered    bool
	theirs      frame.Seq // the first of its updates that this node need not know
	sent, heard uint8     // to a node without Names: the slots that were asked over, that have answered
}

// asksNames is the window in a CONN_PROBE that asks for names; in others it is 0.
const asksNames = 1

// AskNames begins to ask. TakeProbes names the Probe that Publication.Probe returns when all have
// answered; Close ends it, which has to be done in any case. Errors: ErrSockets.
func (e *Engine) AskNames(now time.Duration, owner any) (*Publication, error) {
	p := &Publication{next: e.pub.Next(), left: map[*node]*informed{}}
	q := &p.probe
	*q = Probe{Owner: owner, names: p, began: now}
	for _, n := range e.nodes {
		if n.up() {
			p.left[n] = &informed{}
		}
	}
	switch {
	case len(p.left) == 0:
		q.ended = true
		return p, nil
	case len(e.ports) >= maxPorts:
		return nil, ErrSockets
	}
	p.cast = e.cast.link.Queued()
	q.port = Port{PortConfig: PortConfig{Returnable: true}, e: e, probe: q}
	e.number(&q.port)
	e.probes.names = append(e.probes.names, p)
	p.Again(now)
	return p, nil
}

// Probe is what TakeProbes returns, and Result says when all have answered.
func (p *Publication) Probe() *Probe { return &p.probe }

// Left returns a node that has not answered; 0: all have.
func (p *Publication) Left() (first frame.NodeAddr) {
	for n := range p.left {
		if first == 0 || n.addr < first {
			first = n.addr
		}
	}
	return first
}

// Again asks those that have not answered once more, as far as there is memory.
func (p *Publication) Again(now time.Duration) {
	if p.probe.ended {
		return
	}
	e := p.probe.port.e
	p.marker = e.cfg.Chance.Port() &^ 3
	for _, n := range slices.Clone(e.nodes) { // contact may be lost in a call
		a := p.left[n]
		switch {
		case a == nil || a.answered:
		case n.has(Names):
			f := p.ask(n, 0)
			f.Acked, f.Window = uint16(p.next), asksNames
			e.sendManager(now, &f)
		case p.acked(n):
			p.askOver(now, n, a)
		}
	}
}

// ask is a probe to a node, over a slot.
func (p *Publication) ask(n *node, slot uint32) frame.ConnFields {
	q := &p.probe
	return frame.ConnFields{Type: frame.ConnProbe, OrigPort: q.port.number, Orig: q.port.e.addr, DestPort: p.marker + 2 + slot, Dest: n.addr}
}

// askOver asks a node without Names over each of its slots: updates may have gone on both.
func (p *Publication) askOver(now time.Duration, n *node, a *informed) {
	e := p.probe.port.e
	a.sent, a.heard = 0, 0
	for i, l := range n.slots {
		if l == nil || i == 1 && l == n.slots[0] {
			continue
		}
		a.sent |= 1 << i
		if f := p.ask(n, uint32(i)); e.sendManagerOn(now, l, &f) != nil {
			a.sent |= 1 << 7 // never answered: all of it once more
		}
	}
}

// acked reports whether a node has acknowledged the updates that did not go on a slot.
func (p *Publication) acked(n *node) bool {
	return n.owed == nil && !n.stillReads() && n.member.Confirmed() && !n.member.Acked().Before(p.cast)
}

// handle takes what comes back.
func (p *Publication) handle(now time.Duration, n *node, f *frame.ConnFields) {
	a := p.left[n]
	switch {
	case a == nil || f.Orig != n.addr || f.Error == frame.OK || f.Type != frame.ConnProbe:
		p.probe.port.e.drop(DropConn)
		return
	case n.has(Names):
		if frame.Seq(f.Acked) != p.next {
			p.probe.port.e.drop(DropConn)
			return
		}
		a.answered, a.theirs = true, frame.Seq(f.Window)
	default:
		if i := f.OrigPort - p.marker - 2; i < 2 {
			a.heard |= 1 << i
		}
		a.answered = a.heard == a.sent
	}
	p.took(now, n)
}

// took ends the wait for a node that has answered, and whose own names are here.
func (p *Publication) took(now time.Duration, n *node) {
	a := p.left[n]
	if a != nil && a.answered && (!n.has(Names) || n.inbox.Applied(a.theirs)) {
		p.probe.took = now - p.probe.began
		p.without(n)
	}
}

// without has a node be waited for no longer.
func (p *Publication) without(n *node) {
	delete(p.left, n)
	if len(p.left) == 0 && !p.probe.ended {
		p.end(nil)
	}
}

func (p *Publication) end(err error) {
	s := &p.probe.port.e.probes
	s.names = slices.DeleteFunc(s.names, func(x *Publication) bool { return x == p })
	p.probe.ended, p.probe.err = true, err
	s.ended = append(s.ended, &p.probe)
}

// Close ends the Publication. Closing twice is harmless.
func (p *Publication) Close(now time.Duration) {
	if q := &p.probe; !q.ended {
		p.end(ErrClosed)
	}
	p.probe.Close(now)
}

// namesTaken has the Publications look whether they know enough of a node's names now.
func (e *Engine) namesTaken(now time.Duration, n *node) {
	for _, p := range slices.Clone(e.probes.names) {
		p.took(now, n)
	}
}

// loseNames has no Publication wait for a node with which contact is lost.
func (e *Engine) loseNames(n *node) {
	for _, p := range slices.Clone(e.probes.names) {
		if p.left[n] != nil {
			p.without(n)
		}
	}
}

// answerNames puts the answer into a probe that asks for names, and reports whether it is to go back
// now: not before this node has applied those that it is asked for.
func (e *Engine) answerNames(n *node, f *frame.ConnFields) bool {
	if f.Type != frame.ConnProbe || f.Window != asksNames || !n.has(Names) || e.cfg.AsKernel {
		return true
	}
	if !n.inbox.Applied(frame.Seq(f.Acked)) {
		return false
	}
	f.Window = uint16(e.pub.Next())
	return true
}
