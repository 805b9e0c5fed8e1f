// SPDX-License-Identifier: Apache-2.0

package split

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// A kind is a way that messages go.
type kind uint8

const (
	down     kind = iota // a datagram of the node's socket to a peer's
	up                   // of a peer's to one of the node's
	castDown             // a multicast of the node to all peers
	castUp               // of a peer to all sockets of the node
	connDown             // on a connection, from the node
	connUp               // to it
	kinds    = iota
)

// A pair is two sockets between which messages go in order.
type pair struct {
	kind   kind
	socket int // of the node; of a connection which end dialled
	peer   int
}

func (p pair) String() string {
	return fmt.Sprintf("%s of socket %d and peer %d", [kinds]string{"down", "up", "multicast down", "multicast up", "connection down", "connection up"}[p.kind], p.socket, p.peer)
}

// A flow is what became of the messages of a pair.
type flow struct{ sent, read uint32 }

func (w *world) flow(p pair) *flow {
	f := w.flows[p]
	if f == nil {
		f = &flow{}
		w.flows[p] = f
	}
	return f
}

// message makes the next message of a pair. A multicast has a number of its own, which is
// that of the message in each of its pairs.
func (w *world) message(p pair) []byte {
	f := w.flow(p)
	b := make([]byte, size)
	b[0], b[1], b[2] = byte(p.kind), byte(p.socket), byte(p.peer)
	no := f.sent
	if w.Mutation == Reverses && p == (pair{down, 0, 0}) && no < 2 {
		no = 1 - no
	}
	binary.BigEndian.PutUint32(b[4:], no)
	f.sent++
	return b
}

// arrived checks a message that was read: it has to be the next of its pair.
func (w *world) arrived(h *host, socket int, b []byte) {
	if len(b) != size {
		w.violate("a message of %d bytes was read", len(b))
		return
	}
	p := pair{kind(b[0]), int(b[1]), int(b[2])}
	switch p.kind {
	case castDown:
		p.peer = h.idx
	case castUp:
		p.socket = socket
	}
	toNode := p.kind == up || p.kind == castUp || p.kind == connUp
	if toNode != h.node || !h.node && p.peer != h.idx || p.kind == up && p.socket != socket {
		w.violate("%v: read by another, host %d, socket %d", p, h.idx, socket)
		return
	}
	f := w.flow(p)
	if no := binary.BigEndian.Uint32(b[4:]); no != f.read {
		w.violate("%v: message %d was read, not %d", p, no, f.read)
	}
	f.read++
	w.report.Read++
}

// checkFlows checks that every message was read.
func (w *world) checkFlows() {
	byPair := func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.peer, b.peer), cmp.Compare(a.socket, b.socket))
	}
	for _, p := range slices.SortedFunc(maps.Keys(w.flows), byPair) {
		f := w.flows[p]
		w.report.Sent[p.kind] += int(f.sent)
		if f.read != f.sent {
			w.violate("%v: %d messages were sent and %d read", p, f.sent, f.read)
		}
	}
}

// delivered reports whether as many messages were read as sent.
func (w *world) delivered() bool {
	for _, f := range w.flows {
		if f.read != f.sent {
			return false
		}
	}
	return true
}
