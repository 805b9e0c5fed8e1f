// SPDX-License-Identifier: Apache-2.0

package tipcmemberlist_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/hashicorp/memberlist"

	tipcmemberlist "github.com/utipc/utipc/adapters/memberlist"
	"github.com/utipc/utipc/stack"
)

// Two members on one node.
func Example() {
	ctx := context.Background()
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: 1}) // in a program: Bearers
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)
	create := func(i uint32) *memberlist.Memberlist {
		transport, err := tipcmemberlist.New(ctx, node, stack.Service{Type: 18888, Instance: i})
		if err != nil {
			log.Fatal(err)
		}
		config := memberlist.DefaultLANConfig()
		config.Name, config.Transport, config.LogOutput = fmt.Sprint("member", i), transport, io.Discard
		list, err := memberlist.Create(config)
		if err != nil {
			log.Fatal(err)
		}
		return list
	}
	one, two := create(1), create(2)
	defer one.Shutdown()
	defer two.Shutdown()
	joined, err := two.Join([]string{tipcmemberlist.Address(stack.Service{Type: 18888, Instance: 1})})
	fmt.Println(joined, err, two.NumMembers())
	// Output: 1 <nil> 2
}
