// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"net"

	"github.com/utipc/utipc/stack/engine"
)

// Errors of this package stand inside a *net.OpError, as those of package net do.
var (
	// ErrUnreachable means that nobody has bound the name, within Config.NameWait, or
	// that contact with the destination's node is lost.
	ErrUnreachable = engine.ErrUnreachable
	// ErrTooLong means a message of more than 66000 bytes.
	ErrTooLong = engine.ErrTooLong
	// ErrReserved means a service type below 64.
	ErrReserved = engine.ErrReserved
	// ErrRange means a range whose lower bound is above its upper bound.
	ErrRange = engine.ErrRange
	// ErrNotBound means the socket has no such binding.
	ErrNotBound = engine.ErrNotBound
	// ErrVoid means a Buffer that was sent or released.
	ErrVoid = errors.New("stack: the Buffer is void")
	// ErrEmpty means a request or an answer without data: such a message is never seen.
	ErrEmpty = errors.New("stack: an empty message would not be seen")
	// ErrTooManySockets means the node has as many sockets as it may have.
	ErrTooManySockets = engine.ErrSockets
	// ErrConfig means a Config that cannot work.
	ErrConfig = engine.ErrConfig
	// ErrSlow means a subscriber that did not read its events in time.
	ErrSlow = engine.ErrSlow
	// ErrNoAddress means a node without an address (Config.NoBearers), as long as it has
	// none: it has no sockets.
	ErrNoAddress = errors.New("stack: the node has no address yet")
	// ErrTooManySubscriptions means the node has 65535 subscriptions.
	ErrTooManySubscriptions = engine.ErrTooManySubscriptions
)

// A RejectError is a message of one's own that came back: from Node.Call, and from
// ReadFrom of a socket with SocketConfig.Returnable, with the beginning of the message
// as data.
type RejectError struct {
	Code ErrorCode
	Dest SocketAddr // the socket, or port 0 on the node that found no name
	Name Service    // that it was sent to; its type is 0 of what was sent to a socket
}

func (e *RejectError) Error() string {
	if e.Name.Type != 0 {
		return fmt.Sprintf("message to %v at %v rejected: %v", e.Name, e.Dest, e.Code)
	}
	return fmt.Sprintf("message to %v rejected: %v", e.Dest, e.Code)
}

// A MemoryError means that the node's memory can never hold a message of the length; see
// Config.Chunks. It unwraps to syscall.ENOBUFS.
type MemoryError = engine.MemoryError

// An UnsentError means that not all that was accepted for sending has arrived: of a
// connection, bytes that its Write had taken; of Node.Close, packets that other nodes had not
// acknowledged, and bytes of connections, too, that were lost after they had been closed.
type UnsentError struct {
	Packets int   // of Node.Close alone: not acknowledged
	Bytes   int   // that the Write of connections had taken; 0 when Packets is 0: unknown, as the daemon did not answer
	Err     error // why they were not sent, or were not waited for
}

func (e *UnsentError) Error() string {
	if e.Packets == 0 && e.Bytes == 0 {
		return fmt.Sprintf("stack: not all bytes are known to be sent: %v", e.Err)
	}
	if e.Packets == 0 {
		return fmt.Sprintf("stack: %d bytes not sent: %v", e.Bytes, e.Err)
	}
	return fmt.Sprintf("stack: node closed with %d packets unacknowledged, %d bytes of connections not sent: %v", e.Packets, e.Bytes, e.Err)
}

// Unwrap returns why it was not sent, or not waited for.
func (e *UnsentError) Unwrap() error { return e.Err }

func opError(op, network string, source, addr net.Addr, err error) error {
	if err == engine.ErrClosed {
		err = net.ErrClosed
	}
	return &net.OpError{Op: op, Net: network, Source: source, Addr: addr, Err: err}
}
