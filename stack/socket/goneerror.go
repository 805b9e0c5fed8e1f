// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"fmt"
	"net"
	"syscall"
)

// A GoneError is why a call of an attached node has ended: the daemon has. Calls of
// connections, and calls that ask or change the node, end with it; those of other sockets
// wait for the daemon that comes after it, see Attach. It unwraps to syscall.ECONNRESET, and
// to net.ErrClosed.
type GoneError struct {
	Reason string // as the daemon, or the system, says
	// Unanswered says that the request had been sent: whether the daemon did what was asked
	// for is not known.
	Unanswered bool
	// Errno is why the daemon has ended this one socket, as what the program sent was no record;
	// 0: it has ended itself. It is unwrapped to, too.
	Errno syscall.Errno
}

func (e *GoneError) Error() string {
	what := "the daemon is gone"
	if e.Errno != 0 {
		what = "the daemon has ended this socket"
	}
	if e.Unanswered {
		what += ", and has not answered"
	}
	return what + ": " + e.Reason
}

// Unwrap returns syscall.ECONNRESET and net.ErrClosed, and Errno if there is one.
func (e *GoneError) Unwrap() []error {
	if e.Errno != 0 {
		return []error{syscall.ECONNRESET, net.ErrClosed, e.Errno}
	}
	return []error{syscall.ECONNRESET, net.ErrClosed}
}

// A ReattachError is why an attached node, or one of its sockets, has ended for good: a daemon
// is there again, and refuses it for a reason that does not pass. It unwraps to that reason,
// and to net.ErrClosed.
type ReattachError struct {
	Path   string   // of the daemon's socket
	Socket net.Addr // the address that the socket had; nil: the whole node is refused
	Err    error    // *attach.VersionError, syscall.EPERM, EACCES and others
}

func (e *ReattachError) Error() string {
	if e.Socket == nil {
		return fmt.Sprintf("the daemon that is at %s now refuses this program: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("the daemon that is at %s now refuses the socket that was %v: %v", e.Path, e.Socket, e.Err)
}

// Unwrap returns the reason and net.ErrClosed.
func (e *ReattachError) Unwrap() []error { return []error{e.Err, net.ErrClosed} }
