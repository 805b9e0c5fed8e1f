// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// daemonAt has this test's binary be a daemon at the path that it gives.
const daemonAt = "UTIPC_TEST_DAEMON"

func TestMain(m *testing.M) {
	if path := os.Getenv(daemonAt); path != "" {
		fmt.Println(beDaemon(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beDaemon serves a node that is alone, until the process is killed or its input ends.
func beDaemon(path string) error {
	n, err := stack.Open(context.Background(), stack.Config{NoBearers: true, Address: 1})
	if err != nil {
		return err
	}
	srv, err := daemon.New(n, daemon.Config{})
	if err != nil {
		return err
	}
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("ready")
	return srv.Serve(l)
}

// startDaemon starts one, and waits until it is there. kill kills it.
func startDaemon(t *testing.T, path string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), daemonAt+"="+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		c.Process.Kill()
		c.Wait()
		in.Close()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the daemon says %q, %v", line, err)
	}
	return kill
}

// A gRPC server and its client, neither of which has a line about daemons, go on with the next
// daemon after theirs was killed.
//
// Mutation: a Listener whose Accept returns the daemon's end.
//
// Proves: daemon.dies, house.docs
func TestServerOutlivesTheDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "utipc.sock")
	kill := startDaemon(t, path)
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
	startDaemon(t, path)
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
