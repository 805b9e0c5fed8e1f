// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/internal/local"
)

// What is behind a node of this process, and its sockets.

func inside(n *stack.Node) *local.Node               { return hosting.Backend(n).(*local.Node) }
func insidePacket(c *stack.PacketConn) *local.Packet { return hosting.Backend(c).(*local.Packet) }
