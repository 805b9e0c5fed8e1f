// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"net"
	"syscall"

	"github.com/utipc/utipc/stack/engine"
)

func OpError(op, network string, source, addr net.Addr, err error) error {
	if err == engine.ErrClosed {
		err = net.ErrClosed
	}
	return &net.OpError{Op: op, Net: network, Source: source, Addr: addr, Err: err}
}

var ErrAgain error = syscall.EAGAIN
