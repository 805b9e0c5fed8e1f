// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
)

// A PacketConn is a connectionless socket: "tipcrdm", whose messages arrive once
// and in order as long as contact with the other node lasts, or "tipcgram". It is
// safe for concurrent use.
type PacketConn struct {
	b    packetBackend
	peer defaultDest // it never changes
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
	b, err := n.b.ListenPacket(ctx, c, network, addr, r)
	if err != nil {
		return nil, err
	}
	return &PacketConn{b: b}, nil
}

// isPacket reports whether sockets of a network are connectionless.
func isPacket(network string) bool { return network == "tipcrdm" || network == "tipcgram" }

// bindable calls addr's methods, so it is for callers without the node's lock.
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
func (c *PacketConn) Bind(addr net.Addr) error { return c.b.Bind(addr) }

// Unbind takes back one binding to exactly this Service or Range. Errors:
// ErrNotBound.
func (c *PacketConn) Unbind(addr net.Addr) error { return c.b.Unbind(addr) }

// LocalAddr is the socket's own address, a SocketAddr.
func (c *PacketConn) LocalAddr() net.Addr { return c.b.Addr() }

// A Message is a message that was read, or is to be written in a batch, and what is known of it.
type Message struct {
	// Data is, for a Handler, the message, in the node's own memory. In a batch it is what is
	// sent, or the room for what is read. Other calls leave it nil.
	Data []byte
	N    int      // in a batch: the bytes of Data that were sent or filled in
	To   net.Addr // in WriteBatch: the destination; nil: the default one

	From       SocketAddr // the sender; of a message that came back, the socket it was for
	Name       Range      // the name it was sent to, if Named
	Named      bool
	Importance Importance
	Truncated  bool      // the message was longer than the space given
	Error      ErrorCode // not frame.OK: an own message that came back, with its first 1024 bytes

	// In a group: From is a member.
	Kind    GroupKind // a message, or an event, which has no data
	Member  Service   // the group's type, and the member's instance
	Private bool      // to this socket alone, else to all or to an instance. An instance that one member has counts as alone
}

// An envelope is what a backend knows of a message that it has read.
type envelope struct {
	From       SocketAddr
	Name       Range
	Named      bool
	Importance Importance
	Truncated  bool
	Error      ErrorCode

	addr net.Addr // From, as an interface that is made once for messages in a row
}

// message is the message without its data.
func (m *envelope) message() Message {
	return Message{From: m.From, Name: m.Name, Named: m.Named, Importance: m.Importance, Truncated: m.Truncated, Error: m.Error}
}

// fill says what is known of a message of a batch, and how much of Data it filled in.
func (m *envelope) fill(x *Message, n int) {
	x.N, x.From, x.Name, x.Named, x.Importance, x.Truncated, x.Error = n, m.From, m.Name, m.Named, m.Importance, m.Truncated, m.Error
}

// ReadFrom waits for a message and copies it into b; what does not fit is lost. An
// empty message is never seen: as with the kernel's sockets it vanishes here.
// With a *RejectError it is one of this socket's own that came back: b has its beginning,
// at most 1024 bytes, and the address is that of the socket it was for.
// Errors, inside *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded,
// *RejectError.
func (c *PacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	k, m, err := c.b.Read(filled(b))
	if err != nil {
		return 0, nil, opError("read", c.b.Network(), c.b.Addr(), nil, err)
	}
	if m.Error != frame.OK {
		return k, m.From, opError("read", c.b.Network(), c.b.Addr(), nil, m.reject())
	}
	return k, m.addr, nil
}

// reject is the error of a message that came back.
func (m *envelope) reject() *RejectError {
	e := &RejectError{Code: m.Error, Dest: m.From}
	if m.Named {
		e.Name = Service{Type: m.Name.Type, Instance: m.Name.Lower}
	}
	return e
}

// ReadMsg is ReadFrom with everything that is known of the message; a message that
// came back is told by Error and is no error.
func (c *PacketConn) ReadMsg(b []byte) (int, Message, error) {
	k, m, err := c.b.Read(filled(b))
	if err != nil {
		return 0, Message{}, opError("read", c.b.Network(), c.b.Addr(), nil, err)
	}
	return k, m.message(), nil
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
		return 0, opError("write", c.b.Network(), c.b.Addr(), addr, err)
	}
	return c.b.Write(d, b, addr)
}

// Close withdraws the socket's names and returns what waits unread to those who
// sent it, as far as they want it back. Waiting calls end with net.ErrClosed, and so
// does a second Close.
func (c *PacketConn) Close() error { return c.b.Close() }

// SetDeadline sets both deadlines; zero means none.
func (c *PacketConn) SetDeadline(t time.Time) error { return c.b.SetDeadlines(&t, &t) }

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (c *PacketConn) SetReadDeadline(t time.Time) error { return c.b.SetDeadlines(&t, nil) }

// SetWriteDeadline sets the time at which blocked writes end with a
// *BlockedError, waiting ones included; zero means never.
func (c *PacketConn) SetWriteDeadline(t time.Time) error { return c.b.SetDeadlines(nil, &t) }

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
