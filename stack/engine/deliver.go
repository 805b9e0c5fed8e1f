// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// deliver takes a packet that has its turn on a node's link, or on its broadcast link
// or behind a tunnel of that link, where joins has the fragments, and the Buffer that
// holds it, or nil; the caller keeps its own hold.
func (e *Engine) deliver(now time.Duration, l *link, joins *flowctl.Reassembly, m frame.Message, in *netdev.Buffer) {
	n := l.n
	switch m.User() {
	case frame.UserBundler:
		u, err := frame.ParseBundle(m)
		if err != nil {
			e.drop(dropOf(err))
			return
		}
		l.RecvBundles++
		first := true
		for inner, err := range u.Messages() {
			switch {
			case err != nil:
				e.drop(dropOf(err))
				return
			case n.ending(): // by a message before this one
				e.drop(DropNodeState)
				return
			}
			l.RecvBundled++
			if !first {
				e.conns.joined = l
			}
			e.deliverMessage(now, n, inner, in, m.NonSeq())
			e.conns.joined, first = nil, false
		}
	case frame.UserFragment:
		e.join(now, l, joins, m)
	case frame.UserBroadcast:
		if i, err := frame.ParseBcastInit(m); err == nil {
			n.bcast.Open(i.LastBcast())
		} else {
			e.drop(dropOf(err))
		}
	case frame.UserTunnel:
		if m.NonSeq() { // between two nodes alone
			e.drop(DropNested)
			return
		}
		e.tunnelled(now, l, m, in)
	default:
		e.deliverMessage(now, n, m, in, m.NonSeq())
	}
}

// join adds a fragment to what has come of its message.
func (e *Engine) join(now time.Duration, l *link, joins *flowctl.Reassembly, m frame.Message) {
	f, err := frame.ParseFragment(m)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	l.RecvFragments++
	joins.SetPool(&e.pool)
	whole, done, err := joins.Add(f)
	switch {
	case err != nil:
		e.drop(DropFragment)
		if !m.NonSeq() {
			l.Fail()
		}
	case done:
		l.RecvFragmented++
		e.deliverMessage(now, l.n, whole.Message, whole.Buffer(), m.NonSeq())
		whole.Recycle()
	}
}

// deliverMessage takes a whole message, which may have come in a bundle or in
// fragments; in holds it, or is nil.
func (e *Engine) deliverMessage(now time.Duration, n *node, m frame.Message, in *netdev.Buffer, broadcast bool) {
	if d, ok := m.DestNode(); ok && d != e.addr && d != 0 {
		e.drop(DropForeign)
		return
	}
	switch u := m.User(); {
	case e.groups.held && e.holdForGroups(n, m, broadcast):
	case u.IsPayload():
		p, err := frame.ParsePayload(m)
		if err != nil {
			e.drop(dropOf(err))
			return
		}
		if e.forged(n, p) {
			e.drop(DropForged)
			return
		}
		n.got(p)
		e.deliverPayload(now, n, p, in, broadcast)
	case u == frame.UserName:
		// Learning a node's names also opens its broadcast link, for nodes that
		// send no opening of their own.
		if !n.caps.Has(frame.CapBcastSynch) {
			n.bcast.Open(0)
		}
		e.handleNames(now, n, m)
	case u == frame.UserConn && !broadcast:
		e.handleConn(now, n, m)
	case u == frame.UserGroup && !broadcast:
		e.handleGroup(now, n, m)
	case u == frame.UserCrypto:
		e.takeKey(now, n, m, in)
	default:
		e.drop(DropNested)
	}
}

// forged reports whether a message that another node has sent claims to be of a socket of
// this one. What is ours does come back, and says so: a message that was rejected there has
// the other node's address as its origin, and one that found its name moved here was looked
// up a second time. Source: docs/spec/07-sockets.md §6.2, §6.3.
func (e *Engine) forged(n *node, p frame.Payload) bool {
	return n != e.self && p.From().Node == e.addr && (p.Type() != frame.NamedMsg || p.Reroute() == 0)
}

