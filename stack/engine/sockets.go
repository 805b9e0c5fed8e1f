// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=SocketKind -linecomment

// A SocketKind says what a socket is there for.
type SocketKind uint8

const (
	PacketSocket    SocketKind = iota // packets
	ListeningSocket                   // listener
	ConnectedSocket                   // connection
	GroupSocket                       // group
	ProbingSocket                     // probe
)

// A Socket is how a socket stands.
type Socket struct {
	Addr     frame.SocketAddr
	Network  string `json:",omitempty"` // as it was opened, "tipcrdm"; of the node's own sockets empty
	Kind     SocketKind
	Inside   bool             // of the node itself, as the topology service
	Peer     frame.SocketAddr // of a connection
	State    ConnState        // of a connection
	Service  frame.Service    // that a connection was made by, or type and instance in a group; its type is 0 if none
	Bindings []naming.Binding // oldest first
	Owner    any              `json:"-"` // the owner's own word for it
	PortStats
}

// Sockets returns the sockets of the node, by number. Of many SocketNumbers and Socket tell in
// parts.
func (e *Engine) Sockets() []Socket {
	numbers := e.SocketNumbers(nil)
	slices.Sort(numbers)
	all := make([]Socket, 0, len(numbers))
	for _, number := range numbers {
		s, _ := e.Socket(number)
		all = append(all, s)
	}
	return all
}

// SocketNumbers appends the numbers of the node's sockets to dst, in no order.
func (e *Engine) SocketNumbers(dst []uint32) []uint32 {
	e.did(WorkBindings, len(e.ports)/16) // to look at a number is less than to look at a binding
	for number := range e.ports {
		dst = append(dst, number)
	}
	return dst
}

// Socket returns the socket with a number; ok is false when there is none any more.
func (e *Engine) Socket(number uint32) (s Socket, ok bool) {
	p := e.ports[number]
	if p == nil {
		return Socket{}, false
	}
	e.did(WorkBindings, 1+len(p.bindings)/16)
	return p.socket(), true
}

func (p *Port) socket() Socket {
	s := Socket{Addr: p.Addr(), Owner: p.Owner, Bindings: slices.Clone(p.bindings), PortStats: p.Stats()}
	switch c, l := p.conn, p.listener; {
	case c != nil:
		s.Kind, s.Inside, s.Peer, s.State, s.Owner = ConnectedSocket, c.user != nil, c.peer, c.state, c.Owner
		s.Service = c.name
	case l != nil:
		s.Kind, s.Inside, s.Owner, s.PortStats = ListeningSocket, l.user != nil, l.Owner, l.Stats()
	case p.group != nil:
		s.Kind, s.Service, s.Owner = GroupSocket, p.group.Service, p.group.Owner
	case p.probe != nil:
		s.Kind = ProbingSocket
	}
	return s
}
