// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net"

	"github.com/utipc/utipc/stack/internal/backend"
)

// Ack implements backend.Packet.
func (c *Packet) Ack(receipt uint64) error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return backend.OpError("ack", c.network, c.local, nil, net.ErrClosed)
	}
	c.port.Ack(receipt)
	return nil
}
