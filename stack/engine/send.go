// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// What sending can find.
var (
	// ErrTooLong means a message that is longer than may be sent there.
	ErrTooLong = fmt.Errorf("engine: %w", syscall.EMSGSIZE)
	// ErrMemory means all chunks of the node are in use.
	ErrMemory = errors.New("engine: no free chunk in the node's arena")
)

// A Blocked is why a message could not be sent now: the link has as many packets
// waiting as it may have at this importance, or others wait for it already. It is the
// engine's: another send that is blocked on the same link at the same importance
// changes it.
type Blocked struct {
	Node       frame.NodeAddr
	Bearer     string
	Link       string
	Importance frame.Importance
	Unacked    int // packets sent and not acknowledged
	Window     int // and how many may be
	Backlog    int // packets behind the window
	Limit      int // and how many may be, at this importance
	Ahead      int // sends that wait there and began before; of Why
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
	_, err := p.sendService(now, a, data, nil)
	return err
}

// SendAny is SendService that returns the socket that the message went to. Its port is 0 where the
// node chooses: of a service with a lookup node other than this one.
func (p *Port) SendAny(now time.Duration, a frame.Service, data []byte) (frame.SocketAddr, error) {
	return p.sendService(now, a, data, nil)
}

func (p *Port) sendService(now time.Duration, a frame.Service, data []byte, m *Lent) (frame.SocketAddr, error) {
	if p.closed {
		return frame.SocketAddr{}, ErrClosed
	}
	to, ok := p.e.table.Recall(&p.memo, a)
	if !ok {
		if size := sizeOf(data, m); size > frame.MaxPayload { // which it is wherever it goes
			return frame.SocketAddr{}, &LengthError{size, frame.MaxPayload}
		}
		p.e.services.row(a.Type).Unbound++
		return frame.SocketAddr{}, ErrNoName
	}
	var f frame.PayloadFields
	dest := to.Socket()
	if p.PreferIdle {
		dest = p.e.leastBusy(to)
	}
	p.fill(&f, frame.NamedMsg, dest)
	f.NameType, f.Lower, f.Scope = a.Type, a.Instance, frame.ClusterScope
	if a.Node != 0 {
		f.Scope = frame.NodeScope
	}
	size := sizeOf(data, m)
	err := p.sendOr(now, &f, data, m)
	if _, blocked := err.(*Blocked); !blocked {
		to.Take() // who is busy now keeps its turn
	}
	if err == nil {
		p.sentTo(a.Type, size)
	}
	return frame.SocketAddr{Port: f.DestPort, Node: f.DestNode}, err
}

// Send sends data to one socket; nobody checks beforehand whether it exists.
// The data is copied. Errors: ErrUnreachable, ErrClosed, ErrTooLong above
// frame.MaxPayload bytes or what the node's memory can hold; and those that pass,
// ErrMemory and *Blocked, which SendAs tells how to wait for. Without that event Room
// tells when to try again.
func (p *Port) Send(now time.Duration, to frame.SocketAddr, data []byte) error {
	if p.closed {
		return ErrClosed
	}
	var f frame.PayloadFields
	p.fill(&f, frame.DirectMsg, to)
	return p.send(now, &f, data)
}

// template is the header of the port's messages to a socket.
func (p *Port) template(t frame.PayloadType, to frame.SocketAddr) (f frame.PayloadFields) {
	p.fill(&f, t, to)
	return f
}

// fill is template, in place: each message sent needs a header, and to copy one that has
// just been written field by field waits for all of them to be stored.
func (p *Port) fill(f *frame.PayloadFields, t frame.PayloadType, to frame.SocketAddr) {
	if to.Node == 0 {
		to.Node = p.e.addr
	}
	f.Prev, f.Importance, f.Type = p.e.addr, p.Importance, t
	f.DestDroppable, f.SrcDroppable = !p.Returnable, p.SrcDroppable
	f.OrigPort, f.OrigNode, f.DestPort, f.DestNode = p.number, p.e.addr, to.Port, to.Node
}

func (p *Port) send(now time.Duration, f *frame.PayloadFields, data []byte) error {
	return p.sendOr(now, f, data, nil)
}

