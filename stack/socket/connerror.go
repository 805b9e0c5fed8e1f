// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A ConnError is why there is no connection, or no more. It unwraps to
//
//	syscall.ECONNREFUSED    nobody listens there, or the listener has closed
//	ErrWrongNetwork         the listener is of the other network, as *WrongNetworkError says; it is ECONNREFUSED too
//	os.ErrDeadlineExceeded  the request was not answered in time; or what Dial's context said
//	syscall.EPIPE           of a Write: the peer has closed
//	syscall.ECONNRESET      the peer broke off, was killed, or did not keep to the window
//	ErrUnreachable          contact with the peer's node is lost, or the peer does not answer; it is ECONNRESET too
//
// and to *UnsentError, around that, where bytes that Write had taken are lost.
type ConnError struct {
	Peer   frame.SocketAddr // while there was no answer, where the request went
	Reason string
	Code   frame.ErrorCode // in the message that ended it; OK where there was none
	Err    error
}

func (e *ConnError) Error() string {
	if e.Code == frame.OK {
		return fmt.Sprintf("%s: %v", e.Reason, e.Err)
	}
	return fmt.Sprintf("%s (%v): %v", e.Reason, e.Code, e.Err)
}

// Unwrap returns what the error means.
func (e *ConnError) Unwrap() error { return e.Err }

// Is makes a lost connection a reset one.
func (e *ConnError) Is(target error) bool {
	return target == syscall.ECONNRESET && errors.Is(e.Err, engine.ErrUnreachable)
}

// Timeout reports whether the peer did not answer in time.
func (e *ConnError) Timeout() bool {
	var t net.Error
	return errors.As(e.Err, &t) && t.Timeout()
}

// Temporary is as Timeout.
func (e *ConnError) Temporary() bool { return e.Timeout() }
