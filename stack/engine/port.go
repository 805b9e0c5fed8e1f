// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// DefaultReceiveLimit is how many bytes may wait in a port's queue, by default,
// at the lowest importance; each higher one may fill twice as much.
const DefaultReceiveLimit = 2 << 20

// CopyBreak is the length, in bytes, up to which a received message is copied into
// its socket's own memory; its chunk is free again in the same poll. A longer one
// stays in its chunk while more than half of the chunks are free.
const CopyBreak = 2048

// recordCost is what a queued message counts beside its data, in bytes, so that
// empty ones are limited too.
const recordCost = 64

// A PortConfig describes a socket. Zero fields mean the defaults.
type PortConfig struct {
	Importance   frame.Importance // of what it sends; Low to Critical
	Returnable   bool             // undeliverable messages come back
	SrcDroppable bool             // as a tipcgram socket marks its messages
	Requests     bool             // what it sends is a request, that it is told the end of; see openRequest
	PreferIdle   bool             // of the sockets that have a service, one that has least to do takes the message; see leastBusy
	ManualAck    bool             // what it has read is its own only when it says so; see Port.Ack
	ReceiveLimit int              // bytes; default DefaultReceiveLimit
	Account      *Account         // that it counts in, or nil
	Handler      Handler          // takes its messages; nil: they wait to be read
	Owner        any              // the owner's own word for the port
}

// A Port is a connectionless socket: what it is bound to and what waits to be
// read. Short messages are copied into the port's own ring, long ones lent by the
// arena. A Conn and a Listener have a Port inside of them.
type Port struct {
	PortConfig
	e            *Engine
	number       uint32
	bindings     []naming.Binding
	queue        flowctl.Queue[Received]
	data         ring
	queued       int // bytes counted against the limit
	aside        int // that the owner keeps beside it, see Hold
	charged      int // to its account
	promised     int // there, see Account
	accountPlace int // in Account.ports
	memo         naming.Memo
	nodes        naming.NodesMemo
	lentTo       int      // the packets of the link that its last Lent took, in bytes; 0: none
	turn         turn     // on the link it waited for last
	method       method   // of its multicast messages
	barrier      *barrier // where those of others wait; nil: none does
	readied      bool
	closed       bool
	stats        PortStats
	served       served
	request      *openRequest // that waits for an answer; nil without PortConfig.Requests
	refused      *Holding     // that it has lost last of those that were not settled; see SettleNames
	unacked      *unacked     // nil while nothing was read with PortConfig.ManualAck

	conn     *Conn     // whose port it is, or
	listener *Listener // whose; or
	group    *Group    // whose; or
	probe    *Probe    // whose; all nil for a connectionless socket
}

// A Received is what is known of a message that waits in a port.
type Received struct {
	Len        int
	From       frame.SocketAddr
	Name       frame.Range     // the name it was sent to; its own type is not 0 then
	Error      frame.ErrorCode // not OK: an own message that came back
	Importance frame.Importance
	Receipt    uint64 // for Port.Ack; 0: it is not kept
	returnable bool
	named      bool
	reroute    uint8
	scope      frame.Scope

	srcDroppable, syn bool // as in its header

	data []byte         // nil: it is in the port's ring
	lent *netdev.Buffer // holds data
}

// letGo gives the data back.
func (r *Received) letGo() {
	if r.lent != nil {
		r.lent.Release()
	}
	r.lent, r.data = nil, nil
}

// Marks is what Return and ReturnUnread need of a message beside the fields, for who keeps those
// elsewhere; SetMarks is its inverse.
func (r *Received) Marks() (marks uint32) {
	for i, on := range [...]bool{r.returnable, r.named, r.srcDroppable, r.syn} {
		if on {
			marks |= 1 << i
		}
	}
	return marks | uint32(r.reroute)<<8 | uint32(r.scope)<<16
}

// SetMarks is the inverse of Marks.
func (r *Received) SetMarks(marks uint32) {
	for i, on := range [...]*bool{&r.returnable, &r.named, &r.srcDroppable, &r.syn} {
		*on = marks&(1<<i) != 0
	}
	r.reroute, r.scope = uint8(marks>>8), frame.Scope(marks>>16)
}

// Named reports whether the message was sent to a name.
func (r *Received) Named() bool { return r.named }

// OpenPort makes a socket. It returns nil when the node has as many as it may
// have, or no address yet.
func (e *Engine) OpenPort(c PortConfig) *Port {
	if len(e.ports) >= maxPorts || e.addr == 0 {
		return nil
	}
	if c.ReceiveLimit == 0 {
		c.ReceiveLimit = DefaultReceiveLimit
	}
	p := &Port{PortConfig: c, e: e}
	e.number(p)
	if p.Requests {
		e.requests.enter(p)
	}
	return p
}

// SetReceiveLimit changes how many bytes may wait; 0 means the default. What waits stays.
func (p *Port) SetReceiveLimit(n int) {
	if n == 0 {
		n = DefaultReceiveLimit
	}
	p.ReceiveLimit = n
}

// number gives a socket its number, unless it has one.
func (e *Engine) number(p *Port) {
	for p.number == 0 || e.ports[p.number] != nil && e.ports[p.number] != p {
		p.number = e.cfg.Chance.Port()
	}
	e.ports[p.number] = p
}

// putPort has messages to a port's number come to it, whatever had the number before.
func (e *Engine) putPort(p *Port) {
	e.ports[p.number] = p
	e.lastPort = nil
}

