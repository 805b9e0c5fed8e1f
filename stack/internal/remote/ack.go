// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"net"

	"github.com/utipc/utipc/attach"
)

// A receipt of an attached node has the daemon's in its lower bits, and above them which session
// of the socket it is of: the next daemon numbers its own messages from 1 on.
const receiptBits = 48

// receipt is what the program has for a daemon's receipt.
func (cur *session) receipt(wide uint64) uint64 {
	if wide == 0 {
		return 0
	}
	return uint64(cur.number)<<receiptBits | wide&(1<<receiptBits-1)
}

// Ack implements backend.Packet.
func (c *Packet) Ack(receipt uint64) error {
	if c.IsClosed() {
		return c.opError("ack", nil, net.ErrClosed)
	}
	cur := c.session.Load()
	if uint16(receipt>>receiptBits) != cur.number {
		return nil // the daemon that kept it is gone
	}
	h := attach.Header{Op: attach.OpAck, Wide: receipt & (1<<receiptBits - 1)}
	_, err := cur.line.write(context.Background(), &h, nil)
	if err == nil {
		return nil
	}
	cur.line.mu.Lock()
	err = cur.line.explained(err)
	cur.line.mu.Unlock()
	if isGone(err) { // a read will say so
		return nil
	}
	return c.opError("ack", nil, err)
}
