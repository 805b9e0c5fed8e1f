// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// A fault is an error of this package: an errno and its sentence.
type fault struct {
	errno syscall.Errno
	text  string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.errno }

func failed(errno syscall.Errno, format string, args ...any) error {
	return &fault{errno, fmt.Sprintf(format, args...)}
}

// Errno is the errno that a C program gets for an error. Source: docs/reference/c-api.md.
func Errno(err error) syscall.Errno {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return syscall.ETIMEDOUT
	}
	return stack.Errno(err)
}

// inTime makes an error of a call that does not wait, and would have had to, EAGAIN.
func inTime(err error, timeout int) error {
	if err != nil && timeout == 0 && Errno(err) == syscall.ETIMEDOUT {
		return syscall.EAGAIN
	}
	return err
}

// within is a context that is done after the timeout.
func within(timeout int) (context.Context, context.CancelFunc) {
	if timeout < 0 {
		return context.Background(), func() {}
	}
	return context.WithDeadline(context.Background(), deadline(timeout))
}

// deadline is when a timeout is over; zero: never.
func deadline(timeout int) time.Time {
	if timeout < 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(timeout) * time.Millisecond)
}

// A turn is one caller's at a time. Others wait for it no longer than their own deadline.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn. Errors: EAGAIN with a timeout of 0, ETIMEDOUT.
func (t turn) take(timeout int, until time.Time) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	switch {
	case timeout == 0:
		return syscall.EAGAIN
	case timeout < 0:
		t <- struct{}{}
		return nil
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case t <- struct{}{}:
		return nil
	case <-timer.C:
		return failed(syscall.ETIMEDOUT, "other calls on the socket took all of %d ms", timeout)
	}
}

func (t turn) leave() { <-t }
