// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// Limits of a Listener. What comes beyond goes back with "overload": its sender asks
// again later.
const (
	DefaultBacklog   = 4096 // requests that may wait, unless the ListenConfig says so
	DefaultAhead     = 128  // connections that may wait, with Ahead
	maxInside        = 4096 // connections to a user in the engine
	maxNodeInside    = 1024 // of them from one node
	listenerReadRoom = DefaultReceiveLimit
)

// A ListenConfig describes a listening socket. Zero fields mean the defaults.
type ListenConfig struct {
	Stream       bool     // of the connections, as in ConnConfig
	AnyKind      bool     // requests for the other kind are taken too, see isOther
	Backlog      int      // requests that may wait; default DefaultBacklog
	ReceiveLimit int      // of the connections, as in ConnConfig
	NoDelay      bool     // of the connections, as in ConnConfig
	Account      *Account // that it and the connections count in, or nil
	Ahead        bool     // requests are answered as they come, see acceptAhead; Backlog is then DefaultAhead
	Idle         bool     // it has a number and may be bound, and refuses all requests until Start
	Owner        any      // the owner's own word for the socket
}

// A Listener is a socket that takes connection requests. Each is answered when it is
// accepted, from a socket of its own. Source: docs/spec/07-sockets.md §4.2.
type Listener struct {
	ListenConfig
	port    Port
	pending []*request             // the oldest first
	bytes   int                    // of the pending ones
	ahead   []*Conn                // answered, and not accepted: the oldest first
	from    map[frame.NodeAddr]int // requests that wait; or with a user, connections
	open    int                    // connections, of a user
	readied bool
	user    connUser // nil: Accept takes them
}

// Listen makes a listening socket. It returns nil when the node has as many sockets as
// it may have, or no address yet.
func (e *Engine) Listen(k ListenConfig) *Listener { return e.listen(0, k) }

// listenInside makes a listening socket whose connections are accepted at once, for a
// user in the engine; they have no queue. With a number that is not 0 it has that,
// which must be free. Its bindings, by bindInside, may be of any type.
func (e *Engine) listenInside(number uint32, k ListenConfig, user connUser) *Listener {
	l := e.listen(number, k)
	if l != nil {
		l.user = user
	}
	return l
}

func (e *Engine) listen(number uint32, k ListenConfig) *Listener {
	if len(e.ports) >= maxPorts || e.addr == 0 {
		return nil
	}
	switch {
	case k.Backlog > 0:
	case k.Ahead:
		k.Backlog = DefaultAhead
	default:
		k.Backlog = DefaultBacklog
	}
	l := &Listener{ListenConfig: k, from: map[frame.NodeAddr]int{}}
	l.port = Port{PortConfig: PortConfig{Returnable: true, Account: k.Account}, e: e, number: number, listener: l}
	e.number(&l.port)
	return l
}

// Addr is the socket's address.
func (l *Listener) Addr() frame.SocketAddr { return l.port.Addr() }

// Bind is as of Port.
func (l *Listener) Bind(now time.Duration, r frame.Range, scope frame.Scope) error {
	return l.port.Bind(now, r, scope)
}

// BindExclusive is as of Port.
func (l *Listener) BindExclusive(now time.Duration, r frame.Range) (*Holding, error) {
	return l.port.BindExclusive(now, r)
}

// SettleNames is as of Port.
func (l *Listener) SettleNames() error { return l.port.SettleNames() }

// Lost is as of Port.
func (l *Listener) Lost() *NameTakenError { return l.port.Lost() }

// bindInside is Bind for any service type.
func (l *Listener) bindInside(now time.Duration, r frame.Range, scope frame.Scope) error {
	return l.port.bind(now, r, scope)
}

// Unbind is as of Port.
func (l *Listener) Unbind(now time.Duration, r frame.Range, scope frame.Scope) error {
	return l.port.Unbind(now, r, scope)
}

// Bindings is as of Port.
func (l *Listener) Bindings() []naming.Binding { return l.port.Bindings() }

// Port is the socket's port.
func (l *Listener) Port() *Port { return &l.port }

// Start makes an idle socket take requests.
func (l *Listener) Start() { l.Idle = false }

