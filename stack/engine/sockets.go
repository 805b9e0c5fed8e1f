// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
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
	Kind     SocketKind
	Inside   bool             // of the node itself, as the topology service
	Peer     frame.SocketAddr // of a connection
	State    ConnState        // of a connection
	Service  frame.Service    // that a connection was made by, or type and instance in a group; its type is 0 if none
	Bindings []naming.Binding // oldest first
	Owner    any              `json:"-"` // the owner's own word for it
	PortStats
}

// Sockets returns the sockets of the node, by number.
func (e *Engine) Sockets() []Socket {
	all := make([]Socket, 0, len(e.ports))
	for _, p := range e.ports {
		all = append(all, p.socket())
	}
	slices.SortFunc(all, func(a, b Socket) int { return cmp.Compare(a.Addr.Port, b.Addr.Port) })
	return all
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
