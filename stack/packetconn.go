// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A PacketConn is a connectionless socket: "tipcrdm", whose messages arrive once
// and in order as long as contact with the other node lasts, or "tipcgram". It is
// safe for concurrent use.
type PacketConn struct {
	writeHalf
	cfg SocketConfig
	lending

	// Guarded by the node's lap lock.
	readHalf
	port   *engine.Port
	active *ActivePort     // whose socket it is, or nil
	from   net.Addr        // of the last message, so that the next from there costs no allocation
	tried  engine.Received // the message that TryReadMsg returned last

	remote net.Addr // the default destination, or nil; it never changes
	to     dest     // the same
}

var _ net.PacketConn = (*PacketConn)(nil)

// ListenPacket makes a socket with default options; see SocketConfig.ListenPacket.
func (n *Node) ListenPacket(ctx context.Context, network string, addr net.Addr) (*PacketConn, error) {
	return SocketConfig{}.ListenPacket(ctx, n, network, addr)
}

// ListenPacket makes a socket and binds it to addr, a Service or a Range, or to
// nothing if addr is nil. network is "tipcrdm" or "tipcgram". Errors, inside
// *net.OpError: net.UnknownNetworkError, ErrReserved, ErrRange, net.ErrClosed, the
// context's.
func (c SocketConfig) ListenPacket(ctx context.Context, n *Node, network string, addr net.Addr) (*PacketConn, error) {
	p, err := c.listen(ctx, n, network, addr)
	if err != nil {
		return nil, opError("listen", network, nil, addr, err)
	}
	return p, nil
}

