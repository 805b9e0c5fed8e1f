// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"net"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Wait is a write that waits.
type Wait struct {
	Socket frame.SocketAddr // that sends
	To     net.Addr
	Bytes  int
	Since  time.Time
	BlockedError
}