// sendOr sends data, or else the lent message m.
func (p *Port) sendOr(now time.Duration, f *frame.PayloadFields, data []byte, m *Lent) error {
	if len(data) > frame.MaxPayload {
		return &LengthError{len(data), frame.MaxPayload}
	}
	e, size := p.e, sizeOf(data, m)
	if f.DestNode == e.addr {
		if m != nil {
			data = e.joined(m)
		}
		p.sent(e.self, size)
		if p.Requests {
			p.requested(f) // it may come back within the send
		}
		e.sendLocal(p, f, data)
		return nil
	}
	n := e.reach(f.DestNode)
	if n == nil {
		return e.noRoute(f.DestNode)
	}
	l := n.route(p.number)
	if l.told != e.pub.Next() {
		e.tellAhead(now, n, l)
	}
	if !e.mayTry(p, l) {
		return e.blocked(now, l, p)
	}
	var joined bool
	var err error
	if m == nil {
		joined, err = e.put(now, l, f, data, netdev.Data)
	} else {
		joined, err = e.putLent(now, l, p, f, m)
	}
	switch err {
	case nil:
		e.count.MessagesOut++
		p.sent(n, size)
		if p.Requests {
			p.requested(f)
		}
		if !joined {
			l.tookTurn(p)
		}
	case flowctl.ErrCongested:
		return e.blocked(now, l, p)
	}
	return err
}

// repeat sends once more what was counted when it was sent first. Errors as of sendOr.
func (p *Port) repeat(now time.Duration, f *frame.PayloadFields, data []byte) error {
	e := p.e
	n := e.reach(f.DestNode)
	if n == nil {
		return e.noRoute(f.DestNode)
	}
	l := n.route(p.number)
	if !e.mayTry(p, l) {
		return e.blocked(now, l, p)
	}
	joined, err := e.put(now, l, f, data, netdev.Data)
	switch {
	case err == flowctl.ErrCongested:
		return e.blocked(now, l, p)
	case err == nil && !joined:
		l.tookTurn(p)
	}
	return err
}

// post builds a message and hands it to the link to a node, whoever waits for that.
func (e *Engine) post(now time.Duration, to frame.NodeAddr, f *frame.PayloadFields, data []byte, use netdev.Use) error {
	n := e.reach(to)
	if n == nil {
		return e.noRoute(to)
	}
	_, err := e.put(now, n.route(f.OrigPort), f, data, use)
	return err
}

// put builds a message, in a packet that waits where it finds room there, and hands it
// to a link; joined says which. Errors: flowctl.ErrCongested, ErrMemory, ErrTooLong.
func (e *Engine) put(now time.Duration, l *link, f *frame.PayloadFields, data []byte, use netdev.Use) (joined bool, err error) {
	imp := importance(f)
	hlen := f.Len()
	if hlen+len(data) > l.PacketLimit() {
		return false, e.putFragments(now, l, f, data, imp)
	}
	if room := l.Room(hlen+len(data), imp); room != nil {
		f.Put(room, len(data))
		copy(room[hlen:], data)
		if l.held && !e.hold { // it ends the waiting
			l.Flush(now)
			e.after(now, l)
		}
		return true, nil
	}
	size := frame.EthernetLen + hlen + len(data)
	if use == netdev.Data && !e.mayTake(size, 1) {
		return false, e.starved(now, size, 1)
	}
	b := e.message(hlen+len(data), use)
	if b == nil {
		return false, e.starved(now, size, 1)
	}
	msg := b.Bytes()[frame.EthernetLen:]
	f.Put(msg, len(data))
	copy(msg[hlen:], data)
	err = e.transmit(now, l, b, imp)
	e.after(now, l)
	return false, err
}

// importance is that of a message on its link: what comes back is never refused there.
func importance(f *frame.PayloadFields) frame.Importance {
	if f.Error != frame.OK && f.Type != frame.McastMsg {
		return frame.System
	}
	return f.Importance
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
	case port == nil || port.connected():
		e.returnLocal(frame.SocketAddr{Port: f.DestPort, Node: e.addr}, r, data, frame.NoPort)
	case !port.accepts(len(data), f.Importance):
		port.stats.noRoom(r.returnable)
		e.returnLocal(frame.SocketAddr{Port: f.DestPort, Node: e.addr}, r, data, frame.Overload)
	default:
		e.count.MessagesLocal++
		if len(data) > 0 {
			if r.named {
				port.gotAs(r.Name.Type, len(data))
			}
			port.pushLocal(r, data, nil)
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
		port.stats.Dropped++
		e.drop(DropOverload)
	default:
		r.From, r.Error, r.returnable = to, why, false
		port.stats.CameBack++
		port.pushLocal(r, data, nil)
		e.count.Returned++
	}
}
