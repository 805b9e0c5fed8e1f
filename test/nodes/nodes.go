// SPDX-License-Identifier: Apache-2.0

// Package nodes opens small clusters for tests of other software over the stack: in memory, over UDP on the
// loopback interface, or attached, each node to a daemon of its own in this process.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// A Kind is how the nodes of a cluster are connected.
type Kind string

// The kinds.
const (
	Memory   Kind = "memory"   // a network in memory
	UDP      Kind = "udp"      // the loopback interface
	Attached Kind = "attached" // daemons in this process, which are connected in memory
)

// Kinds are all kinds.
var Kinds = []Kind{Memory, UDP, Attached}

// tolerance is a link's: the machine may stand still for others, and a node that is
// closed announces its end.
const tolerance = 20 * time.Second

// Open opens nodes 1001001, 1001002 and so on, and closes those that are open at the end of the
// test. Bindings of one node are known to the others once these have met: see stack.Node.WaitFor.
func Open(tb testing.TB, kind Kind, count int) []*stack.Node {
	tb.Helper()
	segment, ports := hub.New(hub.Config{}), udpBase()
	all := make([]*stack.Node, 0, count)
	for i := range count {
		var dev stack.Bearer
		var err error
		if kind == UDP {
			dev, err = udp.Open(udp.Config{Local: ports.at(i), Remotes: ports.others(i, count)})
		} else {
			dev, err = segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		}
		if err != nil {
			tb.Fatal(err)
		}
		n, err := stack.Open(tb.Context(), stack.Config{
			Bearers: []stack.Bearer{dev}, Address: stack.NodeAddr(0x1001001 + i), Tolerance: tolerance,
		})
		if err != nil {
			tb.Fatal(err)
		}
		closeAtEnd(tb, n)
		if kind == Attached {
			n = attached(tb, n)
		}
		all = append(all, n)
	}
	return all
}

// attached returns a node attached to a daemon for n. The daemon ends when the node is closed.
func attached(tb testing.TB, n *stack.Node) *stack.Node {
	tb.Helper()
	srv, err := daemon.New(n, daemon.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "utipc.sock")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := srv.Shutdown(ctx, "the test has ended"); err != nil {
			tb.Errorf("the daemon's end: %v", err)
		}
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
			tb.Errorf("the daemon ended with %v", err)
		}
	})
	client, err := stack.Attach(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	closeAtEnd(tb, client)
	return client
}

func closeAtEnd(tb testing.TB, n *stack.Node) {
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var lost *stack.UnsentError // by connections that the test has left
		if err := n.Close(ctx); err != nil && !errors.Is(err, net.ErrClosed) && !errors.As(err, &lost) {
			tb.Errorf("close of %v: %v", n.Addr(), err)
		}
	})
}

// An endpoints is where the nodes of one cluster have their UDP sockets. The address is this
// process's, the port differs between its clusters: no two tests on a host meet.
type endpoints struct {
	ip   netip.Addr
	port uint16
}

var clusters atomic.Uint32

func udpBase() endpoints {
	pid := os.Getpid()
	ip := netip.AddrFrom4([4]byte{127, byte(64 | pid>>16&63), byte(pid >> 8), byte(pid)})
	return endpoints{ip, uint16(20000 + clusters.Add(1)*16%10000)}
}

func (e endpoints) at(i int) netip.AddrPort { return netip.AddrPortFrom(e.ip, e.port+uint16(i)) }

func (e endpoints) others(i, count int) (all []netip.AddrPort) {
	for j := range count {
		if j != i {
			all = append(all, e.at(j))
		}
	}
	return all
}

// Each runs test as a subtest for each kind.
func Each(t *testing.T, count int, test func(t *testing.T, all []*stack.Node)) {
	for _, kind := range Kinds {
		t.Run(fmt.Sprint(kind), func(t *testing.T) { test(t, Open(t, kind, count)) })
	}
}