// port returns the socket with a number, or nil. Mostly it is the same as last time.
func (e *Engine) port(number uint32) *Port {
	if p := e.lastPort; p != nil && p.number == number {
		return p
	}
	p := e.ports[number]
	if p != nil {
		e.lastPort = p
	}
	return p
}

// Addr is the socket's address.
func (p *Port) Addr() frame.SocketAddr { return frame.SocketAddr{Port: p.number, Node: p.e.addr} }

// Pending is the number of messages that wait to be read.
func (p *Port) Pending() int { return p.queue.Len() }

// Read takes the first waiting message and copies as much of its data as fits
// into b; ok is false when none waits.
func (p *Port) Read(b []byte) (n int, r Received, ok bool) {
	if p.queue.Len() == 0 {
		return 0, Received{}, false
	}
	r = *p.queue.At(0)
	p.queue.Drop()
	if p.ManualAck {
		p.keep(&r)
	}
	if r.data == nil {
		n = p.data.pop(b, r.Len)
	} else {
		n = copy(b, r.data)
		r.letGo()
	}
	p.queued -= r.Len + recordCost
	p.recount()
	if n < r.Len {
		p.stats.Truncated++
	}
	return n, r, true
}

// Take is Read without a copy, where that can be: it hands out the memory that data is
// in. The caller releases hold, if that is not nil, when he has done with it. A short
// message is copied into buf, or what replaces it.
func (p *Port) Take(buf []byte) (data []byte, hold *netdev.Buffer, r Received, ok bool) {
	return p.take(buf, 0)
}

// take is Take of a message of which the first bytes are gone.
func (p *Port) take(buf []byte, gone int) (data []byte, hold *netdev.Buffer, r Received, ok bool) {
	if p.queue.Len() == 0 {
		return nil, nil, Received{}, false
	}
	r = *p.queue.At(0)
	p.queue.Drop()
	if p.ManualAck {
		p.keep(&r)
	}
	left := r.Len - gone
	p.queued -= left + recordCost
	p.recount()
	data, hold = r.data, r.lent
	r.data, r.lent = nil, nil
	if data == nil {
		data = slices.Grow(buf[:0], left)[:left]
		p.data.pop(data, left)
		return data, nil, r, true
	}
	return data[gone:], hold, r, true
}

// accepts reports whether there is room for a message of n bytes.
// Source: docs/spec/07-sockets.md §7.
func (p *Port) accepts(n int, imp frame.Importance) bool {
	return p.queued+n+recordCost <= p.ReceiveLimit<<imp && (p.Account == nil || p.Account.Affords(n+recordCost))
}

// push queues a message whose data lies in a Buffer, or somewhere else if in is nil,
// and returns what is known of it, to be filled in.
func (p *Port) push(data []byte, in *netdev.Buffer) *Received {
	r := p.store(data, in)
	p.makeReady()
	return r
}

// store is push without telling the owner.
func (p *Port) store(data []byte, in *netdev.Buffer) *Received {
	r := p.queue.Extend()
	r.Len = len(data)
	switch {
	case r.Len <= CopyBreak:
		p.data.push(data)
	case in != nil && in.MayKeep():
		in.Hold()
		r.lent, r.data = in, data
	default:
		p.data.push(data)
	}
	p.queued += r.Len + recordCost
	p.recount()
	p.stats.queuedOne(r.Len, p.queue.Len(), p.queued)
	return r
}

// pushLocal queues a message of this node, whose data lies in a Buffer if in is not nil.
func (p *Port) pushLocal(r Received, data []byte, in *netdev.Buffer) {
	x := p.push(data, in)
	r.Len, r.data, r.lent = x.Len, x.data, x.lent
	*x = r
	if p.Requests {
		p.answered(r.From)
	}
}

// leastRing is what a ring begins with: most sockets never hold more at a time.
const leastRing = 512

// A ring is a byte queue that grows to what it once held.
type ring struct {
	buf  []byte // length a power of two
	head int
	n    int
}

func (q *ring) push(d []byte) {
	if q.n+len(d) > len(q.buf) {
		size := max(leastRing, len(q.buf))
		for size < q.n+len(d) {
			size *= 2
		}
		buf := make([]byte, size)
		n := copy(buf, q.buf[q.head:min(q.head+q.n, len(q.buf))])
		copy(buf[n:], q.buf[:q.n-n])
		q.buf, q.head = buf, 0
	}
	at := (q.head + q.n) & (len(q.buf) - 1)
	n := copy(q.buf[at:], d)
	copy(q.buf, d[n:])
	q.n += len(d)
}

// clear drops all, and the memory of what would not be spare.
func (q *ring) clear() {
	q.head, q.n = 0, 0
	if len(q.buf) > maxRoom {
		q.buf = nil
	}
}

// peek copies the first bytes into b, which has no more than there are.
func (q *ring) peek(b []byte) { copy(b[copy(b, q.buf[q.head:]):], q.buf) }

// pop removes n bytes and copies as many of them as fit into b.
func (q *ring) pop(b []byte, n int) int {
	if n == 0 {
		return 0
	}
	c := b[:min(len(b), n)]
	k := copy(c, q.buf[q.head:])
	copy(c[k:], q.buf)
	q.head = (q.head + n) & (len(q.buf) - 1)
	q.n -= n
	return len(c)
}
