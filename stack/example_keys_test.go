// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Nodes with one master key send nothing plain. docs/tutorials/programming.md shows parts of this.
//
// Proves: house.docs
func ExampleMasterKey() {
	ctx := context.Background()
	segment := hub.New(hub.Config{})
	text := "0x" + strings.Repeat("5a", 20) // of a file that only this user may read

	var nodes []*stack.Node
	for i := range 2 {
		dev, err := segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			log.Fatal(err)
		}
		key, err := stack.MasterKey(text)
		if err != nil {
			log.Fatal(err)
		}
		node, err := stack.Open(ctx, stack.Config{
			Bearers:    []stack.Bearer{dev},
			Encryption: stack.Encryption{Keys: []stack.Key{key}},
		})
		if err != nil {
			log.Fatal(err)
		}
		defer node.Close(ctx)
		key.Wipe() // the node has a copy
		nodes = append(nodes, node)
	}

	clock := stack.Service{Type: 18888, Instance: 17}
	if _, err := nodes[0].ListenPacket(ctx, "tipcrdm", clock); err != nil {
		log.Fatal(err)
	}
	node := nodes[1]
	if err := node.WaitFor(ctx, clock); err != nil {
		log.Fatal(err)
	}
	if err := node.Admin().Rekey(ctx); err != nil {
		log.Fatal(err)
	}
	s, err := node.Admin().Encryption(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Working, s.Strict, s.Keys.Sealed > 0, s.Keys.Opened > 0, s.PlainDropped)
	// Output: true true true true 0
}
