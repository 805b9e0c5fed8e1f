// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame"
)

// Errors that are what they are by identity.
var (
	// ErrVoid means a Buffer that was sent or released.
	ErrVoid = errors.New("stack: the Buffer is void")
	// ErrNoRoom means that a Reply would have had to wait: the link to its destination is
	// congested, or all of the node's memory is in use.
	ErrNoRoom = errors.New("stack: no room to send without waiting")
	// ErrEmpty means a request or an answer without data: such a message is never seen.
	ErrEmpty = errors.New("stack: an empty message would not be seen")
	// ErrNoAddress means a node without an address (Config.NoBearers), as long as it has
	// none: it has no sockets.
	ErrNoAddress = errors.New("stack: the node has no address yet")
)

// A RejectError is a message of one's own that came back: from Node.Call, and from
// ReadFrom of a socket with SocketConfig.Returnable, with the beginning of the message
// as data.
type RejectError struct {
	Code frame.ErrorCode
	Dest frame.SocketAddr // the socket, or port 0 on the node that found no name
	Name frame.Service    // that it was sent to; its type is 0 of what was sent to a socket
}

func (e *RejectError) Error() string {
	if e.Name.Type != 0 {
		return fmt.Sprintf("message to %v at %v rejected: %v", e.Name, e.Dest, e.Code)
	}
	return fmt.Sprintf("message to %v rejected: %v", e.Dest, e.Code)
}

// An UnsentError means that not all that was accepted for sending has arrived: of a
// connection, bytes that its Write had taken; of Node.Close, packets that other nodes had not
// acknowledged, and bytes of connections that the Close of these has not reported.
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
