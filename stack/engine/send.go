// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// What sending can find.
var (
	// ErrUnreachable means that nobody has the name, or contact with the node
	// is lost.
	ErrUnreachable = errors.New("engine: no route to the destination")
	// ErrTooLong means a message that is longer than may be sent there.
	ErrTooLong = errors.New("engine: message too long")
	// ErrMemory means all chunks of the node are in use.
	ErrMemory = errors.New("engine: no free chunk in the node's arena")
)

// A Blocked is why a message could not be sent now: the link has as many packets
// waiting as it may have at this importance. It is the engine's: another send that is
// blocked on the same link at the same importance changes it.
type Blocked struct {
	Node       frame.NodeAddr
	Link       string
	Importance frame.Importance
	Unacked    int // packets sent and not acknowledged
	Window     int // and how many may be
	Backlog    int // packets behind the window
	Limit      int // and how many may be, at this importance
}

func (b *Blocked) Error() string {
	return fmt.Sprintf("engine: link %s congested: %d of %d packets unacknowledged, %d waiting, limit %d at importance %v",
		b.Link, b.Unacked, b.Window, b.Backlog, b.Limit, b.Importance)
}

// Unwrap returns flowctl.ErrCongested.
func (b *Blocked) Unwrap() error { return flowctl.ErrCongested }

// SendService sends data to a socket bound to the service; where several are, they
// take turns. Errors as for Send.
func (p *Port) SendService(now time.Duration, a frame.Service, data []byte) error {
	if p.closed {
		return ErrClosed
	}
	to, ok := p.e.table.Recall(&p.memo, a)
	if !ok {
		return ErrUnreachable
	}
	f := p.template(frame.NamedMsg, to.Socket())
	f.NameType, f.Lower, f.Scope = a.Type, a.Instance, frame.ClusterScope
	if a.Node != 0 {
		f.Scope = frame.NodeScope
	}
	err := p.send(now, &f, data)
	if _, blocked := err.(*Blocked); !blocked {
		to.Take() // who is busy now keeps its turn
	}
	return err
}

// Send sends data to one socket; nobody checks beforehand whether it exists.
// The data is copied. Errors: ErrUnreachable, ErrTooLong, ErrMemory, ErrClosed,
// flowctl.ErrCongested: event Room for the node tells when to try again.
func (p *Port) Send(now time.Duration, to frame.SocketAddr, data []byte) error {
	if p.closed {
		return ErrClosed
	}
	f := p.template(frame.DirectMsg, to)
	return p.send(now, &f, data)
}

func (p *Port) template(t frame.PayloadType, to frame.SocketAddr) frame.PayloadFields {
	if to.Node == 0 {
		to.Node = p.e.addr
	}
	return frame.PayloadFields{
		Common: frame.Common{Prev: p.e.addr}, Importance: p.Importance, Type: t,
		DestDroppable: !p.Returnable, SrcDroppable: p.SrcDroppable,
		OrigPort: p.number, OrigNode: p.e.addr, DestPort: to.Port, DestNode: to.Node,
	}
}

func (p *Port) send(now time.Duration, f *frame.PayloadFields, data []byte) error {
	if len(data) > frame.MaxPayload {
		return ErrTooLong
	}
	if f.DestNode == p.e.addr {
		p.e.sendLocal(p, f, data)
		return nil
	}
	err := p.e.post(now, f.DestNode, f, data, frame.Data)
	if err == nil {
		p.e.count.MessagesOut++
	}
	return err
}

// post builds a message and hands it to the link to a node.
func (e *Engine) post(now time.Duration, to frame.NodeAddr, f *frame.PayloadFields, data []byte, use frame.Use) error {
	n := e.peer(to)
	if n == nil || n.link == nil || !n.link.IsUp() {
		return ErrUnreachable
	}
	hlen := f.Len()
	if hlen+len(data) > packetLimit(n) {
		return ErrTooLong
	}
	imp := f.Importance
	if f.Error != frame.OK {
		imp = frame.System
	}
	if room := n.link.Room(hlen+len(data), imp); room != nil {
		f.Put(room, len(data))
		copy(room[hlen:], data)
		if n.held && !e.hold { // it ends the waiting
			n.link.Flush(now)
			e.after(now, n)
		}
		return nil
	}
	b := e.message(hlen+len(data), use)
	if b == nil {
		return ErrMemory
	}
	msg := b.Bytes()[frame.EthernetLen:]
	f.Put(msg, len(data))
	copy(msg[hlen:], data)
	err := e.transmit(now, n, b, imp)
	e.after(now, n)
	if err == flowctl.ErrCongested && use == frame.Data {
		return e.blocked(n, imp)
	}
	return err
}

// blocked says why n cannot be sent to now. What it returns is brought up to date by
// the next call that finds the same: under load a sender meets it again and again.
func (e *Engine) blocked(n *node, imp frame.Importance) error {
	b := &n.blocked[imp]
	*b = Blocked{
		Node: n.addr, Link: n.linkName, Importance: imp,
		Unacked: n.link.Unacked(), Window: n.link.Window(),
		Backlog: n.link.Backlog(), Limit: n.link.Limit(imp),
	}
	return b
}

// sendLocal delivers a message within the node. Source: docs/spec/07-sockets.md §9.
func (e *Engine) sendLocal(from *Port, f *frame.PayloadFields, data []byte) {
	r := Received{
		From: from.Addr(), Importance: f.Importance, returnable: !f.DestDroppable, scope: f.Scope,
	}
	if f.Type == frame.NamedMsg {
		r.named, r.Name = true, frame.Range{Type: f.NameType, Lower: f.Lower, Upper: f.Lower}
	}
	switch port := e.ports[f.DestPort]; {
	case port == nil:
		e.returnLocal(frame.SocketAddr{Port: f.DestPort, Node: e.addr}, r, data, frame.NoPort)
	case !port.accepts(len(data), f.Importance):
		e.returnLocal(frame.SocketAddr{Port: f.DestPort, Node: e.addr}, r, data, frame.Overload)
	default:
		e.count.MessagesLocal++
		if len(data) > 0 {
			port.pushLocal(r, data)
		}
	}
}

// returnLocal gives a message back to the port of this node that sent it.
func (e *Engine) returnLocal(to frame.SocketAddr, r Received, data []byte, why frame.ErrorCode) {
	port := e.ports[r.From.Port]
	data = data[:min(len(data), frame.MaxReturned)]
	switch {
	case !r.returnable && why == frame.Overload:
		e.drop(DropOverload)
	case !r.returnable || port == nil:
		e.drop(DropNoPort)
	case !port.accepts(len(data), frame.System):
		e.drop(DropOverload)
	default:
		r.From, r.Error, r.returnable = to, why, false
		port.pushLocal(r, data)
		e.count.Returned++
	}
}
