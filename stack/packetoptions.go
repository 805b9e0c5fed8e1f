// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net"
	"slices"

	"github.com/utipc/utipc/attach"
)

// SetImportance sets the importance of what is sent from now on. A message that waits
// for room keeps its place only as far as others of the same importance wait; messages
// of different importance may overtake each other on a busy link. Errors: ErrConfig,
// net.ErrClosed.
func (c *PacketConn) SetImportance(i Importance) error {
	if c.far != nil {
		return c.far.set(attach.OptImportance, int64(i))
	}
	return c.set(func() error {
		if i > Critical {
			return fmt.Errorf("%w: importance %d", ErrConfig, i)
		}
		c.port.Importance = i
		return nil
	})
}

// SetReturnable says whether what is sent from now on comes back when it cannot be
// delivered: to ReadFrom, as *RejectError. A message to a range never does. Errors:
// net.ErrClosed.
func (c *PacketConn) SetReturnable(returnable bool) error {
	if c.far != nil {
		err := c.far.set(attach.OptDestDroppable, truth(!returnable))
		if err == nil {
			c.far.reports.returns.Store(returnable)
		}
		return err
	}
	return c.set(func() error { c.port.Returnable = returnable; return nil })
}

// SetSrcDroppable says how messages are marked from now on that it is no harm to lose on
// their way; a "tipcgram" socket begins with true, a "tipcrdm" socket with false. No
// stack known drops them for it. Errors: net.ErrClosed.
func (c *PacketConn) SetSrcDroppable(droppable bool) error {
	if c.far != nil {
		return c.far.set(attach.OptSrcDroppable, truth(droppable))
	}
	return c.set(func() error { c.port.SrcDroppable = droppable; return nil })
}

// SetReceiveLimit sets how many bytes may wait to be read, as
// SocketConfig.ReceiveLimit; 0 means 2 MiB. What waits already stays. Errors: ErrConfig,
// net.ErrClosed.
func (c *PacketConn) SetReceiveLimit(bytes int) error {
	if c.far != nil {
		return c.far.set(attach.OptReceiveLimit, int64(bytes))
	}
	return c.set(func() error {
		if bytes < 0 {
			return fmt.Errorf("%w: receive limit of %d bytes", ErrConfig, bytes)
		}
		c.port.SetReceiveLimit(bytes)
		return nil
	})
}

// SetMulticast sets how messages to a range reach other nodes from now on. Their order
// is kept. Errors: ErrConfig, net.ErrClosed.
func (c *PacketConn) SetMulticast(m Method) error {
	if c.far != nil {
		return c.far.set(attach.OptMulticast, int64(m))
	}
	return c.set(func() error {
		if m > Replicast {
			return fmt.Errorf("%w: multicast method %d", ErrConfig, m)
		}
		c.port.SetMethod(m)
		return nil
	})
}

// set changes an option with the lap lock held.
func (c *PacketConn) set(change func() error) error {
	c.n.mu.Lock()
	defer c.n.unlock()
	err := error(net.ErrClosed)
	if !c.closed {
		err = change()
	}
	if err != nil {
		return opError("set", c.network, c.local, nil, err)
	}
	return nil
}

// Bindings returns what the socket is bound to, oldest first; nothing of a closed one.
func (c *PacketConn) Bindings() []Binding {
	if c.far != nil {
		return aboutFar[[]Binding](c.far, "socket.bindings")
	}
	c.n.mu.Lock()
	defer c.n.unlock()
	return slices.Clone(c.port.Bindings())
}