// deliverPayload finds the ports a message is for.
// Source: docs/spec/07-sockets.md §3, §6.
func (e *Engine) deliverPayload(now time.Duration, n *node, p frame.Payload, in *netdev.Buffer, broadcast bool) {
	switch p.Type() {
	case frame.McastMsg:
		if p.From().Node != n.addr { // nobody passes them on; what waits at a barrier is its sender's
			e.drop(DropForeign)
			return
		}
		r, _ := p.Range()
		var ports [64]uint32
		to := e.table.LocalReceivers(ports[:0], r, true)
		if len(to) == 0 || p.Error() != frame.OK && !p.Syn() {
			e.drop(DropNoPort)
			return
		}
		for _, number := range to {
			e.receiveMulticast(now, p, in, e.ports[number])
		}
		return
	case frame.GroupBcastMsg, frame.GroupMcastMsg, frame.GroupUcastMsg:
		e.handleGroupData(now, n, p, in, broadcast)
		return
	case frame.NamedMsg, frame.DirectMsg, frame.ConnMsg:
	default:
		e.drop(DropUnsupported)
		return
	}
	if broadcast {
		e.drop(DropNested) // a broadcast is for a name, never for one socket
		return
	}
	port := e.port(p.DestPort())
	switch {
	case p.DestPort() == 0 && p.Error() != frame.OK: // it shows where a failed link ended
	case port != nil && port.connected():
		f := p.Fields()
		e.handleConnected(now, n, port, &f, p.Data(), in)
	case port == nil && p.Type() == frame.NamedMsg && p.Error() == frame.OK:
		e.lookAgain(now, n, p, in)
	case port == nil || p.Type() == frame.ConnMsg:
		e.reject(now, n, p, frame.NoPort)
	case !e.enqueue(p, in, port, p.Reroute()):
		e.reject(now, n, p, frame.Overload)
	}
}

// enqueue puts a message that was looked up reroute times, and lies in a Buffer if
// that is not nil, into a port's queue and reports false when that is full. An empty
// message is taken and not shown.
func (e *Engine) enqueue(p frame.Payload, in *netdev.Buffer, port *Port, reroute uint8) bool {
	if port.connected() { // takes no multicast
		return true
	}
	imp := frame.Importance(p.User())
	if p.Error() != frame.OK {
		imp = frame.System
	}
	d := p.Data()
	if !port.accepts(len(d), imp) {
		port.stats.noRoom(!p.DestDroppable() && p.Error() == frame.OK && p.Type() != frame.McastMsg)
		return false
	}
	e.count.MessagesIn++
	if len(d) == 0 && p.Error() == frame.OK {
		return true
	}
	name, named := p.Range()
	switch {
	case p.Error() != frame.OK:
		port.stats.CameBack++
	case named:
		port.gotAs(name.Type, len(d))
	}
	var r *Received
	handed := port.handsOver()
	if handed {
		r = &e.handlers.message
		*r = Received{Len: len(d)}
		port.stats.queuedOne(len(d), 1, len(d)+recordCost)
	} else {
		r = port.push(d, in)
	}
	r.From, r.Name, r.named, r.Error = p.From(), name, named, p.Error()
	r.Importance = frame.Importance(p.User())
	r.returnable = !p.DestDroppable() && p.Error() == frame.OK && p.Type() != frame.McastMsg
	r.reroute, r.scope, r.srcDroppable, r.syn = reroute, p.Scope(), p.SrcDroppable(), p.Syn()
	if port.Requests {
		port.answered(r.From)
	}
	if handed {
		e.handOver(port, d)
	}
	return true
}

// secondName is what lookAgain looks up of a message.
func (e *Engine) secondName(p frame.Payload) frame.Service {
	r, _ := p.Range()
	a := frame.Service{Type: r.Type, Instance: r.Lower}
	if p.Scope() == frame.NodeScope {
		a.Node = e.addr
	}
	return a
}

