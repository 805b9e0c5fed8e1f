// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
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
	d, err := destOf(addr)
	var p *PacketConn
	if err == nil {
		p, err = c.listen(ctx, n, network, nil)
	}
	if err != nil {
		return nil, opError("dial", network, nil, addr, err)
	}
	p.peer = defaultDest{addr, d}
	p.b.connected()
	return p, nil
}

// A defaultDest is where messages without an address go: addr, which is nil where there is
// none, and to the same.
type defaultDest struct {
	addr net.Addr
	to   dest
}

// destOf is destOf but for the default destination.
func (d *defaultDest) destOf(addr net.Addr) (dest, error) {
	if addr == nil && d.addr != nil {
		return d.to, nil
	}
	return destOf(addr)
}

// RemoteAddr is the default destination, or nil.
func (c *PacketConn) RemoteAddr() net.Addr { return c.peer.addr }

// Write sends a message to the default destination, as WriteTo does. Without one it is an
// error.
func (c *PacketConn) Write(b []byte) (int, error) {
	if c.peer.addr == nil {
		return 0, opError("write", c.b.Network(), c.b.Addr(), nil, &net.AddrError{Err: "missing address"})
	}
	return c.b.Write(c.peer.to, b, c.peer.addr)
}

// Read is ReadFrom, whoever sent the message.
func (c *PacketConn) Read(b []byte) (int, error) {
	n, _, err := c.ReadFrom(b)
	return n, err
}
