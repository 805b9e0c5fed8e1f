// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// Proves: house.docs
func ExampleOpenPacket() {
	dev, err := xdp.OpenPacket("no-such-device", nil)
	if errors.Is(err, xdp.ErrMissing) {
		fmt.Println("the error lists the interfaces there are")
		return
	}
	if err != nil {
		fmt.Println(err) // says what to do
		return
	}
	defer dev.Close()
	arena := netdev.NewArena(netdev.ArenaConfig{Jumbo: 256, JumboSize: dev.MTU() + frame.EthernetLen})
	if err := dev.Attach(arena, nil); err != nil {
		fmt.Println(err)
		return
	}
	var bufs [64]*netdev.Buffer
	n, err := dev.Receive(bufs[:])
	for _, b := range bufs[:n] {
		fmt.Printf("% x\n", b.Bytes())
		b.Release()
	}
	// Output: the error lists the interfaces there are
}
