// SPDX-License-Identifier: Apache-2.0

package stack

// Ack says that the message with a Receipt was taken, on a socket with ManualAck: it is not
// returned to its sender any more. A receipt that nothing waits for, as its message was
// acknowledged already, or another daemon has come since it was read, changes nothing. ReadFrom
// and Read, which do not tell the receipt, acknowledge what they return.
//
// To answer a Call, acknowledge first: the answer ends the call, and what would come back after
// that might be taken for the end of another.
//
// On an attached node Ack does not wait for the daemon, which carries it out before what the
// program sends next from this socket. Errors, inside *net.OpError: net.ErrClosed; of an
// attached node those of a write that cannot reach the daemon, such as os.ErrDeadlineExceeded.
func (c *PacketConn) Ack(receipt uint64) error { return c.b.Ack(receipt) }
