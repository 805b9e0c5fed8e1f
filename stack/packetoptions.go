// SPDX-License-Identifier: Apache-2.0

package stack

import "context"

// SetImportance sets the importance of what is sent from now on. A message that waits
// for room keeps its place only as far as others of the same importance wait; messages
// of different importance may overtake each other on a busy link. Errors: ErrConfig,
// net.ErrClosed.
func (c *PacketConn) SetImportance(i Importance) error { return c.b.SetImportance(i) }

// SetReturnable says whether what is sent from now on comes back when it cannot be
// delivered: to ReadFrom, as *RejectError. A message to a range never does. Errors:
// net.ErrClosed.
func (c *PacketConn) SetReturnable(returnable bool) error { return c.b.SetReturnable(returnable) }

// SetSrcDroppable says how messages are marked from now on that it is no harm to lose on
// their way; a "tipcgram" socket begins with true, a "tipcrdm" socket with false. No
// stack known drops them for it. Errors: net.ErrClosed.
func (c *PacketConn) SetSrcDroppable(droppable bool) error { return c.b.SetSrcDroppable(droppable) }

// SetReceiveLimit sets how many bytes may wait to be read, as
// SocketConfig.ReceiveLimit; 0 means 2 MiB. What waits already stays. Errors: ErrConfig,
// net.ErrClosed.
func (c *PacketConn) SetReceiveLimit(bytes int) error { return c.b.SetReceiveLimit(bytes) }

// SetMulticast sets how messages to a range reach other nodes from now on. Their order
// is kept. Errors: ErrConfig, net.ErrClosed.
func (c *PacketConn) SetMulticast(m Method) error { return c.b.SetMulticast(m) }

// Bindings returns what the socket is bound to, oldest first; nothing of a closed one.
func (c *PacketConn) Bindings(ctx context.Context) ([]Binding, error) { return c.b.Bindings(ctx) }
