// SPDX-License-Identifier: Apache-2.0

package stack

import "context"

// NextReport waits for the report of a message that was taken and could not be sent,
// oldest first, until ctx is done. Only an attached node without SyncErrors makes any: of
// all others a write returns its own error, and NextReport waits. A program that is to
// work on either calls it in a goroutine, or now and then TryNextReport.
//
// Up to 64 reports wait; then the oldest is dropped for the next. A message of a Returnable
// socket for which nobody has the name, or whose node is lost, comes back to ReadFrom
// instead, as one that was rejected further on. Where a socket has a default destination
// (DialPacket) a read ends with the oldest report as its error, which is no report then.
// What waits when the socket is closed, or its daemon ends, can still be read; NextReport
// goes on with the daemon that comes next. Of what the one before had not dealt with when it
// ended there is no report.
//
// Errors, inside *net.OpError: net.ErrClosed, *ReattachError, the context's; with
// AttachConfig.NoReattach *GoneError.
func (c *PacketConn) NextReport(ctx context.Context) (SendReport, error) { return c.b.NextReport(ctx) }

// TryNextReport is NextReport that does not wait. Errors: syscall.EAGAIN; inside
// *net.OpError net.ErrClosed, *ReattachError, and *GoneError as there.
func (c *PacketConn) TryNextReport() (SendReport, error) { return c.b.TryNextReport() }

// NextReport is as of PacketConn; messages do not come back in a group.
func (g *Group) NextReport(ctx context.Context) (SendReport, error) { return g.b.NextReport(ctx) }

// TryNextReport is as of PacketConn.
func (g *Group) TryNextReport() (SendReport, error) { return g.b.TryNextReport() }
