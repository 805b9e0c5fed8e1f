// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Losing every frame whose first byte is odd, and nothing else.
func Example() {
	odd := func(f []byte) bool { return f[frame.EthernetLen]%2 == 1 }
	l := &line{room: -1} // any device
	j := fault.New(l, fault.Config{Out: fault.Faults{Loss: 1, Match: odd}})

	arena := netdev.NewArena(netdev.ArenaConfig{Small: 16})
	j.Attach(arena, nil)
	bufs := marked(arena, []byte{1, 2, 3, 4})
	n, _ := j.Transmit(bufs)
	_, out := j.Counts()
	fmt.Println("taken", n, "sent", l.sent, "lost", out.Lost)
	release(bufs)
	// Output: taken 4 sent [2 4] lost 2
}
