// SPDX-License-Identifier: Apache-2.0

// Hello is the program of the README: two nodes, and a message to a name.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/utipc/utipc/stack"
)

func main() {
	ctx := context.Background()
	here := must(stack.OpenString(ctx, "memory:?node=1")) // elsewhere "udp:10.0.0.1", "eth:eth1" or "attach:"
	there := must(stack.OpenString(ctx, "memory:?node=2"))

	clock := stack.Service{Type: 18888, Instance: 17}
	server := must(there.ListenPacket(ctx, "tipcrdm", clock)) // a net.PacketConn that has the name 18888:17
	if err := here.WaitFor(ctx, clock); err != nil {          // until a socket anywhere has the name
		log.Fatal(err)
	}
	client := must(here.ListenPacket(ctx, "tipcrdm", nil))
	must(client.WriteTo([]byte("what time is it?"), clock))

	buf := make([]byte, 100)
	n, from, err := server.ReadFrom(buf)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("node %v asks: %s\n", from.(stack.SocketAddr).Node, buf[:n])
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
