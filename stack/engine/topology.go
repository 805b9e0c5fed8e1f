// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// Limits of the topology service; see also naming.MaxSubscriptions.
const (
	maxClients          = 4096    // connections
	clientSubscriptions = 1024    // of a connection
	clientRecords       = 4096    // that wait to be taken, of a connection
	clientEvents        = 4096    // that wait for a connection, beside bindings that existed
	allEvents           = 1 << 20 // that wait for all connections
	scanned             = 16384   // bindings, after which the other records wait for another turn
)

// errConnFull is what a connection says that has no room; its writable tells of room.
var errConnFull = errors.New("engine: no room on the connection")

// A topologyConn is what the topology service needs of a connection.
type topologyConn interface {
	Write(now time.Duration, b []byte) error // one message, copied; errConnFull: not now
	Close(now time.Duration)                 // behind what was written
	Abort(now time.Duration)
	Peer() frame.SocketAddr
}

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
	waiting int                    // events, of all clients
	dirty   flowctl.Queue[*client] // to be served
	buf     [frame.TopologyEventLen]byte
}

// hostOrder is the order in which programs on this host write their numbers.
var hostOrder = frame.Order(binary.NativeEndian.Uint16([]byte{0, 1}) == 1)

// A client is a connection to the topology service.
type client struct {
	t       *topology
	conn    topologyConn
	serial  uint64 // older ones have smaller ones
	subs    map[record][]*remote
	n       int                   // subscriptions
	records flowctl.Queue[record] // that wait to be taken
	events  flowctl.Queue[notice] // that wait to be written
	news    int                   // of them, that are not of bindings which existed
	full    bool                  // the connection has no room
	dirty   bool
	end     bool // nothing more is taken, and what waits is not written
	gone    bool // the connection is over
}

// A record is a subscription as it was received.
type record [frame.SubscriptionLen]byte

// A remote is a subscription of a client.
type remote struct {
	watch
	c      *client
	record record // as it was received
}

// A notice is an event that waits, in few bytes: a slow client has thousands.
type notice struct {
	of           *remote
	lower, upper uint32
	port         uint32
	node         frame.NodeAddr
	typ          uint8
	news         bool // counts against the limit
}

// openTopology publishes the topology service. Its port is the first of the node.
// Source: docs/spec/05-naming.md §1.1.
func (e *Engine) openTopology(now time.Duration) {
	e.topology.e, e.topology.native = e, hostOrder
	e.topology.clients = map[topologyConn]*client{}
	e.topology.addr = frame.SocketAddr{Port: e.random | 1, Node: e.addr}
	e.publish(now, naming.Binding{
		Range: frame.Range{Type: naming.TopologyType, Lower: topologyInstance, Upper: topologyInstance},
		Scope: frame.NodeScope, Socket: e.topology.addr, Key: e.cfg.Chance.Key(e.topology.addr.Port),
	})
}

const topologyInstance = 1

// TopologyAddr is the socket of the node's topology service; zero as long as the node
// has no address.
func (e *Engine) TopologyAddr() frame.SocketAddr { return e.topology.addr }

