// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// Errors of this package stand inside a *net.OpError, as those of package net do.
var (
	// ErrUnreachable means that nobody has bound the name, within Config.NameWait, or
	// that contact with the destination's node is lost.
	ErrUnreachable = engine.ErrUnreachable
	// ErrTooLong means a message of more than 66000 bytes, or one whose fragments the
	// node's memory never has room for.
	ErrTooLong = engine.ErrTooLong
	// ErrReserved means a service type below 64.
	ErrReserved = engine.ErrReserved
	// ErrRange means a range whose lower bound is above its upper bound.
	ErrRange = engine.ErrRange
	// ErrNotBound means the socket has no such binding.
	ErrNotBound = engine.ErrNotBound
	// ErrConfig means a Config that cannot work.
	ErrConfig = engine.ErrConfig
	// ErrSlow means a subscriber that did not read its events in time.
	ErrSlow = engine.ErrSlow
	// ErrTooManySubscriptions means the node has 65535 subscriptions.
	ErrTooManySubscriptions = engine.ErrTooManySubscriptions
)

// A RejectError is a message of one's own that came back. Only a socket with
// SocketConfig.Returnable gets them, from ReadFrom, with the beginning of the
// message as data.
type RejectError struct {
	Code ErrorCode
	Dest SocketAddr // the socket, or port 0 on the node that found no name
}

func (e *RejectError) Error() string {
	return fmt.Sprintf("message to %v rejected: %v", e.Dest, e.Code)
}

// A BlockedError is why a write ended at its deadline: the room, or the name, that it
// waited for. It unwraps to os.ErrDeadlineExceeded.
type BlockedError struct {
	Name       net.Addr      // that nobody has bound; nil: there was no room
	Node       NodeAddr      // whose link has no room, or who is the last to acknowledge broadcasts
	Bearer     string        // of that link; empty for the broadcast link
	Link       string        // its name; empty: it was the node's own memory
	Importance Importance    // of the message
	Waiting    int           // packets in the link's backlog
	Limit      int           // and how many may be, at this importance
	Unacked    int           // packets sent and not acknowledged
	Window     int           // and how many may be
	Ahead      int           // writes that wait for the same and began before
	Blocked    time.Duration // how long the write waited
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("blocked for %v: %s: %v", e.Blocked.Round(time.Microsecond), e.Reason(), os.ErrDeadlineExceeded)
}

// Reason says what the write waits for, or waited.
func (e *BlockedError) Reason() string {
	switch {
	case e.Name != nil:
		return fmt.Sprintf("waits for name %v", e.Name)
	case e.Link == "":
		return "all chunks of the node's memory in use"
	case e.Bearer == "":
		return fmt.Sprintf("%s, %v acknowledges last: %d of %d packets unacknowledged, %d wait, limit at importance %v is %d, %d writes ahead",
			e.Link, e.Node, e.Unacked, e.Window, e.Waiting, e.Importance, e.Limit, e.Ahead)
	}
	return fmt.Sprintf("link %s on %s to %v: %d of %d packets unacknowledged, %d wait, limit at importance %v is %d, %d writes ahead",
		e.Link, e.Bearer, e.Node, e.Unacked, e.Window, e.Waiting, e.Importance, e.Limit, e.Ahead)
}

// Unwrap returns os.ErrDeadlineExceeded.
func (e *BlockedError) Unwrap() error { return os.ErrDeadlineExceeded }

// Timeout returns true.
func (e *BlockedError) Timeout() bool { return true }

// Temporary returns true.
func (e *BlockedError) Temporary() bool { return true }

// An UnsentError means that a node was closed before other nodes had
// acknowledged everything.
type UnsentError struct {
	Packets int   // not acknowledged
	Err     error // why Close did not wait longer
}

func (e *UnsentError) Error() string {
	return fmt.Sprintf("stack: node closed with %d packets unacknowledged: %v", e.Packets, e.Err)
}

// Unwrap returns why Close did not wait longer.
func (e *UnsentError) Unwrap() error { return e.Err }

func opError(op, network string, source, addr net.Addr, err error) error {
	if err == engine.ErrClosed {
		err = net.ErrClosed
	}
	return &net.OpError{Op: op, Net: network, Source: source, Addr: addr, Err: err}
}

// blockedError tells of a write that met err and has waited so long.
func blockedError(err error, waited time.Duration) *BlockedError {
	e := &BlockedError{Blocked: waited}
	if b, ok := err.(*engine.Blocked); ok {
		e.Node, e.Bearer, e.Link, e.Importance = b.Node, b.Bearer, b.Link, b.Importance
		e.Unacked, e.Window, e.Waiting, e.Limit, e.Ahead = b.Unacked, b.Window, b.Backlog, b.Limit, b.Ahead
	}
	return e
}
