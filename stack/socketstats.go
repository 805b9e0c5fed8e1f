// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"github.com/utipc/utipc/stack/engine"
)

// What is counted; the counters never go back.
type (
	// SocketStats are what a socket has done; go doc ./stack/engine PortStats has the fields.
	SocketStats = engine.PortStats
	// ServiceStats are what the sockets of a node have had to do with a service type.
	ServiceStats = engine.ServiceStats
	// A Peer is another node, and what went there and came from there.
	Peer = engine.Peer
	// A Socket is how a socket stands: Addr (its Net is what the socket was made for),
	// Kind, Peer and State of a connection, Service, Bindings, and its SocketStats. Its Owner means
	// nothing to others.
	Socket = engine.Socket
)

// Kinds of sockets.
const (
	PacketSocket    = engine.PacketSocket
	ListeningSocket = engine.ListeningSocket
	ConnectedSocket = engine.ConnectedSocket
	GroupSocket     = engine.GroupSocket
	ProbingSocket   = engine.ProbingSocket
)

// Stats returns what the socket has done; of a closed one, what it had.
func (c *PacketConn) Stats() SocketStats { return c.b.Stats() }

// Stats is as of PacketConn.
func (c *Conn) Stats() SocketStats { return c.b.Stats() }

// Stats is as of PacketConn.
func (g *Group) Stats() SocketStats { return g.b.Stats() }

// Stats is as of PacketConn; the messages are requests, and none of them is sent.
func (l *Listener) Stats() SocketStats { return l.b.Stats() }

// Sockets returns all sockets of the node, by number; those of the node itself, as the
// topology service, are Inside. It takes the lap lock for some 100 ns for each.
func (n *Node) Sockets() []Socket { return n.b.Sockets() }

// ServiceStats returns what is counted by service type, by type. The first 1024 types
// that sockets of this node were bound to or sent to have a row each; the others share
// that of type 0.
func (n *Node) ServiceStats() []ServiceStats { return n.b.ServiceStats() }

// Peers returns the other nodes that are known, by address; for links to them see
// Links. One is forgotten, with its counters, five minutes after contact was lost.
func (n *Node) Peers() []Peer { return n.b.Peers() }
