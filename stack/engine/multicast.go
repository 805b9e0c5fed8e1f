// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A multicast is the message to a range that is being sent: what its parts share. It is
// empty between two.
type multicast struct {
	nodes  []frame.NodeAddr    // that have a socket bound there
	remote []*node             // of them those that it goes to, this one not
	ways   []way               // how it gets there
	head   frame.PayloadFields // its header
	twin   frame.PayloadFields // and the header of its twin, see multicast
}

// A way is a link that a multicast message goes on, or its twin.
type way struct {
	*link
	twin   bool
	pieces int // packets
}

// SendRange sends data to every socket that is bound to a range which overlaps r, on all
// nodes, once to each. Where too much waits unread it is lost. The data is copied.
// Errors as for Send, with ErrUnreachable when nobody is bound there, and ErrRange.
// Source: docs/spec/07-sockets.md §3; docs/spec/04-broadcast.md §6.
func (p *Port) SendRange(now time.Duration, r frame.Range, data []byte) error {
	e := p.e
	switch {
	case p.closed:
		return ErrClosed
	case r.Lower > r.Upper:
		return ErrRange
	case len(data) > frame.MaxPayload:
		return &LengthError{len(data), frame.MaxPayload}
	}
	m := &e.mcast
	m.head = p.template(frame.McastMsg, frame.SocketAddr{})
	m.head.DestNode, m.head.Scope = 0, frame.ClusterScope
	m.head.NameType, m.head.Lower, m.head.Upper = r.Type, r.Lower, r.Upper
	m.remote = m.remote[:0]
	here := false
	m.nodes = e.table.RecallNodes(&p.nodes, m.nodes[:0], r)
	for _, a := range m.nodes {
		if a == e.addr {
			here = true
		} else if n := e.reach(a); n != nil {
			m.remote = append(m.remote, n)
		}
	}
	switch {
	case len(m.remote) > 0:
		if err := e.multicast(now, p, data); err != nil {
			return err
		}
		e.count.MessagesOut++
	case !here:
		e.services.row(r.Type).Unbound++
		if len(m.nodes) > 0 {
			return ErrNoLink
		}
		return ErrNoName
	}
	p.stats.MessagesOut++
	p.stats.BytesOut += uint64(len(data))
	p.sentTo(r.Type, len(data))
	if here {
		e.multicastHere(p, r, data)
	}
	return nil
}

// multicastHere gives a message to a range to the sockets of this node, which share one copy
// of a long one.
func (e *Engine) multicastHere(p *Port, r frame.Range, data []byte) {
	var ports [64]uint32
	x := Received{From: p.Addr(), Importance: p.Importance, Name: r, named: true, scope: frame.ClusterScope}
	receivers := e.table.LocalReceivers(ports[:0], r, false)
	var shared *netdev.Buffer
	if len(receivers) > 1 && len(data) > CopyBreak {
		shared = e.pool.Wholes.Get(len(data))
		copy(shared.Extend(len(data)), data)
		data = shared.Bytes()
		defer shared.Release()
	}
	e.did(WorkMembers, len(receivers))
	for _, number := range receivers {
		switch to := e.ports[number]; {
		case to == nil || to.connected():
		case !to.accepts(len(data), p.Importance):
			to.stats.Dropped++
			e.drop(DropOverload)
		default:
			e.count.MessagesLocal++
			if len(data) > 0 {
				to.gotAs(r.Type, len(data))
				to.pushLocal(x, data, shared)
			}
		}
	}
}

// multicast sends a message to other nodes: it is taken by all links it goes on or by
// none. When the method changes, a twin without data goes by the old one ahead of the
// message; receivers wait until they have both, see barrier.
func (e *Engine) multicast(now time.Duration, p *Port, data []byte) (err error) {
	m := &e.mcast
	replicast, changed := e.chooseMethod(now, p, len(m.remote))
	m.head.SrcDroppable, m.head.Syn = replicast, changed
	m.ways = m.ways[:0]
	if changed {
		m.twin = m.head
		m.twin.SrcDroppable, m.twin.Error = !replicast, frame.NoPort
		e.addWays(now, p, !replicast, true)
	}
	e.addWays(now, p, replicast, false)
	if len(m.ways) == 1 {
		err = e.sendOneWay(now, p, data)
	} else {
		err = e.sendAllWays(now, p, data)
	}
	if err == nil {
		p.method.replicast = replicast
		if replicast {
			e.count.Replicasts++
			for _, n := range m.remote {
				n.traffic.sent(len(data))
			}
		} else {
			e.count.Broadcasts++
		}
	}
	return err
}