// accepted takes a new connection.
func (t *topology) accepted(_ time.Duration, conn topologyConn) {
	t.serial++
	c := &client{t: t, conn: conn, serial: t.serial, subs: map[record][]*remote{}}
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

// soil has serve look at the client.
func (c *client) soil() {
	if !c.dirty {
		c.dirty = true
		c.t.dirty.Push(c)
	}
}

// refuse ends a connection whose client broke a rule or a limit; what it was told
// before still goes out.
func (c *client) refuse() {
	c.t.e.count.SubscriptionsRefused++
	c.end = true
	c.records = flowctl.Queue[record]{}
	c.soil()
}

// serve takes records, writes events, and closes connections. Who becomes dirty
// meanwhile waits for the next turn.
func (t *topology) serve(now time.Duration) {
	for k := t.dirty.Len(); k > 0; k-- {
		c := t.dirty.Pop()
		c.dirty = false
		c.take(now)
		c.write(now)
		switch {
		case c.gone:
		case c.end:
			t.forget(c)
			c.conn.Close(now)
		case c.records.Len() > 0 && c.mayTake():
			c.soil()
		}
	}
}

func (c *client) mayTake() bool { return !c.end && !c.gone && c.events.Len() < clientEvents }

// take carries out records, as long as that is not much work and the client reads.
func (c *client) take(now time.Duration) {
	for work := 0; c.records.Len() > 0 && c.mayTake() && work < scanned; {
		work += c.subscribe(now, c.records.Pop())
	}
}

// subscribe carries out one record, and returns how many bindings it looked at.
// Source: docs/spec/06-topology.md §2.2, §2.3.
func (c *client) subscribe(now time.Duration, rec record) (work int) {
	t, e := c.t, c.t.e
	s, _ := frame.ParseSubscription(rec[:], t.native)
	f := s.Fields()
	if f.Filter&frame.FilterCancel != 0 {
		f.Filter &^= frame.FilterCancel
		c.cancel(record(f.Append(nil)))
		return 1
	}
	x := &remote{c: c, record: rec}
	x.watch = watch{Subscription: naming.Subscription{Range: f.Range, Filter: f.Filter}, by: x, due: flowctl.Never}
	if !x.Legal() || c.n >= clientSubscriptions || t.subs >= naming.MaxSubscriptions {
		c.refuse()
		return 1
	}
	e.spread() // what was before is no news to it
	work = 1 + x.Existing(e.table, func(b naming.Binding) { c.note(x.notice(frame.Published, b)) })
	if c.end { // these were too many
		return work
	}
	if f.Timeout != frame.Forever {
		x.due = now + time.Duration(f.Timeout)*time.Millisecond
	}
	c.subs[rec] = append(c.subs[rec], x)
	c.n++
	t.subs++
	e.watch(&x.watch)
	return work
}

// cancel ends the oldest subscription that was made by exactly this record.
func (c *client) cancel(rec record) {
	if x := c.subs[rec]; len(x) > 0 {
		c.drop(x[0])
	}
}

// drop ends a subscription.
func (c *client) drop(x *remote) {
	same := c.subs[x.record]
	for i := range same {
		if same[i] == x {
			same = append(same[:i], same[i+1:]...)
			break
		}
	}
	if c.subs[x.record] = same; len(same) == 0 {
		delete(c.subs, x.record)
	}
	c.n--
	c.t.subs--
	c.t.e.unwatch(&x.watch)
}

// told is called when a binding came or went.
func (x *remote) told(ev naming.Event) {
	typ := frame.Published
	if ev.Withdrawn {
		typ = frame.Withdrawn
	}
	n := x.notice(typ, ev.Binding)
	n.news = true
	x.c.note(n)
	x.c.soil()
}

// timedOut is called when the subscription's time is over. Kernels tell a subscriber of
// the other byte order its own bounds swapped once too often; here they are right.
// Source: docs/spec/06-topology.md §3.
func (x *remote) timedOut() {
	x.c.drop(x)
	n := x.notice(frame.TimedOut, naming.Binding{Range: x.Range})
	n.news = true
	x.c.note(n)
	x.c.soil()
}

func (x *remote) notice(typ frame.EventType, b naming.Binding) notice {
	return notice{of: x, typ: uint8(typ), lower: b.Range.Lower, upper: b.Range.Upper, port: b.Socket.Port, node: b.Socket.Node}
}

// note has an event wait for the connection, and cuts off who has too many waiting.
func (c *client) note(n notice) {
	if c.end {
		return
	}
	c.events.Push(n)
	c.t.waiting++
	if n.news {
		c.news++
	}
	switch {
	case c.news > clientEvents:
		c.cut()
	case c.t.waiting > allEvents:
		c.t.slowest().cut()
	}
}

// slowest is the client with the most events waiting, of several the oldest.
func (t *topology) slowest() (s *client) {
	for _, c := range t.clients {
		if s == nil || c.events.Len() > s.events.Len() || c.events.Len() == s.events.Len() && c.serial < s.serial {
			s = c
		}
	}
	return s
}

// cut ends the connection of a client that reads too slowly.
func (c *client) cut() {
	c.t.e.count.SubscribersCut++
	c.clear()
	c.soil()
}

// write sends events as long as the connection has room.
func (c *client) write(now time.Duration) {
	for c.events.Len() > 0 && !c.full {
		n := *c.events.At(0)
		err := c.conn.Write(now, c.t.event(n))
		switch {
		case c.gone:
			return
		case errors.Is(err, errConnFull):
			c.full = true
		case err != nil:
			c.t.forget(c)
			c.conn.Abort(now)
		default:
			c.events.Drop()
			c.t.waiting--
			if n.news {
				c.news--
			}
		}
	}
	c.events.Forget(64)
}

// event writes a notice as it goes out, in the order of the subscription's record. It
// is valid until the next call.
func (t *topology) event(n notice) []byte {
	s, _ := frame.ParseSubscription(n.of.record[:], t.native)
	f := frame.TopologyEventFields{
		Type: frame.EventType(n.typ), Lower: n.lower, Upper: n.upper, Port: n.port, Node: n.node, Subscription: s.Fields(),
	}
	return f.Append(t.buf[:0])
}

// clear drops all that a client has and has asked for.
func (c *client) clear() {
	c.end = true
	c.t.waiting -= c.events.Len()
	c.news = 0
	c.events = flowctl.Queue[notice]{}
	c.records = flowctl.Queue[record]{}
	for _, same := range c.subs {
		for _, x := range same {
			c.t.e.unwatch(&x.watch)
		}
	}
	c.t.subs -= c.n
	c.n = 0
	clear(c.subs)
}

// forget drops a client whose connection is over, or is about to be.
func (t *topology) forget(c *client) {
	c.clear()
	c.gone = true
	delete(t.clients, c.conn)
}
