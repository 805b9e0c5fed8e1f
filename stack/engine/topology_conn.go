// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
)

// A topologyConn is what the topology service needs of a connection. The connection
// says topology.accepted, message, writable and ended, in the midst of anything; it is
// called by topology.serve alone, and Close and Abort do not say ended.
type topologyConn interface {
	Write(now time.Duration, b []byte) error // one message, copied; see connFull
	Close(now time.Duration)                 // behind what was written
	Abort(now time.Duration)                 // harmless when it is over
	Peer() frame.SocketAddr
}

// errConnFull is what a connection without room answers.
var errConnFull = errors.New("engine: no room on the connection")

// connFull reports whether a Write failed for what passes; writable is said then.
func connFull(err error) bool { return errors.Is(err, errConnFull) }
