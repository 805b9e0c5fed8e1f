// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"

	"github.com/utipc/utipc/internal/hosting"
)

func init() { hosting.Backend = backendOf }

// backendOf is hosting.Backend.
func backendOf(x any) any {
	switch x := x.(type) {
	case *Node:
		return x.b
	case *PacketConn:
		return x.b
	case *Conn:
		return x.b
	case *Group:
		return x.b
	case *Listener:
		return x.b
	case *Poller:
		return x.b
	case *Subscription:
		return x.b
	}
	panic(fmt.Sprintf("stack: %T has no backend", x))
}
