// SPDX-License-Identifier: Apache-2.0

// Grpc has a gRPC server and client speak over TIPC. The server serves on a Listener;
// the client's dialer is Node.DialContext, and the target behind "passthrough:///" a
// service as a host. It is a module of its own, so that who uses the stack does not get
// gRPC with it.
package main

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

var service = stack.Service{Type: 18888, Instance: 50051}

func main() { cluster.Main(2, checkHealth) }

// checkHealth asks the health service that comes with gRPC, once and as a stream.
func checkHealth(ctx context.Context, nodes []*stack.Node) error {
	ln, err := nodes[0].Listen(ctx, "tipc", service)
	if err != nil {
		return err
	}
	state := health.NewServer()
	state.SetServingStatus("printer", healthpb.HealthCheckResponse_SERVING)
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, state)
	go server.Serve(ln)
	defer server.Stop() // closes ln

	if err := nodes[1].WaitFor(ctx, service); err != nil {
		return err
	}
	conn, err := grpc.NewClient("passthrough:///"+service.Host(),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return nodes[1].DialContext(ctx, "tipc", address)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := healthpb.NewHealthClient(conn)
	printer := &healthpb.HealthCheckRequest{Service: "printer"}
	answer, err := client.Check(ctx, printer)
	if err != nil {
		return err
	}
	fmt.Printf("check of %q at %v: %v\n", printer.Service, service, answer.Status)

	watch, err := client.Watch(ctx, printer)
	if err != nil {
		return err
	}
	for i := range 2 {
		answer, err := watch.Recv()
		if err != nil {
			return err
		}
		fmt.Println("watch:", answer.Status)
		if i == 0 {
			state.SetServingStatus("printer", healthpb.HealthCheckResponse_NOT_SERVING)
		}
	}
	return nil
}
