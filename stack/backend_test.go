// SPDX-License-Identifier: Apache-2.0

package stack

// The local backends of what a node of this process has, for tests that look inside.

func (c *PacketConn) inside() *localPacket { return c.b.(*localPacket) }
func (c *Conn) inside() *localConn         { return c.b.(*localConn) }

func (n *Node) inside() *localNode { return n.b.(*localNode) }