// lookAgain looks a name up whose socket is not here: the sender's table was
// older, or ours is, so that the message may wait for the name. That is done once on
// a message's way.
// Source: docs/spec/07-sockets.md §6.3.
func (e *Engine) lookAgain(now time.Duration, n *node, p frame.Payload, in *netdev.Buffer) {
	if p.Reroute() != 0 {
		e.reject(now, n, p, frame.NoName)
		return
	}
	to, ok := e.table.Anycast(e.secondName(p))
	if !ok {
		if !e.park(now, n, p) {
			e.reject(now, n, p, frame.NoName)
		}
		return
	}
	f := p.Fields()
	f.Common = frame.Common{Prev: e.addr} // what its link said of it is over
	f.Reroute++
	f.DestPort, f.DestNode = to.Port, to.Node
	f.Kind = e.kindTo(to.Node, f.Kind)
	if to.Node != e.addr {
		if e.post(now, to.Node, &f, p.Data(), netdev.Data) != nil {
			e.reject(now, n, p, frame.NoName)
		}
		return
	}
	switch port := e.ports[to.Port]; {
	case port == nil:
		e.giveBack(now, n, &f, p.Data(), frame.NoPort)
	case port.connected():
		e.handleConnected(now, n, port, &f, p.Data(), in)
	case !e.enqueue(p, in, port, f.Reroute):
		e.giveBack(now, n, &f, p.Data(), frame.Overload)
	}
}

// reject sends a message back to the node it came from, with the reason and the
// beginning of its data. What may be dropped, or came back itself, is dropped.
// Source: docs/spec/07-sockets.md §6.2.
func (e *Engine) reject(now time.Duration, n *node, p frame.Payload, why frame.ErrorCode) {
	f := p.Fields()
	f.Common = frame.Common{Prev: e.addr} // what its link said of it is over
	e.giveBack(now, n, &f, p.Data(), why)
}

// giveBack rejects the message that f and data make up; it changes f.
func (e *Engine) giveBack(now time.Duration, n *node, f *frame.PayloadFields, data []byte, why frame.ErrorCode) {
	if f.DestDroppable || f.Error != frame.OK {
		if why == frame.Overload {
			e.drop(DropOverload)
		} else {
			e.drop(DropNoPort)
		}
		return
	}
	f.Long = true
	f.Error = why
	f.Kind = e.kindTo(n.addr, f.Kind)
	f.NonSeq = false
	f.OrigPort, f.DestPort = f.DestPort, f.OrigPort
	f.DestNode = n.addr
	f.Prev, f.OrigNode = e.addr, e.addr
	if f.Syn && why == frame.Overload {
		data = nil
	}
	n.traffic.Returned++
	e.sendBack(now, n.addr, f, data)
}

func (e *Engine) sendBack(now time.Duration, to frame.NodeAddr, f *frame.PayloadFields, data []byte) {
	if to == e.addr {
		e.count.Returned++
		e.loop(now, f, data[:min(len(data), frame.MaxReturned)])
		return
	}
	if e.mayReturn(to, f) && e.post(now, to, f, data[:min(len(data), frame.MaxReturned)], netdev.Control) == nil {
		e.count.Returned++
	} else {
		e.drop(DropLimit)
	}
}

// mayReturn reports whether the link has room for a message that goes back. One without
// a connection may take no more than half of what waits as the node's own messages do: a
// link that has no room for those fails, and whoever sends faster than the answers are
// taken would end contact between the nodes.
func (e *Engine) mayReturn(to frame.NodeAddr, f *frame.PayloadFields) bool {
	n := e.reach(to)
	if n == nil || f.Type == frame.ConnMsg {
		return true
	}
	l := n.route(f.OrigPort)
	return 2*l.Vacant(frame.System) > l.Limit(frame.System)
}

