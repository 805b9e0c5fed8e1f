// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Dial asks a socket for a connection, and sends it first, if not empty, as the first
// message. The connection comes back at once, in most cases still connecting; it ends
// when it is refused or not answered within its Timeout. A peer whose queue is full is
// asked again. Errors, without a connection: ErrSockets, and those of Port.Send, of
// which *Blocked and ErrMemory pass, see SendAs.
// Source: docs/spec/07-sockets.md §4.2.
func (e *Engine) Dial(now time.Duration, k ConnConfig, to frame.SocketAddr, first []byte) (*Conn, error) {
	return e.DialFrom(now, nil, k, to, first)
}

// DialFrom is Dial for a connection that takes the number of from, an idle socket without
// names, and closes it; nil: any number. Where the node cannot be reached from stays as it was.
func (e *Engine) DialFrom(now time.Duration, from *Listener, k ConnConfig, to frame.SocketAddr, first []byte) (*Conn, error) {
	c, err := e.dialing(now, from, k, to.Node)
	if err != nil {
		return nil, err
	}
	return c.dial(now, c.port.template(frame.DirectMsg, to), first)
}

// DialService asks a socket bound to a service for a connection, else as Dial; where
// several are they take turns. With a.Node set the service is looked up there, among
// the sockets of that node.
func (e *Engine) DialService(now time.Duration, k ConnConfig, a frame.Service, first []byte) (*Conn, error) {
	return e.DialServiceFrom(now, nil, k, a, first)
}

// DialServiceFrom is DialService as DialFrom is Dial.
func (e *Engine) DialServiceFrom(now time.Duration, from *Listener, k ConnConfig, a frame.Service, first []byte) (*Conn, error) {
	switch {
	case e.table == nil:
		return nil, ErrSockets
	case len(first) > frame.MaxPayload:
		return nil, &LengthError{len(first), frame.MaxPayload}
	}
	to, ok := e.table.Choose(a)
	row := e.services.row(a.Type)
	if !ok {
		row.Unbound++
		return nil, ErrNoName
	}
	c, err := e.dialing(now, from, k, to.Socket().Node)
	if err != nil {
		return nil, err
	}
	c.name, c.named = a, true
	f := c.port.template(frame.NamedMsg, to.Socket())
	f.NameType, f.Lower, f.Scope = a.Type, a.Instance, frame.ClusterScope
	if a.Node != 0 {
		f.Scope = frame.NodeScope
	}
	c, err = c.dial(now, f, first)
	if _, blocked := err.(*Blocked); !blocked {
		to.Take() // who is busy now keeps its turn
	}
	return c, err
}

// dialing makes the socket of a request to a node, with the number of from, which may be nil.
// Errors: ErrSockets; ErrUnreachable, which leaves from as it was.
func (e *Engine) dialing(now time.Duration, from *Listener, k ConnConfig, to frame.NodeAddr) (*Conn, error) {
	number := uint32(0)
	if from != nil {
		if to != 0 && to != e.addr && e.reach(to) == nil {
			return nil, e.noRoute(to)
		}
		number = from.port.number
		from.Close(now)
	}
	c := e.newConn(k, number)
	if c == nil {
		return nil, ErrSockets
	}
	return c, nil
}

func (c *Conn) dial(now time.Duration, f frame.PayloadFields, first []byte) (*Conn, error) {
	e := c.port.e
	f.Syn, f.Kind = true, e.kindTo(f.DestNode, kindOf(c.Stream, c.AnyKind))
	c.peer = frame.SocketAddr{Port: f.DestPort, Node: f.DestNode}
	c.request = &request{f: f}
	e.alarms.set(&c.limit, now+c.Timeout)
	var err error
	switch {
	case len(first) > frame.MaxPayload:
		err = &LengthError{len(first), frame.MaxPayload}
	case f.DestNode == e.addr:
		c.request.data = bytes.Clone(first)
		e.loop(now, &f, first)
		return c, nil
	default:
		err = c.port.send(now, &f, first)
	}
	if err != nil {
		c.state = ConnClosed
		c.release(now)
		return nil, err
	}
	c.request.data = bytes.Clone(first)
	return c, nil
}

// sendRequest repeats a request that found a queue full, unchanged but for what may be said to
// the node, until its time is over. Where the link is full it waits in line for that: to look now and then would mean
// to find it full for ever, as others find it when there is room.
// Source: docs/spec/07-sockets.md §4.2.
func (c *Conn) sendRequest(now time.Duration) {
	e, r := c.port.e, c.request
	r.f.Kind = e.kindTo(r.f.DestNode, kindOf(c.Stream, c.AnyKind)) // the node may be another by now
	f := r.f
	if f.DestNode == e.addr {
		e.loop(now, &f, r.data)
		return
	}
	was := e.queues.as
	e.SendAs(&c.ticket)
	err := c.port.repeat(now, &f, r.data)
	e.SendAs(was)
	if err != nil {
		c.retryLater(now) // or when the line calls
	}
	if !connFull(err) {
		c.leaveLine(now)
	}
}

func (c *Conn) retryLater(now time.Duration) {
	e := c.port.e
	e.alarms.set(&c.again, now+retryPause+e.cfg.Chance.Retry(c.Timeout/4))
}

// handleAnswer takes a message that came while connecting.
//
// The first message of a connection is the answer, whatever socket it comes from: an
// accepted one has a new number, and a name may have been looked up again on the way.
// What was sent to one socket is not looked up again, so it is answered by its node.
// Source: docs/spec/07-sockets.md §4.2, "Validation".
func (c *Conn) handleAnswer(now time.Duration, n *node, f *frame.PayloadFields, data []byte, in *netdev.Buffer) {
	e, r := c.port.e, c.request
	own := f.OrigNode == n.addr && (r.f.Type == frame.NamedMsg || n.addr == r.f.DestNode)
	back := f.Error != frame.OK && f.OrigNode == r.f.DestNode && (f.OrigPort == r.f.DestPort || r.f.DestPort == 0 && f.Syn)
	switch {
	case f.Type == frame.ConnMsg && own && f.OrigPort != 0 && f.Error == frame.OK:
		c.leaveLine(now)
		size := r.f.Len() + len(r.data)
		c.establish(now, n, frame.SocketAddr{Port: f.OrigPort, Node: n.addr}, f.Importance)
		if size > r.f.Len() {
			c.flow.Sent(size)
		}
		c.request = nil
		e.conns.tell(c, callWritable)
		c.receive(now, n, f, data, in)
	case !own || !back && (f.Type != frame.ConnMsg || f.Error == frame.OK):
		e.giveBack(now, n, f, data, frame.NoPort)
	case f.Type != frame.ConnMsg && f.Error == frame.Overload:
		e.arrived(n)
		c.retryLater(now)
	default:
		e.arrived(n)
		c.finish(now, r.refusedBy(f), f.Error)
	}
}
