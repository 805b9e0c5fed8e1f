// SPDX-License-Identifier: Apache-2.0

package split

import (
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/monitor"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A host is an engine with its sockets: a peer, or one of the node's.
type host struct {
	w        *world
	idx      int
	node     bool // of the node, else a peer
	mac      frame.MAC
	eng      *engine.Engine
	numbers  *numbers
	in       []*netdev.Buffer // frames that wait to be handled
	out      []*netdev.Buffer // frames that it has sent
	ports    []*engine.Port   // of the node's sockets, or the peer's one
	listener *engine.Listener
	conns    []*engine.Conn // established, by the peer that dialled or that was dialled
	events   []naming.Event

	ready      []*engine.Port
	readyConns []*engine.Conn

	alone    Cost  // of work that no other engine does
	repeated Cost  // of work that every engine of the node does
	counts   *Cost // where work counts now
}

// A Cost is an amount of work.
type Cost struct {
	Units uint64
	Time  time.Duration
}

func (c *Cost) add(o Cost) {
	c.Units += o.Units
	c.Time += o.Time
}

// Numbers are a Chance whose port numbers can be said beforehand.
type numbers struct {
	*engine.Seeded
	next uint32 // 0: draw one
}

// Port implements engine.Chance.
func (n *numbers) Port() uint32 {
	if x := n.next; x != 0 {
		n.next = 0
		return x
	}
	return n.Seeded.Port()
}

func (w *world) newHost(idx int, node bool, addr frame.NodeAddr, mac frame.MAC) *host {
	h := &host{w: w, idx: idx, node: node, mac: mac, counts: new(Cost)}
	stream := uint64(1000 + idx)
	if node {
		stream += 1000
	}
	h.numbers = &numbers{Seeded: engine.NewSeeded(w.Seed, stream)}
	var err error
	h.eng, err = engine.New(engine.Config{
		Address: addr, Arena: w.arena, Chance: h.numbers, MonitorThreshold: monitor.MaxThreshold,
		Did: func(_ engine.Work, k int) { h.counts.Units += uint64(k) },
	})
	if err != nil {
		panic(err)
	}
	if _, err := h.eng.AddBearer(w.now, engine.BearerConfig{Name: "eth0", MAC: mac, MTU: mtu}); err != nil {
		panic(err)
	}
	return h
}

// does counts what f does as work of k units, and what the engine tells of, in c; of the node
// alone.
func (h *host) does(c *Cost, k int, f func()) {
	if !h.node {
		f()
		return
	}
	before := h.counts
	h.counts = c
	c.Units += uint64(k)
	c.Time += h.w.timed(f)
	h.counts = before
}

// turn handles the frames that have come and what is due, and reads what there is.
func (h *host) turn() {
	if len(h.in) == 0 && h.eng.Deadline() > h.w.now {
		return
	}
	h.does(&h.alone, len(h.in), func() {
		h.eng.HandleTimeout(h.w.now)
		for _, b := range h.in {
			h.eng.HandleFrame(h.w.now, 0, b)
		}
		h.read()
	})
	for _, b := range h.in {
		b.Release()
	}
	h.in = h.in[:0]
	h.send()
}

// read reads what waits in sockets.
func (h *host) read() {
	now := h.w.now
	var b [size]byte
	h.ready = h.eng.TakeReady(h.ready[:0])
	for _, p := range h.ready {
		for n, _, ok := p.Read(b[:]); ok; n, _, ok = p.Read(b[:]) {
			h.counts.Units++
			h.w.arrived(h, p.Owner.(int), b[:n])
		}
	}
	for c, ok := h.listener.Accept(now); ok; c, ok = h.listener.Accept(now) {
		c.Owner = accepted
		h.conns = append(h.conns, c)
		h.readConn(c) // what came with the request
	}
	h.readyConns = h.eng.TakeReadyConns(h.readyConns[:0])
	for _, c := range h.readyConns {
		h.readConn(c)
	}
	for _, ok := h.eng.NextEvent(); ok; _, ok = h.eng.NextEvent() {
	}
	h.events = h.eng.TakeNameEvents(h.events)
}

// What the end of a connection is.
const (
	dialled = iota
	accepted
)

func (h *host) readConn(c *engine.Conn) {
	var b [size]byte
	for n, _, ok := c.Read(h.w.now, b[:]); ok; n, _, ok = c.Read(h.w.now, b[:]) {
		h.counts.Units++
		h.w.arrived(h, 0, b[:n])
	}
	if c.Err() != nil {
		c.Close(h.w.now)
		h.conns = slices.DeleteFunc(h.conns, func(x *engine.Conn) bool { return x == c })
	}
}

// send puts the frames of the engine on the network, and its names into the directory.
func (h *host) send() {
	h.does(&h.alone, 0, func() {
		h.eng.Flush(h.w.now)
		for b := h.eng.NextFrame(0); b != nil; b = h.eng.NextFrame(0) {
			h.out = append(h.out, b)
		}
		h.events = h.eng.TakeNameEvents(h.events)
	})
	h.alone.Units += uint64(len(h.out))
	for _, b := range h.out {
		h.w.carry(h, b.Bytes())
		b.Release()
	}
	h.out = h.out[:0]
	if h.node {
		h.w.learn(h)
	}
	h.events = h.events[:0]
}

// due is when the engine has to be served, flowctl.Never if not.
func (h *host) due() time.Duration {
	if len(h.in) > 0 {
		return h.w.now
	}
	return min(h.eng.Deadline(), flowctl.Never)
}
