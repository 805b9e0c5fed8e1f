// SPDX-License-Identifier: Apache-2.0

package split

import (
	"cmp"
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// The types of services.
const (
	peerType   = 18888 // instance i: peer i
	nodeType   = 18889 // instance s: the node's socket s
	listenType = 18890 // instance 0: the node's listener, 1+i: that of peer i
	everyPeer  = 18891 // all peers
	everyOwn   = 18892 // all sockets of the node
	comesGoes  = 18893 // names that come and go: instance 0 and on of the node, changing*(1+i) and on of peer i

	firstType = peerType
	lastType  = comesGoes
	changing  = 4 // such names of each
)

func one(service, instance uint32) frame.Range {
	return frame.Range{Type: service, Lower: instance, Upper: instance}
}

// everyEngine does something in all engines of the node, which is repeated work, and sends what
// comes of it.
func (w *world) everyEngine(f func(h *host)) {
	for _, h := range w.parts {
		h.does(&h.repeated, 1, func() { f(h) })
		h.send()
	}
}

// number says the number of the next port of an engine of the node, which all engines give it.
func (w *world) number(h *host, socket uint32) {
	if w.Mutation == PrivateNumbers {
		return
	}
	if w.numbers[socket] == 0 {
		w.numbers[socket] = w.r.Uint32() | 1
	}
	h.numbers.next = w.numbers[socket]
}

// changeName binds one of the names that come and go, or withdraws it. Of the node it is
// bound in every engine.
func (w *world) changeName(peer int, i uint32) {
	instance := changing*uint32(1+peer) + i // peer -1 is the node
	change := func(h *host) {
		var err error
		if w.bound[instance] {
			err = h.ports[0].Unbind(w.now, one(comesGoes, instance), frame.ClusterScope)
		} else {
			err = h.ports[0].Bind(w.now, one(comesGoes, instance), frame.ClusterScope)
		}
		if err != nil {
			w.violate("name %d: %v", instance, err)
		}
	}
	switch {
	case peer >= 0:
		change(w.peers[peer])
		w.peers[peer].send()
	case w.Mutation == OneEngineBinds:
		change(w.parts[0])
		w.parts[0].send()
	default:
		w.everyEngine(change)
	}
	w.bound[instance] = !w.bound[instance]
	w.report.Names++
}

// learn puts what an engine has heard of names into the directory. The node's own are in it
// by the first engine. A node of one engine needs none.
func (w *world) learn(h *host) {
	if len(w.parts) == 1 || len(h.events) == 0 {
		return
	}
	if h.idx != 0 {
		h.events = slices.DeleteFunc(h.events, func(ev naming.Event) bool { return ev.Binding.Socket.Node == nodeAddr })
	}
	w.shared.Units += uint64(len(h.events))
	w.shared.Time += w.timed(func() {
		for i := range h.events {
			switch ev := &h.events[i]; {
			case !ev.Withdrawn:
				w.directory.Insert(ev.Binding)
			case w.Mutation != ForgetsNames:
				w.directory.Remove(ev.Binding)
			}
		}
		h.events = w.directory.TakeEvents(h.events[:0]) // for subscribers
	})
}

// bindings are those of the types played here that a node has, in order.
func bindings(all func(frame.Range) []naming.Binding, of func(frame.NodeAddr) bool) (has []naming.Binding) {
	for t := uint32(firstType); t <= lastType; t++ {
		for _, b := range all(frame.Range{Type: t, Upper: 1<<32 - 1}) {
			b.Key = 0
			if of(b.Socket.Node) {
				has = append(has, b)
			}
		}
	}
	slices.SortFunc(has, func(a, b naming.Binding) int {
		return cmp.Or(cmp.Compare(a.Range.Type, b.Range.Type), cmp.Compare(a.Range.Lower, b.Range.Lower), cmp.Compare(a.Socket.Node, b.Socket.Node), cmp.Compare(a.Socket.Port, b.Socket.Port))
	})
	return has
}

func (h *host) bindings(of func(frame.NodeAddr) bool) []naming.Binding {
	return bindings(func(r frame.Range) []naming.Binding { return slices.Collect(h.eng.Overlapping(r)) }, of)
}

func ownNode(a frame.NodeAddr) bool { return a == nodeAddr }

// wantNames are how many names of the node, or of a peer, are bound.
func (w *world) wantNames(peer int) int {
	n := 3
	if peer < 0 {
		n = 2*sockets + 1
	}
	for i := range uint32(changing) {
		if w.bound[changing*uint32(1+peer)+i] {
			n++
		}
	}
	return n
}

// checkNames checks what peers know of the node, and the directory of the peers.
func (w *world) checkNames() {
	first := w.peers[0].bindings(ownNode)
	if want := w.wantNames(-1); len(first) != want {
		w.violate("peer 0 knows %d names of the node, not %d", len(first), want)
	}
	for _, p := range w.peers[1:] {
		if got := p.bindings(ownNode); !slices.Equal(got, first) {
			w.violate("peer %d knows the node's names as %v, peer 0 as %v", p.idx, got, first)
		}
	}
	all := func(r frame.Range) []naming.Binding { return slices.Collect(w.directory.Overlapping(r)) }
	if len(w.parts) == 1 {
		all = func(r frame.Range) []naming.Binding { return slices.Collect(w.parts[0].eng.Overlapping(r)) }
	}
	for i, p := range w.peers {
		its := func(a frame.NodeAddr) bool { return a == p.eng.Address() }
		got, want := bindings(all, its), p.bindings(its)
		if !slices.Equal(got, want) || len(want) != w.wantNames(i) {
			w.violate("the node knows %d names of peer %d, which has bound %d, of %d", len(got), i, len(want), w.wantNames(i))
		}
	}
}