// ReturnUnread is Return of a message that was read for somebody who has closed the socket without
// having read it: one whose sender does not want it back does not count as dropped.
func (p *Port) ReturnUnread(now time.Duration, r Received, data []byte) {
	p.e.returnUnread(now, p, r, data[:min(len(data), frame.MaxReturned)], frame.NoPort)
}

// Return sends a message that was read back to its sender, as one that could not be
// delivered, when that wants it back; else it counts as dropped. data is its beginning. Of one
// with a receipt, that is its end.
func (p *Port) Return(now time.Duration, r Received, data []byte, why frame.ErrorCode) {
	switch {
	case !r.returnable:
		p.stats.Dropped++
		return
	case r.Receipt != 0 && !p.Ack(r.Receipt):
		return // it went back when the socket was closed
	}
	p.e.returnUnread(now, p, r, data[:min(len(data), frame.MaxReturned)], why)
}

// returnUnread sends back a message that was not read, or that was read in vain.
func (e *Engine) returnUnread(now time.Duration, p *Port, r Received, data []byte, why frame.ErrorCode) {
	if !r.returnable {
		return
	}
	p.stats.Returned++
	if from := e.ports[r.From.Port]; r.From.Node == e.addr && (from == nil || !from.connected()) {
		e.returnLocal(p.Addr(), r, data, why)
		return
	}
	f := frame.PayloadFields{
		Common: frame.Common{Prev: e.addr}, Importance: r.Importance, Type: frame.DirectMsg,
		Error: why, Reroute: r.reroute, Scope: r.scope, SrcDroppable: r.srcDroppable, Syn: r.syn,
		OrigPort: p.number, DestPort: r.From.Port, OrigNode: e.addr, DestNode: r.From.Node,
	}
	if r.named {
		f.Type, f.NameType, f.Lower = frame.NamedMsg, r.Name.Type, r.Name.Lower
	}
	e.sendBack(now, r.From.Node, &f, data)
}

// handleConn takes a message of the connection manager. It answers that of a socket
// that believes in a connection when there is none here.
func (e *Engine) handleConn(now time.Duration, n *node, m frame.Message) {
	c, err := frame.ParseConn(m)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	f := c.Fields()
	port := e.port(f.DestPort)
	switch {
	case n != e.self && f.Orig == e.addr:
		e.drop(DropForged)
		return
	case port != nil && port.conn != nil:
		port.conn.handleManager(now, n, &f)
		return
	case port != nil && port.probe != nil:
		port.probe.handle(now, n, &f)
		return
	case port != nil && port.noCallee(now, n, &f):
		return
	case f.Error != frame.OK || port != nil:
		e.drop(DropNoPort)
		return
	}
	if !e.answerNames(n, &f) {
		return
	}
	f.Error = frame.NoPort
	f.OrigPort, f.DestPort = f.DestPort, f.OrigPort
	f.Dest, f.Orig = m.Prev(), e.addr
	if !e.sendManager(now, &f) {
		e.drop(DropLimit)
		return
	}
	e.count.Returned++
}

// sendManager sends a message of the connection manager. It reports false if that
// cannot be done now.
func (e *Engine) sendManager(now time.Duration, f *frame.ConnFields) bool {
	f.Common = frame.Common{Prev: e.addr}
	if f.Dest == e.addr {
		e.loopManager(now, f)
		return true
	}
	n := e.reach(f.Dest)
	return n != nil && e.sendManagerOn(now, n.route(f.OrigPort), f) == nil
}

// sendManagerOn sends a message of the connection manager on a link. Errors: ErrMemory, those of transmit.
func (e *Engine) sendManagerOn(now time.Duration, l *link, f *frame.ConnFields) error {
	f.Common = frame.Common{Prev: e.addr}
	b := e.message(frame.IntLen, netdev.Control)
	if b == nil {
		return ErrMemory
	}
	f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen])
	err := e.transmit(now, l, b, frame.System)
	e.after(now, l) // not always the link that the message came on
	return err
}
