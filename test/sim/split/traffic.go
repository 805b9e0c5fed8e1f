// SPDX-License-Identifier: Apache-2.0

package split

import (
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// boot opens and binds the sockets, and waits until all know all.
func (w *world) boot() bool {
	w.everyEngine(func(h *host) {
		for s := range uint32(sockets) {
			w.number(h, s)
			h.open(int(s), one(nodeType, s), frame.Range{Type: everyOwn, Upper: 9})
		}
		w.number(h, sockets)
		h.listen(one(listenType, 0))
	})
	for i, p := range w.peers {
		p.open(0, one(peerType, uint32(i)), frame.Range{Type: everyPeer, Upper: 9})
		p.listen(one(listenType, 1+uint32(i)))
		p.send()
	}
	if !w.run(w.now+bootLimit, w.booted) {
		w.violate("not all know all after %v", w.now)
		return false
	}
	return true
}

// open opens a socket with its names.
func (h *host) open(s int, names ...frame.Range) {
	p := h.eng.OpenPort(engine.PortConfig{Owner: s})
	h.ports = append(h.ports, p)
	for _, r := range names {
		h.must(p.Bind(h.w.now, r, frame.ClusterScope))
	}
}

func (h *host) listen(name frame.Range) {
	h.listener = h.eng.Listen(engine.ListenConfig{})
	h.must(h.listener.Bind(h.w.now, name, frame.ClusterScope))
}

func (h *host) must(err error) {
	if err != nil {
		h.w.violate("host %d, of the node: %v: %v", h.idx, h.node, err)
	}
}

// booted reports whether the node knows its peers' names, and they the node's.
func (w *world) booted() bool {
	for i, p := range w.peers {
		its := func(a frame.NodeAddr) bool { return a == p.eng.Address() }
		if len(p.bindings(ownNode)) < w.wantNames(-1) || len(w.part(i).bindings(its)) < w.wantNames(i) {
			return false
		}
	}
	return true
}

// round is one round of traffic: some names change, then all who have a message left in this
// round send it, until nobody has.
func (w *world) round(no int, shares []int) {
	w.changeName(-1, uint32(no)%changing)
	for range max(1, w.Peers/8) {
		w.changeName(w.r.IntN(w.Peers), w.r.Uint32N(changing))
	}
	w.castDown(no % sockets)
	w.castUp(w.r.IntN(w.Peers), no)
	for k, most := 0, slices.Max(shares); k < most; k += burst {
		for p, share := range shares {
			if k < share {
				w.exchange(p, (no+k/burst)%sockets, min(burst, share-k))
			}
		}
		w.quiet()
	}
	for range max(1, w.Peers/16) {
		w.redial(w.r.IntN(w.Peers), no%2)
	}
	w.run(w.now+roundGap, nil)
}

// exchange sends some datagrams each way between a peer and a socket of the node, and as many
// messages each way on each of the peer's connections.
func (w *world) exchange(peer, socket, times int) {
	p, part := w.peers[peer], w.part(peer)
	part.does(&part.alone, 0, func() {
		for range times {
			w.sendDown(part, peer, socket)
		}
	})
	part.send()
	for range times {
		p.must(p.ports[0].SendService(w.now, frame.Service{Type: nodeType, Instance: uint32(socket)}, w.message(pair{up, socket, peer})))
		for _, c := range p.conns {
			p.must(c.Write(w.now, w.message(pair{connUp, 1 - c.Owner.(int), peer})))
		}
	}
	p.send()
}

func (w *world) sendDown(part *host, peer, socket int) {
	to := frame.Service{Type: peerType, Instance: uint32(peer)}
	if _, ok := w.lookup(to); !ok {
		w.violate("the directory does not have peer %d", peer)
	}
	part.counts.Units++
	part.must(part.ports[socket].SendService(w.now, to, w.message(pair{down, socket, peer})))
	for _, c := range part.conns {
		if i, ours := w.peerOf(c); ours && i == peer {
			part.counts.Units++
			part.must(c.Write(w.now, w.message(pair{connDown, c.Owner.(int), peer})))
		}
	}
}

// lookup asks the directory, which a node of one engine does not have.
func (w *world) lookup(a frame.Service) (to frame.SocketAddr, ok bool) {
	if len(w.parts) == 1 {
		return to, true
	}
	return w.directory.Anycast(a)
}

// peerOf is the peer of a connection of the node.
func (w *world) peerOf(c *engine.Conn) (peer int, ok bool) {
	i := int(c.Peer().Node - peerAddr)
	return i, i >= 0 && i < len(w.peers) && c.State() == engine.Established
}

// castDown sends a multicast of one of the node's sockets: every engine that has a receiver
// sends it.
func (w *world) castDown(socket int) {
	r := frame.Range{Type: everyPeer, Lower: 1, Upper: 1}
	b := w.message(pair{castDown, socket, 0})
	for i := range w.peers[1:] {
		w.message(pair{castDown, socket, 1 + i})
	}
	for i, h := range w.parts {
		if !slices.ContainsFunc(w.peers, func(p *host) bool { return w.part(p.idx) == h }) {
			continue
		}
		h.does(&h.alone, 1, func() {
			h.must(h.ports[socket].SendRange(w.now, r, b))
			if i == 0 && w.Mutation == SendsTwice {
				h.must(h.ports[socket].SendRange(w.now, r, b))
			}
		})
		h.send()
	}
}

// castUp sends a multicast of a peer to all sockets of the node.
func (w *world) castUp(peer, no int) {
	b := w.message(pair{castUp, 0, peer})
	for s := range sockets - 1 {
		w.message(pair{castUp, 1 + s, peer})
	}
	p := w.peers[peer]
	p.must(p.ports[0].SendRange(w.now, frame.Range{Type: everyOwn, Lower: 2, Upper: 2}, b))
	p.send()
}

// redial closes a peer's connections of one kind, when all that was sent on them is read, and makes one
// anew: dialled by the node, or by the peer.
func (w *world) redial(peer, by int) {
	p, part := w.peers[peer], w.part(peer)
	w.closeConns(p, part, peer, by)
	if by == dialled {
		part.does(&part.alone, 1, func() {
			c, err := part.eng.DialService(w.now, engine.ConnConfig{Owner: dialled}, frame.Service{Type: listenType, Instance: 1 + uint32(peer)}, nil)
			part.must(err)
			part.conns = append(part.conns, c)
		})
		part.send()
	} else {
		c, err := p.eng.DialService(w.now, engine.ConnConfig{Owner: dialled}, frame.Service{Type: listenType}, nil)
		p.must(err)
		p.conns = append(p.conns, c)
		p.send()
	}
	w.quiet()
	w.report.Dials++
}

// closeConns closes the connection with a peer that was dialled by the node or by the peer.
func (w *world) closeConns(p, part *host, peer, by int) {
	w.quiet()
	for i, c := range part.conns {
		if k, ok := w.peerOf(c); ok && k == peer && c.Owner.(int) == by {
			part.does(&part.alone, 1, func() { c.Close(w.now) })
			part.conns = slices.Delete(part.conns, i, i+1)
			part.send()
			w.quiet()
			return
		}
	}
}

// Run simulates. It never fails: what is wrong is counted in the report.
func (c Config) Run() Report {
	w := newWorld(c)
	w.report.Config = w.Config
	if w.boot() {
		w.forget()
		shares := w.shares(w.r)
		for no := range w.Rounds {
			w.round(no, shares)
		}
		w.run(w.now+endLimit, w.delivered)
		w.run(w.now+endLimit/4, nil)
		w.checkFlows()
		w.checkNames()
	}
	w.report.Simulated = w.now
	w.sum()
	return w.report
}

// forget lets what was counted so far not count: how the node came up.
func (w *world) forget() {
	w.shared, w.report.Frames = Cost{}, 0
	for _, h := range w.parts {
		h.alone, h.repeated = Cost{}, Cost{}
	}
}
