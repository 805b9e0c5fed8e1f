// SPDX-License-Identifier: Apache-2.0

package play

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Socket is one of a kernel, or something that behaves so. Its calls wait. Sockets are
// used by one goroutine that receives and another that does the rest.
type Socket interface {
	Set(option string, value int) error
	Get(option string) (int, error)
	Bind(a net.Addr, s frame.Scope) error
	Listen() error
	Accept() (Socket, error)
	// Connect connects; with data the request carries it.
	Connect(to net.Addr, data []byte) error
	// Send sends to a connection, or to an address that is not nil.
	Send(b []byte, to net.Addr) error
	// Receive takes a message, or some bytes of a stream. A time below zero is for ever.
	// Errors: ErrTime, and those that end a connection.
	Receive(b []byte, wait time.Duration) (Received, error)
	ID() (net.Addr, error)
	Peer() (net.Addr, error)
	Shutdown() error
	Close() error
}

// A Reporter is a Socket whose sends may fail after they have returned.
type Reporter interface {
	// Report waits for the report of such a send and returns its error.
	Report() error
}

// Received tells of what was received.
type Received struct {
	Len  int
	Code frame.ErrorCode // not OK: a message of the socket's own that came back
	Name string          // it was sent to, "" if none, as {type,lower,upper}
	Cut  bool            // it was longer than the room for it

	// Of members of groups.
	Event  string   // MemberJoined, MemberLeft; "": a message
	From   net.Addr // who sent it, or whom it is about
	Member string   // its group and instance, as TYPE:INSTANCE
}

// Name writes a name that a message was sent to.
func Name(r frame.Range) string { return fmt.Sprintf("{%d,%d,%d}", r.Type, r.Lower, r.Upper) }

// What scripts call the errors of sockets, whatever their makers call them.
var (
	ErrEnd         = errors.New("end")         // the peer has shut the connection down
	ErrReset       = errors.New("reset")       // it is gone in another way
	ErrPipe        = errors.New("pipe")        // a write to a connection that has ended
	ErrRefused     = errors.New("refused")     // nobody listens there
	ErrTime        = errors.New("timeout")     // no answer, or nothing to receive, in time
	ErrUnreachable = errors.New("unreachable") // nobody has the name, or no such node
	ErrTooLong     = errors.New("too long")    // for a message
	ErrClosed      = errors.New("closed")      // by this end
	ErrInvalid     = errors.New("invalid")     // such a socket cannot do that
)
