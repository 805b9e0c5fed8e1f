// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/utipc/utipc/frame"

// Traffic is what went between this node and another since that became known.
type Traffic struct {
	MessagesIn, BytesIn   uint64 // from its sockets, whatever became of them
	MessagesOut, BytesOut uint64 // to its sockets; what was broadcast is not among them
	Returned              uint64 // of its messages, sent back
	CameBack              uint64 // of ours, sent back by it
	Connections           uint64 // made
}

// A Peer is another node.
type Peer struct {
	Node     frame.NodeAddr
	Identity frame.Identity
	Up       bool  // there is contact
	Version  uint8 // of what nodes of this implementation do among themselves, as it said; 0: a kernel
	Open     int   // connections that lead there
	Traffic
}

func (t *Traffic) sent(size int) {
	t.MessagesOut++
	t.BytesOut += uint64(size)
}

// got counts a message of the node's sockets.
func (n *node) got(p frame.Payload) {
	back := p.Error() != frame.OK
	if back && p.Type() == frame.McastMsg { // a twin
		return
	}
	n.traffic.MessagesIn++
	n.traffic.BytesIn += uint64(len(p.Data()))
	if back {
		n.traffic.CameBack++
	}
}

// Traffic returns the other nodes that are known, by address.
func (e *Engine) Traffic() []Peer {
	var all []Peer
	for _, n := range e.nodes {
		all = append(all, Peer{Node: n.addr, Identity: n.identity, Up: n.up(), Version: n.version, Open: n.open, Traffic: n.traffic})
	}
	return all
}
