// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
)

// DontWait is a flag of ReadBatch and WriteBatch: rather than wait they fail with
// syscall.EAGAIN.
const DontWait = 0x40

// A MessageBuffer is one message of a batch.
type MessageBuffer struct {
	Data []byte   // that is sent, or the room for what is read
	N    int      // bytes of Data that were sent or filled in
	Addr net.Addr // to whom it is sent, or from whom it came
	Message
}

// ReadBatch waits for a message as ReadMsg does, and reads all others too that wait
// already, as many as ms has room for: with one turn of the lock, and no further
// wait. It returns how many it has read, at least one without an error. Errors, inside
// *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded, syscall.EAGAIN.
func (c *PacketConn) ReadBatch(ms []MessageBuffer, flags int) (int, error) {
	if len(ms) == 0 {
		return 0, nil
	}
	return c.b.ReadBatch(lentBatch(ms), flags)
}

// WriteBatch sends messages, each as WriteTo does, with one turn of the lock and, as far
// as they have room there, in common packets and with one call of each device. It waits
// for room for the first alone, and returns how many it has sent: fewer than all where
// one would have to wait, or cannot be sent, which the next call with that one tells. An
// Addr of nil is the default destination. Errors, of the first message only, as of
// WriteTo, and syscall.EAGAIN.
func (c *PacketConn) WriteBatch(ms []MessageBuffer, flags int) (int, error) {
	k, err := c.peer.reachable(ms)
	if err != nil {
		return 0, c.b.sendError(ms[0].Addr, err)
	}
	if k == 0 {
		return 0, nil
	}
	return c.b.WriteBatch(lentBatch(ms[:k]), flags, &c.peer)
}

// reachable is how many of the messages have an address that can be, from the first on;
// the error is that of the first one.
func (d *defaultDest) reachable(ms []MessageBuffer) (int, error) {
	for i := range ms {
		if _, err := d.destOf(ms[i].Addr); err != nil {
			if i == 0 {
				return 0, err
			}
			return i, nil
		}
	}
	return len(ms), nil
}
