// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

var (
	namesCall        = query("names", Node.Names)
	statsCall        = query("stats", Node.Stats)
	peersCall        = query("peers", Node.Peers)
	socketsCall      = query("sockets", Node.Sockets)
	serviceStatsCall = query("service-stats", Node.ServiceStats)
)

// Stats are what a node has done since it was opened.
type Stats struct {
	engine.Counters
	Sockets                       int // of the node, its own included
	ChunksFree, ChunksTotal       int
	Kept                          int // bytes that other nodes make it keep: packets before their turn, and fragments
	DeviceDropsIn, DeviceDropsOut uint64
	Conflict                      Conflict
	WakeUps                       uint64 // times that a goroutine which turns the node went on after a sleep
}

// A Conflict is the last node that was seen to claim the address, or the identity, of this node
// or of one that there is a link to. The newcomer gets no link here as long as the other lives.
type Conflict struct {
	Node    NodeAddr      // the address; 0: there was none
	Station string        // of the newcomer
	Bearer  string        // on which it was heard
	Ago     time.Duration // since it was heard last
	Times   uint64        // that any was heard
}

// What is counted; the counters never go back.
type (
	// ServiceStats are what the sockets of a node have had to do with a service type.
	ServiceStats = engine.ServiceStats
	// A Peer is another node, and what went there and came from there.
	Peer = engine.Peer
	// A Socket is how a socket stands: Addr (its Net is what the socket was made for), Kind,
	// Peer and State of a connection, Service, Bindings, and what it has done. Its Owner is nil.
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

// Names returns every binding the node knows: by type, then lower bound.
func (a *Admin) Names(ctx context.Context) ([]Binding, error) { return namesCall.Do(ctx, a.b, nothing) }

// Stats returns a snapshot.
func (a *Admin) Stats(ctx context.Context) (Stats, error) { return statsCall.Do(ctx, a.b, nothing) }

// Peers returns the other nodes that are known, by address; for links to them see
// Links. One is forgotten, with its counters, five minutes after contact was lost.
func (a *Admin) Peers(ctx context.Context) ([]Peer, error) { return peersCall.Do(ctx, a.b, nothing) }

// Sockets returns all sockets of the node, by number; those of the node itself, as the
// topology service, are Inside. It takes the node's lock for some 100 ns for each.
func (a *Admin) Sockets(ctx context.Context) ([]Socket, error) {
	return socketsCall.Do(ctx, a.b, nothing)
}

// ServiceStats returns what is counted by service type, by type. The first 1024 types
// that sockets of this node were bound to or sent to have a row each; the others share
// that of type 0.
func (a *Admin) ServiceStats(ctx context.Context) ([]ServiceStats, error) {
	return serviceStatsCall.Do(ctx, a.b, nothing)
}
