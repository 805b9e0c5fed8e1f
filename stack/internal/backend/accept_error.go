// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"syscall"

	"github.com/utipc/utipc/stack/engine"
)

// A passingError is an error of Accept that passes: its server is to try again, as net/http and
// gRPC do for errors that are Temporary.
type passingError struct{ error }

// Temporary is true.
func (e passingError) Temporary() bool { return true }

// Timeout is false: no deadline was over.
func (e passingError) Timeout() bool { return false }

// Unwrap returns the error.
func (e passingError) Unwrap() error { return e.error }

// Passing marks an error of Accept that passes: something that others use up and give back.
func Passing(err error) error {
	if errors.Is(err, engine.ErrSockets) {
		return passingError{err}
	}
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EUSERS, syscall.ENOBUFS, syscall.ENOMEM, syscall.EAGAIN, syscall.ECONNABORTED, syscall.ECANCELED} {
		if errors.Is(err, errno) {
			return passingError{err}
		}
	}
	return err
}
