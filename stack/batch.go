// SPDX-License-Identifier: Apache-2.0

package stack

// ReadBatch waits for a message as ReadMsg does, and reads all others too that wait
// already, as many as ms has room for: with one turn of the lock, and no further
// wait. It returns how many it has read, at least one without an error. Errors, inside
// *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded.
func (c *PacketConn) ReadBatch(ms []Message) (int, error) { return c.readBatch(ms, true) }

// TryReadBatch is ReadBatch that does not wait: its error is syscall.EAGAIN then.
func (c *PacketConn) TryReadBatch(ms []Message) (int, error) { return c.readBatch(ms, false) }

func (c *PacketConn) readBatch(ms []Message, wait bool) (int, error) {
	if len(ms) == 0 {
		return 0, nil
	}
	return c.b.ReadBatch(lentBatch(ms), wait)
}

// WriteBatch sends messages, each as WriteTo does, with one turn of the lock and, as far
// as they have room there, in common packets and with one call of each device. It waits
// for room for the first alone, and returns how many it has sent: fewer than all where
// one would have to wait, or cannot be sent, which the next call with that one tells. Errors,
// of the first message only, as of WriteTo.
func (c *PacketConn) WriteBatch(ms []Message) (int, error) { return c.writeBatch(ms, true) }

// TryWriteBatch is WriteBatch that does not wait: its error is syscall.EAGAIN then.
func (c *PacketConn) TryWriteBatch(ms []Message) (int, error) { return c.writeBatch(ms, false) }

func (c *PacketConn) writeBatch(ms []Message, wait bool) (int, error) {
	k, err := c.peer.Reachable(ms)
	if err != nil {
		return 0, c.b.SendError(ms[0].To, err)
	}
	if k == 0 {
		return 0, nil
	}
	return c.b.WriteBatch(lentBatch(ms[:k]), wait, &c.peer)
}
