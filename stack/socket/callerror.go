// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
)

// A CallError is why a call ended without an answer.
type CallError struct {
	To     net.Addr
	Waited time.Duration    // since the request was sent
	Callee frame.SocketAddr // the socket that has the request; zero when that is not known
	Err    error            // of the context, net.ErrClosed, or ErrUnreachable, see Call
}

func (e *CallError) Error() string {
	return fmt.Sprintf("no answer from %v for %v: %v", e.To, e.Waited.Round(time.Microsecond), e.Err)
}

// Unwrap returns why the call did not wait longer.
func (e *CallError) Unwrap() error { return e.Err }

// Timeout reports whether that was a deadline.
func (e *CallError) Timeout() bool { return e.Err == context.DeadlineExceeded }
