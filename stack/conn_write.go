// SPDX-License-Identifier: Apache-2.0

package stack

// Write sends b: of a "tipcpacket" as one message of up to 66000 bytes, of a stream
// whatever its length. The data is copied. It waits while the peer has not read enough
// of what was sent before, or the link to its node is congested. A nil error means that
// all was taken: it arrives as long as contact with the node lasts. An empty b is no
// message. Errors, inside *net.OpError: ErrTooLong, which is syscall.EMSGSIZE too,
// net.ErrClosed, *ConnError, *BlockedError at the deadline.
func (c *Conn) Write(b []byte) (int, error) { return c.b.Write(b) }
