// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// ManageError puts err into a *net.OpError, with its errno.
func ManageError(op string, err error) error {
	if err == nil {
		return nil
	}
	return OpError(op, "tipc", nil, nil, Refused(err))
}

// Refuse makes a Refusal of a text.
func Refuse(errno syscall.Errno, reason string) error {
	return &admin.Refusal{Errno: errno, Reason: reason}
}

// Refused gives err the errno that a kernel would answer: EINVAL for what cannot be,
// ENXIO for what is not there. Others stay as they are.
func Refused(err error) error {
	switch r := (*admin.Refusal)(nil); {
	case errors.As(err, &r):
		return err
	case errors.Is(err, engine.ErrConfig):
		return &admin.Refusal{Errno: syscall.EINVAL, Err: err}
	case errors.Is(err, engine.ErrUnreachable):
		return &admin.Refusal{Errno: syscall.ENXIO, Err: err}
	}
	return err
}
