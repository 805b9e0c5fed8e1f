// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"net"
	"syscall"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

func OpError(op, network string, source, addr net.Addr, err error) error {
	switch {
	case err == engine.ErrClosed:
		err = net.ErrClosed
	case engine.Unreachable(err):
		err = &socket.UnreachableError{Addr: addr, Err: err}
	}
	return &net.OpError{Op: op, Net: network, Source: source, Addr: addr, Err: err}
}

var ErrAgain error = syscall.EAGAIN
