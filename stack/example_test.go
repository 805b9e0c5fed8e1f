// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"fmt"
	"log"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Two nodes on a network in memory; on a real one a node's bearer comes from
// xdp.OpenPacket.
//
// Proves: house.docs
func Example() {
	ctx := context.Background()
	segment := hub.New(hub.Config{})
	var nodes []*stack.Node
	for i := range 2 {
		port, err := segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			log.Fatal(err)
		}
		n, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(0x1001001 + i)})
		if err != nil {
			log.Fatal(err)
		}
		defer n.Close(ctx)
		nodes = append(nodes, n)
	}

	weather := stack.Service{Type: 18888, Instance: 17}
	server, err := nodes[0].ListenPacket(ctx, "tipcrdm", weather)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		buf := make([]byte, 100)
		_, from, err := server.ReadFrom(buf)
		if err != nil {
			log.Fatal(err)
		}
		server.WriteTo([]byte("rain"), from)
	}()

	if err := nodes[1].WaitFor(ctx, weather); err != nil {
		log.Fatal(err)
	}
	client, err := nodes[1].ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.WriteTo([]byte("and tomorrow?"), weather); err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, 100)
	n, from, err := client.ReadFrom(buf)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, says node %v\n", buf[:n], from.(stack.SocketAddr).Node)
	// Output: rain, says node 1001001
}

// Proves: house.docs
func ExampleNode_Subscribe() {
	ctx := context.Background()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	node, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{port}, Address: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)
	sub, err := node.Subscribe(ctx, stack.Range{Type: 18888, Lower: 0, Upper: 99})
	if err != nil {
		log.Fatal(err)
	}
	c, err := node.ListenPacket(ctx, "tipcrdm", stack.Service{Type: 18888, Instance: 17})
	if err != nil {
		log.Fatal(err)
	}
	c.Close()
	for ev := range sub.Events(ctx) {
		fmt.Println(map[bool]string{false: "published", true: "withdrawn"}[ev.Withdrawn], ev.Range)
		if ev.Withdrawn {
			break
		}
	}
	// Output:
	// published 18888:17-17
	// withdrawn 18888:17-17
}
