// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// DefaultNamePark is how long a message waits for its name, unless the Config says so.
const DefaultNamePark = 100 * time.Millisecond

// Limits of what waits for a name. A message beyond them is rejected at once.
const (
	maxParked         = 64        // messages of one peer
	maxParkedBytes    = 256 << 10 // of one peer, headers included
	maxAllParked      = 1024      // messages of all peers
	maxAllParkedBytes = 4 << 20   // of all peers
)

// parking is where messages from other nodes wait for a name that nobody has bound.
//
//	arrives, name unknown ──► parked ──(a binding that matches)──► looked up again
//	        │                    ├──(NamePark is over)───────────► rejected with NO_NAME
//	        │                    └──(contact with its node lost)─► dropped
//	        └──(no room, or parking is off)──────────────────────► rejected with NO_NAME
//
// A publication may arrive after the data that refers to it: they go over links that
// do not wait for each other. A kernel rejects such a message; a peer sees of the
// parking only a later reject.
//
// What waits goes on within the change of the table that it waited for, in the order
// of its arrival, so nothing that is sent to the same name overtakes it. What its
// sender sends meanwhile to another name, or to a socket, does.
//
// Not parked is a message that was looked up on its way before: whatever the table
// learns, the rules forbid a second look. Nor is a multicast, which is for whoever is
// bound when it comes.
//
// Source: docs/spec/07-sockets.md §6.3.
type parking struct {
	queue     []parkedMessage // in order of arrival, and so of their ends
	types     map[uint32]int  // how many wait for a service type
	bytes     int
	matched   bool // some have a binding that was not there before
	releasing bool // what is looked up now has waited already
}

// A parkedMessage has memory of its own: it holds no chunk.
type parkedMessage struct {
	from    *node
	p       frame.Payload
	name    frame.Range // one instance
	until   time.Duration
	matched bool
}

// parked is what a node has in the parking.
type parked struct{ messages, bytes int }

// first is when the first message has waited long enough.
func (k *parking) first() time.Duration {
	if len(k.queue) == 0 {
		return flowctl.Never
	}
	return k.queue[0].until
}

// park keeps a message of a node for the name it is sent to, and reports whether there
// is room.
func (e *Engine) park(now time.Duration, n *node, p frame.Payload) bool {
	k, size := &e.parking, len(p.Bytes())
	if e.cfg.NamePark < 0 || k.releasing {
		return false
	}
	if n.parked.messages == maxParked || n.parked.bytes+size > maxParkedBytes ||
		len(k.queue) == maxAllParked || k.bytes+size > maxAllParkedBytes {
		e.count.ParkRefused++
		return false
	}
	m, err := frame.Parse(bytes.Clone(p.Bytes()))
	if err != nil {
		panic("engine: a message that was sound is not: " + err.Error())
	}
	name, _ := p.Range()
	k.queue = append(k.queue, parkedMessage{from: n, p: frame.Payload{Message: m}, name: name, until: now + e.cfg.NamePark})
	if k.types == nil {
		k.types = map[uint32]int{}
	}
	k.types[name.Type]++
	k.bytes += size
	n.parked.messages++
	n.parked.bytes += size
	e.count.Parked++
	return true
}

// bound notes which messages a new binding may be for. Their lookup, which decides, is
// not now, but when the change of the table is complete, see unpark.
func (e *Engine) bound(b naming.Binding) {
	k := &e.parking
	if k.types[b.Range.Type] == 0 {
		return
	}
	for i := range k.queue {
		m := &k.queue[i]
		if b.Range.Overlaps(m.name) {
			m.matched, k.matched = true, true
		}
	}
}

// unpark lets the messages go on whose names have appeared.
func (e *Engine) unpark(now time.Duration) {
	k := &e.parking
	if !k.matched {
		return
	}
	k.matched = false
	ready := e.takeParked(func(m *parkedMessage) bool {
		matched := m.matched
		m.matched = false // whatever comes of it: gone again, or not for this scope
		if !matched {
			return false
		}
		_, ok := e.table.Choose(e.secondName(m.p))
		return ok
	})
	k.releasing = true
	for _, m := range ready {
		if !m.from.up() { // a message before this one was the end of contact
			e.lostParked(1)
			continue
		}
		e.count.ParkReleased++
		e.deliverPayload(now, m.from, m.p, nil, false)
	}
	k.releasing = false
}

// endParked rejects what has waited long enough.
func (e *Engine) endParked(now time.Duration) {
	for _, m := range e.takeParked(func(m *parkedMessage) bool { return m.until <= now }) {
		if !m.from.up() {
			e.lostParked(1)
			continue
		}
		e.count.ParkExpired++
		e.reject(now, m.from, m.p, frame.NoName)
	}
}

// dropParked forgets the messages of a node with which contact is lost.
func (e *Engine) dropParked(n *node) {
	if n.parked.messages > 0 {
		e.lostParked(len(e.takeParked(func(m *parkedMessage) bool { return m.from == n })))
	}
}

func (e *Engine) lostParked(n int) {
	e.count.ParkLost += uint64(n)
	e.count.Drops[DropNodeState] += uint64(n)
}

// takeParked takes the messages out that take says so of.
func (e *Engine) takeParked(take func(*parkedMessage) bool) (taken []parkedMessage) {
	k := &e.parking
	kept := k.queue[:0]
	for i := range k.queue {
		m := &k.queue[i]
		if !take(m) {
			kept = append(kept, *m)
			continue
		}
		taken = append(taken, *m)
		size := len(m.p.Bytes())
		k.bytes -= size
		m.from.parked.messages--
		m.from.parked.bytes -= size
		if k.types[m.name.Type]--; k.types[m.name.Type] == 0 {
			delete(k.types, m.name.Type)
		}
	}
	clear(k.queue[len(kept):])
	k.queue = kept
	return taken
}

// Parked is the number of messages from other nodes that wait for a name.
func (e *Engine) Parked() int { return len(e.parking.queue) }
