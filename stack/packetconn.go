// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A PacketConn is a connectionless socket: "tipcrdm", whose messages arrive once
// and in order as long as contact with the other node lasts, or "tipcgram". It is
// safe for concurrent use.
type PacketConn struct {
	b    backend.Packet
	peer backend.DefaultDest // it never changes
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
		return nil, backend.OpError("listen", network, nil, addr, err)
	}
	return p, nil
}

func (c SocketConfig) listen(ctx context.Context, n *Node, network string, addr net.Addr) (*PacketConn, error) {
	if !isPacket(network) {
		return nil, backend.UnknownNetwork(network, "tipcrdm or tipcgram")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var r Range
	if addr != nil {
		var err error
		if r, err = backend.Bindable(addr); err != nil {
			return nil, err
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	b, err := n.b.ListenPacket(ctx, backend.SocketOptions(c), network, addr, r)
	if err != nil {
		return nil, err
	}
	return &PacketConn{b: b}, nil
}

// isPacket reports whether sockets of a network are connectionless.
func isPacket(network string) bool { return network == "tipcrdm" || network == "tipcgram" }

// Bind binds the socket to one more Service or Range, with the scope it was made
// with. Errors as for ListenPacket.
func (c *PacketConn) Bind(addr net.Addr) error { return c.b.Bind(addr) }

// Unbind takes back one binding to exactly this Service or Range. Errors:
// ErrNotBound.
func (c *PacketConn) Unbind(addr net.Addr) error { return c.b.Unbind(addr) }

// LocalAddr is the socket's own address, a SocketAddr.
func (c *PacketConn) LocalAddr() net.Addr { return c.b.Addr() }

// ReadFrom waits for a message and copies it into b; what does not fit is lost. An
// empty message is never seen: as with the kernel's sockets it vanishes here.
// With a *RejectError it is one of this socket's own that came back: b has its beginning,
// at most 1024 bytes, and the address is that of the socket it was for.
// Errors, inside *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded,
// *RejectError.
func (c *PacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	k, m, err := c.b.Read(filled(b))
	if err != nil {
		return 0, nil, backend.OpError("read", c.b.Network(), c.b.Addr(), nil, err)
	}
	if m.Receipt != 0 {
		err = c.b.Ack(m.Receipt)
	}
	if m.Error != frame.OK {
		return k, m.From, backend.OpError("read", c.b.Network(), c.b.Addr(), nil, m.Reject())
	}
	return k, m.Addr, err
}

// ReadMsg is ReadFrom with everything that is known of the message; a message that
// came back is told by Error and is no error.
func (c *PacketConn) ReadMsg(b []byte) (int, Message, error) {
	k, m, err := c.b.Read(filled(b))
	if err != nil {
		return 0, Message{}, backend.OpError("read", c.b.Network(), c.b.Addr(), nil, err)
	}
	return k, m.Message(), nil
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
	d, err := backend.DestOf(addr)
	if err != nil {
		return 0, backend.OpError("write", c.b.Network(), c.b.Addr(), addr, err)
	}
	return c.b.Write(d, b, addr)
}

// Close withdraws the socket's names and returns what waits unread to those who
// sent it, as far as they want it back. Waiting calls end with net.ErrClosed, and so
// does a second Close.
func (c *PacketConn) Close() error { return c.b.Close() }

// SetDeadline sets both deadlines; zero means none.
func (c *PacketConn) SetDeadline(t time.Time) error {
	return c.b.SetDeadline(backend.Reads|backend.Writes, t)
}

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (c *PacketConn) SetReadDeadline(t time.Time) error { return c.b.SetDeadline(backend.Reads, t) }

// SetWriteDeadline sets the time at which blocked writes end with a
// *BlockedError, waiting ones included; zero means never.
func (c *PacketConn) SetWriteDeadline(t time.Time) error { return c.b.SetDeadline(backend.Writes, t) }
