// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
)

func Example() {
	h := hub.New(hub.Config{})
	a, _ := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	b, _ := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 2})

	arena := netdev.NewArena(netdev.ArenaConfig{Small: 16})
	a.Attach(arena, nil)
	b.Attach(arena, func() { fmt.Println("b: frames have arrived") })

	out := arena.Get(64, netdev.Data)
	frame.PutEthernet(out.Extend(frame.EthernetLen), b.Addr(), a.Addr())
	copy(out.Extend(5), "hello")
	a.Transmit([]*netdev.Buffer{out})
	out.Release()

	in := make([]*netdev.Buffer, 64)
	n, _ := b.Receive(in)
	for _, f := range in[:n] {
		fmt.Printf("b: %s\n", f.Bytes()[frame.EthernetLen:])
		f.Release()
	}
	// Output:
	// b: frames have arrived
	// b: hello
}