// addWays notes the links that the message, or its twin, goes on by a method.
func (e *Engine) addWays(now time.Duration, p *Port, replicast, twin bool) {
	m := &e.mcast
	if !replicast {
		m.ways = append(m.ways, way{link: e.cast.link, twin: twin})
		return
	}
	for _, n := range m.remote {
		l := n.route(p.number)
		if l.told != e.pub.Next() {
			e.tellAhead(now, n, l)
		}
		m.ways = append(m.ways, way{link: l, twin: twin})
	}
}

// sendOneWay sends a message that goes on one link.
func (e *Engine) sendOneWay(now time.Duration, p *Port, data []byte) error {
	w := &e.mcast.ways[0]
	if !e.mayTry(p, w.link) {
		return e.blocked(now, w.link, p)
	}
	f, data := e.part(w, data)
	joined, err := e.put(now, w.link, f, data, netdev.Data)
	switch {
	case err == flowctl.ErrCongested:
		return e.blocked(now, w.link, p)
	case err == nil && !joined:
		w.tookTurn(p)
	}
	return err
}

// part returns the header and data that go one way. Only a message that goes to one node
// alone, in one packet, names it.
func (e *Engine) part(w *way, data []byte) (*frame.PayloadFields, []byte) {
	f := &e.mcast.head
	if w.twin {
		f, data = &e.mcast.twin, nil
	}
	f.DestNode = 0
	if f.Len()+len(data) <= w.PacketLimit() {
		f.DestNode = w.n.addr
	}
	return f, data
}

// sendAllWays sends a message on several links. All its packets are made before the
// first of them is sent.
func (e *Engine) sendAllWays(now time.Duration, p *Port, data []byte) error {
	ways, imp := e.mcast.ways, p.Importance
	for i := range ways {
		w := &ways[i]
		if !e.mayTry(p, w.link) {
			return e.blocked(now, w.link, p)
		}
		if w.Congested(imp) {
			w.Counters.Congested++
			w.Want(now, imp)
			return e.blocked(now, w.link, p)
		}
	}
	chunks, size := 0, 0
	for i := range ways {
		f, data := e.part(&ways[i], data)
		n, limit := packets(ways[i].link, f.Len()+len(data))
		chunks, size = chunks+n, max(size, frame.EthernetLen+limit)
	}
	if err := e.holds(size, chunks); err != nil {
		return err
	}
	if !e.mayTake(size, chunks) {
		return e.starved(now, size, chunks)
	}
	for i := range ways {
		had := len(e.pieces)
		f, data := e.part(&ways[i], data)
		if !e.cut(ways[i].link, f, data) {
			e.releasePieces()
			return e.starved(now, size, chunks)
		}
		ways[i].pieces = len(e.pieces) - had
	}
	e.sendPieces(now, p)
	return nil
}

// sendPieces sends the packets that were made for each way. No link can refuse them:
// it was asked.
func (e *Engine) sendPieces(now time.Duration, p *Port) {
	left := e.pieces
	for i := range e.mcast.ways {
		w := &e.mcast.ways[i]
		mine := left[:w.pieces]
		left = left[w.pieces:]
		if len(mine) == 1 {
			e.transmit(now, w.link, mine[0], p.Importance)
		} else if w.SendAll(now, mine, p.Importance) != nil {
			for _, b := range mine {
				b.Release()
			}
		}
		w.tookTurn(p)
	}
	e.forgetPieces()
	for i := range e.mcast.ways {
		e.after(now, e.mcast.ways[i].link)
	}
}
