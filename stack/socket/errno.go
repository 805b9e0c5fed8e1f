// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
)

// errnos are what a C program reads of the errors that are what they are by identity.
// Those of connections, and of what a node is told, are errnos already.
var errnos = []struct {
	err   error
	errno syscall.Errno
}{
	{net.ErrClosed, syscall.EBADF},
	{engine.ErrUnreachable, syscall.EHOSTUNREACH},
	{engine.ErrTooLong, syscall.EMSGSIZE},
	{engine.ErrReserved, syscall.EACCES},
	{engine.ErrRange, syscall.EINVAL},
	{engine.ErrNotBound, syscall.EADDRNOTAVAIL},
	{engine.ErrConfig, syscall.EINVAL},
	{ErrEmpty, syscall.EINVAL},
	{ErrVoid, syscall.EINVAL},
	{ErrNoRoom, syscall.EAGAIN},
	{engine.ErrSockets, syscall.ENFILE},
	{engine.ErrTooManySubscriptions, syscall.ENOSPC},
	{engine.ErrTooManyBindings, syscall.ENOSPC},
	{engine.ErrGroup, syscall.ENOSPC},
	{engine.ErrSlow, syscall.EOVERFLOW},
	{ErrTopology, syscall.EPROTO},
	{frame.ErrAddress, syscall.EINVAL},
	{seal.ErrKey, syscall.EINVAL},
	{seal.ErrBusy, syscall.EBUSY},
	{seal.ErrDouble, syscall.EEXIST},
	{seal.ErrNoKey, syscall.ENOENT},
	{errors.ErrUnsupported, syscall.EOPNOTSUPP},
	{os.ErrDeadlineExceeded, syscall.ETIMEDOUT},
	{context.DeadlineExceeded, syscall.ETIMEDOUT},
	{context.Canceled, syscall.ECANCELED},
}

// Errno is the errno nearest to an error of this package, as a C program gets it from the
// daemon; 0 of nil, EIO of what has none.
func Errno(err error) syscall.Errno {
	var (
		errno   syscall.Errno
		blocked *BlockedError
		conn    *ConnError
		reject  *RejectError
		network net.UnknownNetworkError
		addr    *net.AddrError
	)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &blocked) && blocked.Cause == nil:
		return syscall.EAGAIN // as a kernel's after SO_SNDTIMEO
	case errors.As(err, &conn) && errors.Is(conn.Err, engine.ErrUnreachable):
		return syscall.ECONNRESET
	case errors.As(err, &errno):
		return errno
	case errors.As(err, &reject):
		return syscall.ECONNREFUSED
	case errors.As(err, &network):
		return syscall.EPROTONOSUPPORT
	case errors.As(err, &addr):
		return syscall.EINVAL
	}
	for _, e := range errnos {
		if errors.Is(err, e.err) {
			return e.errno
		}
	}
	return syscall.EIO
}
