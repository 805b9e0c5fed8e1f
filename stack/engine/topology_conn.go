// SPDX-License-Identifier: Apache-2.0

package engine

import (
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

// A topologyLine is the connection layer's user for the topology service.
type topologyLine struct{ *topology }

func (t topologyLine) accepted(now time.Duration, c *Conn) { t.topology.accepted(now, c) }

func (t topologyLine) message(now time.Duration, c *Conn, data []byte) {
	t.topology.message(now, c, data)
}

func (t topologyLine) writable(now time.Duration, c *Conn) { t.topology.writable(now, c) }

func (t topologyLine) ended(now time.Duration, c *Conn) { t.topology.ended(now, c) }
