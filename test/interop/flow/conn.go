// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"errors"
	"net"
	"time"
)

// A Conn is a reliable datagram socket, such as *stack.PacketConn.
type Conn interface {
	// ReadFrom waits for a message. Errors: os.ErrDeadlineExceeded; ErrReturned.
	ReadFrom(b []byte) (n int, from net.Addr, err error)
	// WriteTo waits for room.
	WriteTo(b []byte, to net.Addr) (n int, err error)
	SetReadDeadline(t time.Time) error
}

// ErrReturned means that a message came back, undelivered.
var ErrReturned = errors.New("flow: a message came back")
