// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"

	"github.com/utipc/utipc/stack"
)

// ourCaster makes a socket of ours that multicasts in one way.
func ourCaster(ctx context.Context, n *stack.Node, _ method) (*stack.PacketConn, error) {
	return n.ListenPacket(ctx, "tipcrdm", nil)
}