// Pending is the number of requests and connections that wait to be accepted.
func (l *Listener) Pending() int { return len(l.pending) + len(l.ahead) }

// handle takes a message for a listening socket.
func (l *Listener) handle(now time.Duration, n *node, f *frame.PayloadFields, data []byte) {
	e := l.port.e
	switch {
	case l.Idle || !e.isRequest(f):
		e.giveBack(now, n, f, data, frame.NoPort)
	case l.isOther(f):
		f.Kind = otherKind(f.Kind)
		e.giveBack(now, n, f, data, frame.NoPort)
	case !l.makeRoom(now, f, len(data)) || !l.affords(now, len(data)):
		l.port.stats.noRoom(!f.DestDroppable)
		e.giveBack(now, n, f, data, frame.Overload)
	case l.user != nil:
		l.acceptInside(now, n, f, data)
	case l.Ahead:
		l.acceptAhead(now, n, f, data)
	default:
		e.arrived(n)
		l.pending = append(l.pending, &request{*f, bytes.Clone(data), n})
		l.from[f.OrigNode]++
		l.bytes += len(data) + recordCost
		l.port.recount()
		l.port.stats.queuedOne(len(data), len(l.pending), l.bytes)
		e.conns.tellListener(l)
	}
}

// isRequest reports whether a message asks for a connection. Nodes without the SYN bit
// ask with any message that is not of a connection.
func (e *Engine) isRequest(f *frame.PayloadFields) bool {
	if f.Type != frame.NamedMsg && f.Type != frame.DirectMsg || f.Error != frame.OK || f.OrigPort == 0 {
		return false
	}
	n := e.home(f.OrigNode)
	return f.Syn || n != nil && !n.caps.Has(frame.CapSynBit)
}

// home returns the node of a socket, which may be the own one, if there is contact.
func (e *Engine) home(a frame.NodeAddr) *node {
	if a == e.addr {
		return e.self
	}
	return e.reach(a)
}

// full reports whether a request has no room.
func (l *Listener) full(f *frame.PayloadFields, size int) bool {
	if l.user != nil {
		return l.open >= maxInside || l.from[f.OrigNode] >= maxNodeInside
	}
	return l.Pending() >= l.Backlog || l.bytes+size+recordCost > listenerReadRoom<<f.Importance
}

// makeRoom reports whether a request can wait. One node may take the whole queue; but what
// it has there gives way to the requests of nodes that have fewer, the newest first, so
// that no node keeps another out.
func (l *Listener) makeRoom(now time.Duration, f *frame.PayloadFields, size int) bool {
	for l.full(f, size) {
		if l.user != nil || l.Ahead || !l.evict(now, l.from[f.OrigNode]+1) {
			return false
		}
	}
	return true
}

// evict returns the newest request of the node that has most, to be sent again, if those
// are more than n; of several nodes that of the newest request.
func (l *Listener) evict(now time.Duration, n int) bool {
	most := n
	for _, k := range l.from {
		most = max(most, k)
	}
	if most == n {
		return false
	}
	i := len(l.pending) - 1
	for l.from[l.pending[i].f.OrigNode] != most {
		i--
	}
	r := l.pending[i]
	l.pending = slices.Delete(l.pending, i, i+1)
	l.dequeued(r)
	l.port.stats.noRoom(true)
	l.port.e.returnRequest(now, r, frame.Overload)
	return true
}

// returnRequest sends a request that waited back.
func (e *Engine) returnRequest(now time.Duration, r *request, why frame.ErrorCode) {
	if n := r.via; n == e.self || e.reach(n.addr) == n {
		e.giveBack(now, n, &r.f, r.data, why)
	}
}

// affords reports whether the account has room for a request; for one with little or no
// data it makes room, so that connections begin whatever else is left unread.
func (l *Listener) affords(now time.Duration, size int) bool {
	switch {
	case l.port.Account == nil:
		return true
	case size > CopyBreak:
		return l.port.Account.Affords(size + recordCost)
	}
	return l.port.relieve(now, size+recordCost)
}

// forget counts a request, or a connection of a user, less.
func (l *Listener) forget(a frame.NodeAddr) {
	if l.from[a]--; l.from[a] == 0 {
		delete(l.from, a)
	}
	if l.user != nil {
		l.open--
	}
}

