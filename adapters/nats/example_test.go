// SPDX-License-Identifier: Apache-2.0

package tipcnats_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	tipcnats "github.com/utipc/utipc/adapters/nats"
	"github.com/utipc/utipc/stack"
)

// A server and a client on one node.
func Example() {
	ctx := context.Background()
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: 1}) // in a program: Bearers
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)
	ln, err := node.Listen(ctx, "tipc", stack.Service{Type: 18888, Instance: 4222})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{DontListen: true, NoLog: true, NoSigs: true})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	s.ReadyForConnections(time.Minute)
	go tipcnats.Serve(ln, s)

	conn, err := nats.Connect("nats://18888:4222", tipcnats.Options(node)...)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	conn.Subscribe("greet", func(m *nats.Msg) { m.Respond([]byte("hello, " + string(m.Data))) })
	m, err := conn.Request("greet", []byte("bob"), time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", m.Data)
	// Output: hello, bob
}
