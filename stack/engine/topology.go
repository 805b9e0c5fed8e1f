// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// Limits of the topology service; see also naming.MaxSubscriptions.
const (
	maxClients          = 4096    // connections
	clientSubscriptions = 1024    // of a connection
	nodeSubscriptions   = 1024    // of a node, however many others have
	clientRecords       = 4096    // that wait to be taken, of a connection
	clientEvents        = 4096    // that wait for a connection, beside a part of the bindings that existed
	allEvents           = 1 << 20 // that wait for all connections
)

// A topology is the node's topology service: programs connect to {1,1}, send
// subscriptions, and get events.
//
//	          accepted                  a record breaks a rule, or a limit
//	(none) ───────────────► client ───────────────────────────► Close ──► (none)
//	                         │    ▲                                ▲
//	                 message │    │ writable                       │ reads too slowly
//	                         ▼    │                                │
//	        records ──► subscriptions ──► events ──► Write ────────┘
//
// What a connection calls only notes down what has come; serve, at the end of a turn
// of the engine, does the work and makes all calls of connections. A client that does
// not read holds up its own records, and is cut off when it has too many events
// waiting; nobody waits for it.
// Source: docs/spec/06-topology.md §1, §2.
type topology struct {
	e       *Engine
	native  frame.Order // of this host
	addr    frame.SocketAddr
	clients map[topologyConn]*client
	serial  uint64
	subs    int                    // of all clients
	of      map[frame.NodeAddr]int // of those of other nodes
	waiting int                    // events, of all clients
	dirty   flowctl.Queue[*client] // to be served
	buf     [frame.TopologyEventLen]byte
}

// hostOrder is the order in which programs on this host write their numbers.
var hostOrder = frame.Order(binary.NativeEndian.Uint16([]byte{0, 1}) == 1)

// openTopology publishes the topology service. Its port is the first of the node.
// Source: docs/spec/05-naming.md §1.1.
func (e *Engine) openTopology(now time.Duration) {
	e.topology.e, e.topology.native = e, hostOrder
	e.topology.clients, e.topology.of = map[topologyConn]*client{}, map[frame.NodeAddr]int{}
	l := e.listenInside(e.random|1, ListenConfig{Backlog: maxClients}, topologyLine{&e.topology})
	e.topology.addr = l.Addr()
	e.publish(now, naming.Binding{
		Range: frame.Range{Type: naming.TopologyType, Lower: topologyInstance, Upper: topologyInstance},
		Scope: frame.NodeScope, Socket: l.Addr(), Key: l.Addr().Port + 1,
	})
}

const topologyInstance = 1

// TopologyAddr is the socket of the node's topology service; zero as long as the node
// has no address.
func (e *Engine) TopologyAddr() frame.SocketAddr { return e.topology.addr }

// accepted takes a new connection.
func (t *topology) accepted(_ time.Duration, conn topologyConn) {
	t.serial++
	c := &client{t: t, conn: conn, node: conn.Peer().Node, serial: t.serial, subs: map[record][]*remote{}}
	t.clients[conn] = c
	if len(t.clients) > maxClients {
		c.refuse()
	}
}

// message takes subscriptions: as many as there are if the message is whole ones, as
// on a stream; else the first, as of a sequenced packet. A message cut short ends the
// connection.
func (t *topology) message(_ time.Duration, conn topologyConn, data []byte) {
	c := t.clients[conn]
	if c == nil || c.end {
		return
	}
	if len(data)%frame.SubscriptionLen != 0 {
		data = data[:min(len(data), frame.SubscriptionLen)]
	}
	if len(data) < frame.SubscriptionLen || c.records.Len()+len(data)/frame.SubscriptionLen > clientRecords {
		c.refuse()
		return
	}
	for ; len(data) > 0; data = data[frame.SubscriptionLen:] {
		c.records.Push(record(data))
	}
	c.soil()
}

// writable goes on where a Write found no room.
func (t *topology) writable(_ time.Duration, conn topologyConn) {
	if c := t.clients[conn]; c != nil {
		c.full = false
		c.soil()
	}
}

// ended forgets a connection that is over.
func (t *topology) ended(_ time.Duration, conn topologyConn) {
	if c := t.clients[conn]; c != nil {
		t.forget(c)
	}
}

// due is when serve has something to do.
func (t *topology) due() time.Duration {
	if t.dirty.Len() > 0 {
		return 0
	}
	return flowctl.Never
}

// serve takes records, writes events, and closes connections, as many as the turn may still
// do. Who becomes dirty meanwhile waits for the next turn.
func (t *topology) serve(now time.Duration) {
	for k := t.dirty.Len(); k > 0 && t.e.mayDo(3); k-- {
		c := t.dirty.Pop()
		c.dirty = false
		c.take(now)
		c.write(now)
		switch {
		case c.gone:
		case c.end:
			t.forget(c)
			c.conn.Close(now)
		case c.mayGoOn(), c.events.Len() > 0 && !c.full:
			c.soil()
		}
	}
}

// forget drops a client whose connection is over, or is about to be.
func (t *topology) forget(c *client) {
	c.clear()
	c.gone = true
	delete(t.clients, c.conn)
}
