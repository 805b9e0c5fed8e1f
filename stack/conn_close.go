// SPDX-License-Identifier: Apache-2.0

package stack

import "context"

// Close ends the connection in order: the peer reads what was written, then io.EOF. Close does
// not wait, not for a peer that does not read either: what the node still holds goes as the
// peer makes room, for as long as its node answers; CloseWait and Node.Close wait for that.
// What waits here unread is lost, and all waiting calls end with net.ErrClosed, as a second
// Close does. Errors, inside *net.OpError: *UnsentError of a connection that had ended with
// bytes that were not sent, or that found no place among the closed ones that still hold
// some (docs/reference/limits.md): the peer reads a reset then. The connection is closed in any case.
func (c *Conn) Close() error { return c.b.Close() }

// CloseWrite ends what this end sends, in order: the peer reads all that was written, then io.EOF,
// and may go on writing, which is read here until it closes, or ends its writing too. A Write after
// it fails with syscall.EPIPE, one that waits in another goroutine may. Close is still to be called.
// What was written is accounted for as without it: see UnsentError.
//
// It is known among nodes of this implementation alone. Errors, inside *net.OpError:
// errors.ErrUnsupported when the peer's node is a kernel, or an older version, where nothing is
// sent and the connection stays as it was; *ConnError of one that has ended; net.ErrClosed. Of an
// attached node it waits for room on the way to the daemon, as a Write does, at most until the
// write deadline; os.ErrDeadlineExceeded says that it has done nothing.
func (c *Conn) CloseWrite() error { return c.b.CloseWrite() }

// CloseWait is Close that waits until all that was written has been put on the link to the
// peer's node, and the end behind it; of a connection that is closed already it waits for
// that. Errors: *UnsentError where that became impossible, as the peer closed, broke off or
// was lost. When ctx is done it is an *UnsentError with ctx's error and the bytes that the
// node still holds, which go on as after Close.
func (c *Conn) CloseWait(ctx context.Context) error { return c.b.CloseWait(ctx) }

// Abort ends the connection as a kernel does when a socket is closed: the peer reads
// what was written, then syscall.ECONNRESET. Else as Close.
func (c *Conn) Abort() error { return c.b.Abort() }