func (c SocketConfig) listen(ctx context.Context, n *Node, network string, addr net.Addr) (*PacketConn, error) {
	if !isPacket(network) {
		return nil, net.UnknownNetworkError(network)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var r Range
	if addr != nil {
		var err error
		if r, err = bindable(addr); err != nil {
			return nil, err
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if n.far != nil {
		return c.listenFar(ctx, n, network, addr)
	}
	p := &PacketConn{writeHalf: writeHalf{n: n, network: network, nameWait: c.patience(n.cfg)}, cfg: c}
	n.mu.Lock()
	defer n.unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	p.port = n.eng.OpenPort(engine.PortConfig{
		Importance: c.Importance, Returnable: c.Returnable, SrcDroppable: network == "tipcgram",
		ReceiveLimit: c.ReceiveLimit, Account: c.Account.account(), Requests: c.Requests, Owner: p,
	})
	if p.port == nil {
		return nil, ErrTooManySockets
	}
	p.port.SetMethod(c.Multicast)
	p.local = p.port.Addr()
	p.local.Net = network
	if addr != nil {
		if err := p.bind(r, c.Scope); err != nil {
			p.port.Close(n.now())
			return nil, err
		}
	}
	n.sockets[p] = struct{}{}
	return p, nil
}

// isPacket reports whether sockets of a network are connectionless.
func isPacket(network string) bool { return network == "tipcrdm" || network == "tipcgram" }

// bind is called with the lap lock held.
func (c *PacketConn) bind(r Range, scope Scope) error {
	now := c.n.now()
	err := c.port.Bind(now, r, scope)
	c.n.lap(now, false)
	return err
}

// bindable calls addr's methods, so it is for callers without the lap lock.
func bindable(addr net.Addr) (Range, error) {
	switch a := addr.(type) {
	case nil:
		return Range{}, &net.AddrError{Err: "missing address"}
	case Service:
		if a.Node == 0 {
			return a.Range(), nil
		}
	case Range:
		return a, nil
	}
	return Range{}, &net.AddrError{Err: "not a service or service range", Addr: addr.String()}
}

// Bind binds the socket to one more Service or Range, with the scope it was made
// with. Errors as for ListenPacket.
func (c *PacketConn) Bind(addr net.Addr) error {
	if c.far != nil {
		return c.far.bind(attach.OpBind, addr, c.cfg.Scope)
	}
	r, err := bindable(addr)
	if err == nil {
		c.n.mu.Lock()
		defer c.n.unlock()
		err = c.bind(r, c.cfg.Scope)
	}
	if err != nil {
		return opError("bind", c.network, c.local, addr, err)
	}
	return nil
}

// Unbind takes back one binding to exactly this Service or Range. Errors:
// ErrNotBound.
func (c *PacketConn) Unbind(addr net.Addr) error {
	if c.far != nil {
		return c.far.bind(attach.OpUnbind, addr, c.cfg.Scope)
	}
	r, err := bindable(addr)
	if err == nil {
		c.n.mu.Lock()
		defer c.n.unlock()
		scope := c.cfg.Scope
		if scope != NodeScope {
			scope = ClusterScope
		}
		now := c.n.now()
		err = c.port.Unbind(now, r, scope)
		c.n.lap(now, false)
	}
	if err != nil {
		return opError("unbind", c.network, c.local, addr, err)
	}
	return nil
}

// LocalAddr is the socket's own address, a SocketAddr.
func (c *PacketConn) LocalAddr() net.Addr { return c.Addr() }

// A Message tells what is known of a message that was read.
type Message struct {
	From       SocketAddr // the sender; of a message that came back, the socket it was for
	Name       Range      // the name it was sent to, if Named
	Named      bool
	Importance Importance
	Truncated  bool      // the message was longer than the space given
	Error      ErrorCode // not frame.OK: an own message that came back, with its first 1024 bytes

	addr net.Addr // From, as an interface that is made once for messages in a row
}

// ReadFrom waits for a message and copies it into b; what does not fit is lost. An
// empty message is never seen: as with the kernel's sockets it vanishes here.
// With a *RejectError it is one of this socket's own that came back: b has its beginning,
// at most 1024 bytes, and the address is that of the socket it was for.
// Errors, inside *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded,
// *RejectError.
func (c *PacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	k, m, err := c.read(b)
	if err != nil {
		return 0, nil, opError("read", c.network, c.Addr(), nil, err)
	}
	if m.Error != frame.OK {
		return k, m.From, opError("read", c.network, c.Addr(), nil, m.reject())
	}
	return k, m.addr, nil
}

// reject is the error of a message that came back.
func (m *Message) reject() *RejectError {
	e := &RejectError{Code: m.Error, Dest: m.From}
	if m.Named {
		e.Name = Service{Type: m.Name.Type, Instance: m.Name.Lower}
	}
	return e
}

// ReadMsg is ReadFrom with everything that is known of the message; a message that
// came back is told by Error and is no error.
func (c *PacketConn) ReadMsg(b []byte) (int, Message, error) {
	k, m, err := c.read(b)
	if err != nil {
		return 0, Message{}, opError("read", c.network, c.Addr(), nil, err)
	}
	return k, m, nil
}

func (c *PacketConn) read(b []byte) (k int, m Message, err error) {
	if c.far != nil {
		return c.readFar(context.Background(), b, nil)
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	err = c.await(n, &c.closed, func() bool {
		var r engine.Received
		var ok bool
		if k, r, ok = c.port.Read(b); ok {
			m = c.message(&r, k)
		}
		return ok
	}, func() bool { return c.port.Pending() > 0 })
	return k, m, err
}

// message tells what is known of a message of which k bytes were read.
func (c *PacketConn) message(r *engine.Received, k int) Message {
	r.From.Net = c.network
	if last, ok := c.from.(SocketAddr); !ok || last != r.From {
		c.from = r.From
	}
	return Message{From: r.From, Name: r.Name, Named: r.Named(), Importance: r.Importance,
		Truncated: k < r.Len, Error: r.Error, addr: c.from}
}

// WriteTo sends a message to a socket bound to addr, a Service, to the socket addr, a
// SocketAddr, or as multicast to every socket bound to what overlaps addr, a Range: once
// to each, on this node too, and lost where too much waits to be read. The data is
// copied, up to 66000 bytes; without any, nothing arrives. It waits while the link to the
// destination's node is congested, in turn with other calls, see Node.Waits; and with
// Config.NameWait for somebody to bind the name, when nobody has. A nil error means that
// the message was taken;
// it arrives as long as contact with the node lasts. Errors, inside *net.OpError:
// ErrUnreachable, ErrRange, ErrTooLong, net.ErrClosed, *BlockedError at the deadline.
func (c *PacketConn) WriteTo(b []byte, addr net.Addr) (int, error) {
	d, err := destOf(addr)
	if err != nil {
		return 0, opError("write", c.network, c.Addr(), addr, err)
	}
	return c.write(d, b, addr)
}

func (c *PacketConn) write(d dest, b []byte, addr net.Addr) (int, error) {
	if c.far != nil {
		return c.writeFar(context.Background(), d, b, addr)
	}
	err := c.n.submit(c, d, b)
	if err != nil {
		if err = c.n.retry(context.Background(), c, d, b, err); err != nil {
			return 0, c.sendError(addr, err)
		}
	}
	return len(b), nil
}

// Close withdraws the socket's names and returns what waits unread to those who
// sent it, as far as they want it back. Waiting calls end with net.ErrClosed, and so
// does a second Close.
func (c *PacketConn) Close() error {
	if c.far != nil {
		return c.far.close("close", true)
	}
	c.n.mu.Lock()
	defer c.n.unlock()
	if c.closed {
		return opError("close", c.network, c.local, nil, net.ErrClosed)
	}
	c.shut()
	c.n.lap(c.n.now(), false)
	return nil
}

// shut implements socket.
func (c *PacketConn) shut() {
	n := c.n
	c.closed = true
	c.went()
	delete(n.sockets, c)
	c.port.Close(n.now())
	c.wake(n, true)
	n.rouseAll(c.writing)
	if c.active != nil {
		c.active.ended()
	}
}

// put implements sender.
func (c *PacketConn) put(now time.Duration, d dest, data []byte) error {
	switch d.kind {
	case toService:
		return c.port.SendService(now, d.service(), data)
	case toRange:
		return c.port.SendRange(now, d.all(), data)
	}
	return c.port.Send(now, d.socket(), data)
}

// waits implements sender.
func (c *PacketConn) waits(d dest, err error) bool { return blocks(err) || c.awaits(d, err) }

// SetDeadline sets both deadlines; zero means none.
func (c *PacketConn) SetDeadline(t time.Time) error { return c.setDeadlines(&t, &t) }

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (c *PacketConn) SetReadDeadline(t time.Time) error { return c.setDeadlines(&t, nil) }

// SetWriteDeadline sets the time at which blocked writes end with a
// *BlockedError, waiting ones included; zero means never.
func (c *PacketConn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(nil, &t) }

func (c *PacketConn) setDeadlines(read, write *time.Time) error {
	if c.far != nil {
		return c.far.SetDeadlines(read, write)
	}
	c.n.mu.Lock()
	defer c.n.unlock()
	if c.closed {
		return opError("set", c.network, c.local, nil, net.ErrClosed)
	}
	if read != nil {
		c.setReadBy(c.n, *read)
	}
	if write != nil {
		c.setWriteBy(*write)
	}
	return nil
}

// destOf is where a message to addr goes. It calls addr's methods.
func destOf(addr net.Addr) (dest, error) {
	switch a := addr.(type) {
	case Service:
		return serviceDest(a), nil
	case Range:
		return rangeDest(a), nil
	case SocketAddr:
		return socketDest(a), nil
	case nil:
		return dest{}, &net.AddrError{Err: "missing address"}
	}
	return dest{}, &net.AddrError{Err: "not a service, service range or socket address", Addr: addr.String()}
}

func past(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }
