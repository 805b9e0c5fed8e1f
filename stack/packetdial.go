// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"

	"github.com/utipc/utipc/stack/internal/backend"
)

var _ net.Conn = (*PacketConn)(nil)

// DialPacket makes a socket with default options and a default destination; see
// SocketConfig.DialPacket.
func (n *Node) DialPacket(ctx context.Context, network string, addr net.Addr) (*PacketConn, error) {
	return SocketConfig{}.DialPacket(ctx, n, network, addr)
}

// DialPacket makes a socket with addr, a Service, a SocketAddr or a Range, as the default
// destination: that of Write. Nothing is sent, and nobody asks whether it is there. As
// with a kernel's connect, messages from anywhere are read, and WriteTo sends to other
// addresses. network is "tipcrdm" or "tipcgram". Errors as for ListenPacket.
func (c SocketConfig) DialPacket(ctx context.Context, n *Node, network string, addr net.Addr) (*PacketConn, error) {
	d, err := backend.DestOf(addr)
	var p *PacketConn
	if err == nil {
		p, err = c.listen(ctx, n, network, nil)
	}
	if err != nil {
		return nil, backend.OpError("dial", network, nil, addr, err)
	}
	p.peer = backend.DefaultDest{Addr: addr, To: d}
	p.b.Connected()
	return p, nil
}

// RemoteAddr is the default destination, or nil.
func (c *PacketConn) RemoteAddr() net.Addr { return c.peer.Addr }

// Write sends a message to the default destination, as WriteTo does. Without one it is an
// error.
func (c *PacketConn) Write(b []byte) (int, error) {
	if c.peer.Addr == nil {
		return 0, backend.OpError("write", c.b.Network(), c.b.Addr(), nil, &net.AddrError{Err: "missing address"})
	}
	return c.b.Write(c.peer.To, b, c.peer.Addr)
}

// Read is ReadFrom, whoever sent the message.
func (c *PacketConn) Read(b []byte) (int, error) {
	n, _, err := c.ReadFrom(b)
	return n, err
}
