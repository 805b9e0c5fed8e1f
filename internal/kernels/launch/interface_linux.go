// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/xdp"
)

// openInterface opens one as the stack itself would: AF_XDP or AF_PACKET.
func openInterface(name string) (stack.Bearer, error) { return xdp.Open(name, nil) }
