// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
)

// A SilentError is why a probe, or a subscription at another node, was given up: the node
// has not answered. It unwraps to what the context said.
type SilentError struct {
	Node   frame.NodeAddr
	Link   string // to it; empty while there is none
	Waited time.Duration
	Err    error
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("no answer from node %v on link %q for %v: %v", e.Node, e.Link, e.Waited.Round(time.Microsecond), e.Err)
}

// Unwrap returns what the context said.
func (e *SilentError) Unwrap() error { return e.Err }

// Timeout reports whether the context's deadline was over.
func (e *SilentError) Timeout() bool { return errors.Is(e.Err, context.DeadlineExceeded) }

// Temporary is as Timeout.
func (e *SilentError) Temporary() bool { return e.Timeout() }
