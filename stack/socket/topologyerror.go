// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"errors"
	"fmt"
	"os"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A TopologyError is why the topology service of another node tells nothing, or no
// more. It unwraps to
//
//	ErrUnreachable          contact with the node is lost
//	syscall.ECONNREFUSED    the node has no topology service
//	os.ErrDeadlineExceeded  the node did not answer
//	io.EOF                  the service has closed: it was asked what it does not take, or was told to wait for too long
//	syscall.ECONNRESET      the service broke the connection off
//	ErrTopology             the service broke the protocol
type TopologyError struct {
	Node   frame.NodeAddr
	Reason string
	Err    error
}

// ErrTopology means a topology service that said what is no answer.
var ErrTopology = naming.ErrEvent

func (e *TopologyError) Error() string {
	return fmt.Sprintf("topology service of %v: %s", e.Node, e.Reason)
}

// Unwrap returns what the error means.
func (e *TopologyError) Unwrap() error { return e.Err }

// Timeout reports whether the node did not answer.
func (e *TopologyError) Timeout() bool { return errors.Is(e.Err, os.ErrDeadlineExceeded) }

// Temporary is as Timeout.
func (e *TopologyError) Temporary() bool { return e.Timeout() }
