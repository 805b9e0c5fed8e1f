// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"context"
	"fmt"
	"time"
)

// A MembersError is why WaitMembers ended before there were enough. It unwraps to
// net.ErrClosed, or to what the context said.
type MembersError struct {
	Joined, Wanted int
	Waited         time.Duration
	Err            error
}

func (e *MembersError) Error() string {
	return fmt.Sprintf("%d of %d members after %v: %v", e.Joined, e.Wanted, e.Waited.Round(time.Microsecond), e.Err)
}

// Unwrap returns why it ended.
func (e *MembersError) Unwrap() error { return e.Err }

// Timeout reports whether the context's deadline was over.
func (e *MembersError) Timeout() bool { return e.Err == context.DeadlineExceeded }

// Temporary is as Timeout.
func (e *MembersError) Temporary() bool { return e.Timeout() }
