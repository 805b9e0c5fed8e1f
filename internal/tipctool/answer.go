// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A usageFault is what the tool itself says of the words.
type usageFault string

func (e usageFault) Error() string { return string(e) }

// A remark is a complaint that tipc(8) prints as it is.
type remark string

func (e remark) Error() string { return string(e) }

// A noNode is why there is no node to ask: nothing that it answered.
type noNode struct{ error }

func (e noNode) Unwrap() error { return e.error }

// said makes an error of the tool's own.
func said(format string, args ...any) error { return usageFault(fmt.Sprintf(format, args...)) }

// longestAnswer bounds what is printed of an error, in bytes: some of it may have come
// from a daemon.
const longestAnswer = 512

// Answer is what is printed for an error, with a newline: "error, …" for what is wrong
// with the words, and for a node that refuses its reason and "kernel answers: " with the
// text of its errno, as tipc(8) says it.
func Answer(err error) string {
	var c usageFault
	var bare remark
	var r *admin.Refusal
	var errno syscall.Errno
	var missing noNode
	switch {
	case errors.As(err, &c):
		return "error, " + string(c) + "\n"
	case errors.As(err, &bare):
		return string(bare) + "\n"
	case errors.Is(err, context.Canceled):
		return "error, interrupted\n"
	case errors.As(err, &missing):
		return "error, " + printable.Prefix(err.Error(), longestAnswer) + "\n"
	case errors.As(err, &r) && r.Reason != "":
		return "Error: " + printable.Prefix(r.Reason, longestAnswer) + "\nkernel answers: " + errnoText(r.Errno) + "\n"
	case errors.As(err, &r):
		return "kernel answers: " + errnoText(r.Errno) + "\n"
	case errors.Is(err, stack.ErrConfig):
		return "kernel answers: " + errnoText(syscall.EINVAL) + "\n"
	case errors.As(err, &errno):
		return "kernel answers: " + errnoText(errno) + "\n"
	}
	return "error, " + printable.Prefix(err.Error(), longestAnswer) + "\n"
}

// errnoText is the text of an errno as C libraries have it: with a capital.
func errnoText(e syscall.Errno) string {
	s := e.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

var errInvalid = &admin.Refusal{Errno: syscall.EINVAL}
