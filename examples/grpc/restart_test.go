// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// A gRPC server and its client, neither of which has a line about daemons, go on with the next
// daemon after theirs was killed.
//
// Mutation: a Listener whose Accept returns the daemon's end.
//
// Proves: daemon.dies, house.docs
func TestServerOutlivesTheDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "utipc.sock")
	kill := nodes.StartDaemon(t, path)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	n, err := stack.Attach(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(ctx)
	ln, err := n.Listen(ctx, "tipc", service)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	conn, err := grpc.NewClient("passthrough:///"+service.String(),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return n.DialContext(ctx, "tipc", address)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := healthpb.NewHealthClient(conn)
	check := func() error {
		_, err := client.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
		return err
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	kill()
	answered := make(chan error, 1) // asked for while there is no daemon
	go func() {
		err := check()
		if err != nil { // it was sent on the connection that ended, whose end gRPC had not seen
			err = check()
		}
		answered <- err
	}()
	nodes.StartDaemon(t, path)
	ready := time.Now()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	t.Logf("the first answer came %v after the daemon was back; target 1s", time.Since(ready).Round(time.Millisecond))
	select {
	case err := <-served:
		t.Fatalf("the server ended: %v", err)
	default:
	}
	server.Stop()
	if err := <-served; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