// take returns the oldest request.
func (l *Listener) take() *request {
	r := l.pending[0]
	l.pending[0] = nil
	l.pending = l.pending[1:]
	if len(l.pending) == 0 {
		l.pending = nil
	}
	l.dequeued(r)
	return r
}

// dequeued counts a request that waits no more.
func (l *Listener) dequeued(r *request) {
	l.bytes -= len(r.data) + recordCost
	l.port.recount()
	l.forget(r.f.OrigNode)
}

// Accept makes a connection of the oldest request and answers it; data that came with
// the request is its first message. ok is false when none waits, or the node has as
// many sockets as it may have. Requests of nodes that are gone are dropped.
func (l *Listener) Accept(now time.Duration) (c *Conn, ok bool) {
	e := l.port.e
	if len(l.ahead) > 0 {
		return l.takeAhead(), true
	}
	for len(l.pending) > 0 && len(e.ports) < maxPorts {
		r := l.take()
		n := e.home(r.f.OrigNode)
		if n == nil {
			e.drop(DropNodeState)
			continue
		}
		c := l.connect(now, n, &r.f)
		c.begin(now, &r.f, r.data)
		return c, true
	}
	return nil, false
}

// begin answers the request f, whose data is the first message.
func (c *Conn) begin(now time.Duration, f *frame.PayloadFields, data []byte) {
	if len(data) > 0 {
		c.moveIn()
		m := c.port.store(data, nil)
		m.Importance = f.Importance
		c.port.e.conns.tell(c, callReadable)
	}
	c.pay(now, owedAnswer)
}

// acceptInside makes a connection for the user in the engine.
func (l *Listener) acceptInside(now time.Duration, n *node, f *frame.PayloadFields, data []byte) {
	c := l.connectNow(now, n, f, data)
	if c == nil {
		return
	}
	c.user, c.origin = l.user, l
	l.open++
	l.from[f.OrigNode]++
	c.pay(now, owedAnswer)
	c.user.accepted(now, c)
	if len(data) > 0 && c.state == Established && c.hand(now, data) {
		c.acknowledge(now, false)
	}
}

// connectNow is connect of a request that is answered as it comes from n; nil where that cannot be: its node
// is gone, or there are no more sockets, and it goes back.
func (l *Listener) connectNow(now time.Duration, n *node, f *frame.PayloadFields, data []byte) *Conn {
	e := l.port.e
	from := e.home(f.OrigNode)
	switch {
	case from == nil:
		e.drop(DropNodeState)
		return nil
	case len(e.ports) >= maxPorts:
		e.giveBack(now, n, f, data, frame.Overload)
		return nil
	}
	e.arrived(n)
	return l.connect(now, from, f)
}

// connect makes a connection to the sender of a request. What came with it counts as a
// message with the short header. Source: docs/spec/07-sockets.md §5.1.
func (l *Listener) connect(now time.Duration, n *node, f *frame.PayloadFields) *Conn {
	c := l.port.e.newConn(ConnConfig{Stream: l.Stream, ReceiveLimit: l.ReceiveLimit, NoDelay: l.NoDelay || l.user != nil, Account: l.Account}, 0)
	c.establish(now, n, frame.SocketAddr{Port: f.OrigPort, Node: f.OrigNode}, f.Importance)
	if f.Type == frame.NamedMsg {
		c.name, c.named = frame.Service{Type: f.NameType, Instance: f.Lower}, true
		c.port.e.services.known(f.NameType).Connections++
	}
	return c
}

// Close withdraws the socket's names and returns the requests that wait. Connections that wait
// are reset; those that were accepted stay.
func (l *Listener) Close(now time.Duration) {
	if l.port.closed {
		return
	}
	l.port.retire(now)
	l.Refuse(now)
}

// Refuse refuses the requests that wait, and returns the ports of those of the own node.
// Connections that wait are reset.
func (l *Listener) Refuse(now time.Duration) (own []uint32) {
	for len(l.ahead) > 0 {
		l.takeAhead().Abort(now)
	}
	for len(l.pending) > 0 {
		r := l.take()
		if r.via == l.port.e.self {
			own = append(own, r.f.OrigPort)
		}
		l.port.e.returnRequest(now, r, frame.NoPort)
	}
	return own
}
