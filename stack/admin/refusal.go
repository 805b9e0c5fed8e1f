// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"fmt"
	"strings"
	"syscall"
)

// A Refusal is the answer to a call that would change the node and cannot be carried
// out, in the terms in which a kernel answers tipc(8). It unwraps to Errno and to Err.
// Source: docs/spec/10-management.md.
type Refusal struct {
	Errno  syscall.Errno `json:"errno"`
	Reason string        `json:"reason"` // a sentence such as "Already enabled.", as tipc(8) prints it behind "Error: "; empty: the errno says all
	Err    error         `json:"-"`      // what is behind it, as ErrConfig; nil: nothing
}

func (e *Refusal) Error() string {
	reason := strings.TrimSuffix(e.Reason, ".")
	switch {
	case e.Err != nil && reason != "":
		return fmt.Sprintf("%s: %v: %v", reason, e.Errno, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("%v: %v", e.Errno, e.Err)
	case reason != "":
		return fmt.Sprintf("%s: %v", reason, e.Errno)
	}
	return e.Errno.Error()
}

// Unwrap returns Errno, and Err if there is one.
func (e *Refusal) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Errno}
	}
	return []error{e.Errno, e.Err}
}
