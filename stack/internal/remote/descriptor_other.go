// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package remote

import (
	"errors"
	"syscall"
)

// setSendBuffer fails: there are no attached nodes.
func setSendBuffer(syscall.RawConn, int) error { return errors.ErrUnsupported }

// closeFD does nothing where records carry no descriptors.
func closeFD(int) {}
