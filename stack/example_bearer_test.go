// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A node begins without a network, and is told of one while it runs.
//
// Proves: house.docs
func ExampleNode_Admin_bearers() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: 0x1001001})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close(ctx)
	events, err := node.Admin().Watch(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer events.Close()

	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1}) // or xdp.Open, udp.Open
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := node.Admin().AddDevice(ctx, port, admin.BearerConfig{}); err != nil { // which has the port closed
		fmt.Println(err)
		return
	}
	if err := node.Admin().DisableBearer(ctx, "eth0"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(node.Admin().DisableBearer(ctx, "eth0"))
	for {
		ev, err := events.Next(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if ev.Bearer != "" {
			fmt.Println(ev)
		}
		if ev.Kind == admin.BearerDisabled {
			return
		}
	}
	// Output:
	// disable bearer tipc: Bearer not found: invalid argument
	// bearer enabled eth0
	// bearer disabled eth0
}
