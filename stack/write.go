// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/internal/control"
)

// A Wait is a write that waits.
type Wait struct {
	Socket SocketAddr // that sends
	To     net.Addr
	Bytes  int
	Since  time.Time
	BlockedError
}

// Waits returns the writes that wait now, and what each waits for; who has waited
// longest comes first.
func (n *Node) Waits(ctx context.Context) ([]Wait, error) {
	return waitsCall.Do(ctx, n.b, control.Nothing{})
}
