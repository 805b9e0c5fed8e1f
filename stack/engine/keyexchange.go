// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// Own keys reach other nodes by key messages: a new one goes once to all, on the
// broadcast link, and to a node that says it has none (the bit N) by its link. Those
// messages are sealed as all others.
//
//	SetKey, Rekey ──► to all
//	N=1 of a node ──(0.5 to 2.5 s, once)──► to that node
//
// Source: docs/spec/09-security.md §5.

// sendKeyToAll hands the newest own key to all nodes there is contact with.
func (e *Engine) sendKeyToAll(now time.Duration) {
	if e.ups > 0 {
		e.transmitKey(now, e.cast.link)
	}
}

// sendKey hands the newest own key to a node.
func (e *Engine) sendKey(now time.Duration, n *node) {
	if l := n.slots[0]; l != nil {
		e.transmitKey(now, l)
	}
}

// transmitKey sends the newest own key on a link. Without memory or room for it nothing
// is sent: who misses it will say so.
func (e *Engine) transmitKey(now time.Duration, l *link) {
	k, generation, ok := e.crypt.ring.Distribution()
	if !ok {
		return
	}
	f := frame.KeyFields{Common: frame.Common{Prev: e.addr}, Generation: generation, Mode: k.Mode(), Orig: e.addr, Dest: l.n.addr}
	b := e.message(frame.KeyMessageLen+k.Len(), netdev.Control)
	if b == nil {
		return
	}
	b.Secret()
	var material [seal.MaxKeyLen]byte
	f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen], k.Append(material[:0]))
	clear(material[:])
	if e.transmit(now, l, b, frame.System) == nil {
		e.crypt.count.KeysSent++
	}
	e.after(now, l)
}

// takeKey takes a key message of a node, that came sealed.
func (e *Engine) takeKey(now time.Duration, n *node, m frame.Message, in *netdev.Buffer) {
	if e.crypt == nil {
		e.drop(DropPlainKey)
		return
	}
	if in != nil {
		in.Secret()
	}
	k, err := frame.ParseKey(m)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	if in == nil { // it waited for its turn in memory of its own
		defer clear(k.Key())
	}
	if err := e.crypt.ring.HandleKey(now, e.cipherPeer(n), k); err != nil {
		e.drop(DropKey)
		return
	}
	e.crypt.count.KeysTaken++
	e.events.Push(Event{Kind: KeyTaken, Node: n.addr})
}
