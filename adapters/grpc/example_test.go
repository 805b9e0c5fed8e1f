// SPDX-License-Identifier: Apache-2.0

package tipcgrpc_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	tipcgrpc "github.com/utipc/utipc/adapters/grpc"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A server and a client of one process, each with a node of its own.
func Example() {
	ctx := context.Background()
	segment := hub.New(hub.Config{})
	open := func(address byte) *stack.Node {
		dev, err := segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, address})
		if err != nil {
			log.Fatal(err)
		}
		n, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{dev}, Address: stack.NodeAddr(address)})
		if err != nil {
			log.Fatal(err)
		}
		return n
	}
	server, client := open(1), open(2)
	defer client.Close(ctx)
	defer server.Close(ctx)

	ln, err := server.Listen(ctx, "tipc", stack.Service{Type: 18888, Instance: 17})
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, health.NewServer())
	go s.Serve(ln)
	defer s.Stop()

	conn, err := grpc.NewClient("tipc:///18888:17", append(tipcgrpc.DialOptions(client),
		grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
	fmt.Println(answer.GetStatus(), err)
	// Output: SERVING <nil>
}
