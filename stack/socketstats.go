// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"

	"github.com/utipc/utipc/stack/engine"
)

// SocketStats are what a socket has done; go doc ./stack/engine PortStats has the fields.
type SocketStats = engine.PortStats

// Stats returns what the socket has done; of a closed one, what it had. Of an attached node the
// daemon is asked: the errors are net.ErrClosed of a closed socket, *GoneError, and the
// context's, inside *net.OpError.
func (c *PacketConn) Stats(ctx context.Context) (SocketStats, error) { return c.b.Stats(ctx) }

// Stats is as of PacketConn.
func (c *Conn) Stats(ctx context.Context) (SocketStats, error) { return c.b.Stats(ctx) }

// Stats is as of PacketConn.
func (g *Group) Stats(ctx context.Context) (SocketStats, error) { return g.b.Stats(ctx) }

// Stats is as of PacketConn; the messages are requests, and none of them is sent.
func (l *Listener) Stats(ctx context.Context) (SocketStats, error) { return l.b.Stats(ctx) }
