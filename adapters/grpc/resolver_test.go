// SPDX-License-Identifier: Apache-2.0

package tipcgrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	tipcgrpc "github.com/utipc/utipc/adapters/grpc"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

// limit is how long a test may wait for anything.
const limit = 2 * time.Minute

// serve has a node serve gRPC's health service under names, and returns its listener.
func serve(t *testing.T, n *stack.Node, names ...stack.Service) *stack.Listener {
	t.Helper()
	ln, err := n.Listen(t.Context(), "tipc", names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[1:] {
		if err := ln.Bind(name); err != nil {
			t.Fatal(err)
		}
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return ln
}

// client connects by n to a target.
func client(t *testing.T, n *stack.Node, target string) healthpb.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient(target, append(tipcgrpc.DialOptions(n),
		grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return healthpb.NewHealthClient(conn)
}

// ask makes a call, and returns the node that answered.
func ask(ctx context.Context, t *testing.T, c healthpb.HealthClient, opts ...grpc.CallOption) stack.NodeAddr {
	t.Helper()
	var p peer.Peer
	if _, err := c.Check(ctx, &healthpb.HealthCheckRequest{}, append(opts, grpc.Peer(&p))...); err != nil {
		t.Fatal(err)
	}
	return p.Addr.(stack.SocketAddr).Node
}

// both asks until each of some nodes has answered.
func both(ctx context.Context, t *testing.T, c healthpb.HealthClient, want ...*stack.Node) {
	t.Helper()
	for seen := map[stack.NodeAddr]bool{}; ; {
		seen[ask(ctx, t, c, grpc.WaitForReady(true))] = true
		all := true
		for _, n := range want {
			all = all && seen[n.Addr()]
		}
		if all {
			return
		}
	}
}

// Calls go to all servers of a range in turn, whichever of its names these have, and to each
// once. A server that withdraws its last name gets no more calls though it is still there, no call
// fails for it, and a server that starts gets its share.
//
// Mutation it catches: note that deletes at the first binding withdrawn, or never; report only
// at the start; no round_robin.
func TestServersComeAndGo(t *testing.T) {
	nodes.Each(t, 3, func(t *testing.T, all []*stack.Node) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		first, second := stack.Service{Type: 18888, Instance: 1}, stack.Service{Type: 18888, Instance: 2}
		one := serve(t, all[0], first)
		two := serve(t, all[1], first, second)
		c := client(t, all[2], "tipc:///18888:1-2")
		both(ctx, t, c, all[0], all[1])
		count := map[stack.NodeAddr]int{}
		for range 20 {
			count[ask(ctx, t, c)]++
		}
		if count[all[0].Addr()] != 10 || count[all[1].Addr()] != 10 {
			t.Errorf("of 20 calls the nodes got %v, want 10 each", count)
		}

		if err := errors.Join(two.Unbind(second), one.Unbind(first)); err != nil {
			t.Fatal(err)
		}
		for only := 0; only < 20; { // none fails; the last of them go to the one that is left
			if ask(ctx, t, c) == all[1].Addr() {
				only++
			} else {
				only = 0
			}
		}
		serve(t, all[2], second)
		both(ctx, t, c, all[1], all[2])
	})
}

// A client that comes before any server fails its call soon, and with WaitForReady has it served
// when the server comes.
//
// Mutation it catches: no report before the first event; none after it.
func TestClientComesFirst(t *testing.T) {
	all := nodes.Open(t, nodes.Memory, 2)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	name := stack.Service{Type: 18888, Instance: 3}
	c := client(t, all[1], "tipc:///"+name.String())
	_, err := c.Check(ctx, &healthpb.HealthCheckRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("without a server the call returned %v, want Unavailable", err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := c.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
		answered <- err
	}()
	serve(t, all[0], name)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// What is no service is refused when the client is made use of, with the reason.
//
// Mutation it catches: parse that takes any address.
func TestTargets(t *testing.T) {
	all := nodes.Open(t, nodes.Memory, 1)
	for _, target := range []string{"tipc:///clock", "tipc:///<1001001:17>", "tipc:///18888:17@1001001"} {
		conn, err := grpc.NewClient(target, append(tipcgrpc.DialOptions(all[0]),
			grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
		if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "tipcgrpc: target") {
			t.Errorf("%s: got %v, want Unavailable for the target's sake", target, err)
		}
		conn.Close()
	}
}
