// SPDX-License-Identifier: Apache-2.0

package control

import "syscall"

// How errors travel from the daemon to a program. Package stack, which has the errors, sets
// both when it is initialized.
var (
	// EncodeError returns what travels of an error: JSON, at most 8 KiB of it, and the errno
	// nearest to it, for those who read no more. Of an error of package stack, or a sentinel
	// of the standard library's that means something there, DecodeError makes the same again;
	// of any other there is the text, and what it wraps. A nil error is 0 and nothing.
	EncodeError func(err error) (syscall.Errno, []byte)

	// DecodeError makes an error of what EncodeError has made of one: errors.Is and errors.As
	// find in it what they found in that. Without a record, as from a daemon that is not
	// ours, it is the errno. Errors: the second result says that the record is none; the
	// first is the errno then.
	DecodeError func(errno syscall.Errno, b []byte) (told, err error)
)
