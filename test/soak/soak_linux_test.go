// SPDX-License-Identifier: Apache-2.0

// Package soak runs two nodes over each driver for as long as UTIPC_SOAK says, and
// looks for what leaks: chunks, descriptors, goroutines, memory.
package soak

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// length is how long each driver runs: 15 minutes in the long size of the tests.
func length(t *testing.T) time.Duration {
	text := os.Getenv("UTIPC_SOAK")
	if text == "" {
		if testing.Short() {
			return time.Second
		}
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("UTIPC_SOAK: %v", err)
	}
	return d
}

var drivers = []struct {
	name string
	open func(name string, end int) (netdev.Device, error)
	mtu  int
}{
	{"af_packet", func(name string, _ int) (netdev.Device, error) { return xdp.OpenPacket(name, nil) }, 1500},
	{"af_packet, large frames", func(name string, _ int) (netdev.Device, error) { return xdp.OpenPacket(name, nil) }, 9000},
	{"af_xdp generic", func(name string, _ int) (netdev.Device, error) {
		return xdp.OpenXSK(name, &xdp.XSKConfig{Mode: xdp.ModeGeneric})
	}, 1500},
	{"af_xdp native", func(name string, _ int) (netdev.Device, error) {
		return xdp.OpenXSK(name, &xdp.XSKConfig{Mode: xdp.ModeNative})
	}, 1500},
	{"udp", openUDP, 1500},
}

func openUDP(_ string, end int) (netdev.Device, error) {
	addr := func(end int) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, 9, byte(end + 1)}), udp.DefaultPort)
	}
	return udp.Open(udp.Config{Local: addr(end), Remotes: []netip.AddrPort{addr(1 - end)}, MTU: 1472})
}

// Proves: device.leaks
func TestSoak(t *testing.T) {
	netns.Require(t)
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			a, b := netns.New(t), netns.New(t)
			netns.Veth(t, a, b, "tipc0", "tipc1", d.mtu)
			for i, ns := range []*netns.NS{a, b} {
				ns.Run("ip", "addr", "add", fmt.Sprintf("10.9.9.%d/24", i+1), "dev", fmt.Sprintf("tipc%d", i))
			}
			open := func(end int) (dev netdev.Device) {
				[]*netns.NS{a, b}[end].Do(func() {
					var err error
					if dev, err = d.open(fmt.Sprintf("tipc%d", end), end); err != nil {
						t.Error(err)
					}
				})
				if dev == nil {
					t.FailNow()
				}
				return dev
			}
			run(t, open, length(t), func(up bool) {
				state := map[bool]string{true: "up", false: "down"}[up]
				a.Run("ip", "link", "set", "tipc0", state)
			})
		})
	}
}

// A state is what must not grow.
type state struct{ descriptors, goroutines int }

func now(t *testing.T) state {
	runtime.GC() // finalizers and cleanups close what only they know of
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return state{len(fds), runtime.NumGoroutine()}
}

// settle waits until no more is in use than was before.
func settle(t *testing.T, before state) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; runtime.Gosched() {
		s := now(t)
		if s.descriptors <= before.descriptors && s.goroutines <= before.goroutines {
			return
		}
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("in use at the end %+v, before %+v\n%s", s, before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// run has generations of two nodes that talk in several ways at once, the last
// third of each with the interface going down and up, until the time is over.
func run(t *testing.T, open func(end int) netdev.Device, total time.Duration, link func(up bool)) {
	before := now(t)
	generations, messages := 0, uint64(0)
	for end := time.Now().Add(total); generations < 2 || time.Now().Before(end); generations++ {
		share := min(max(total/8, 300*time.Millisecond), 10*time.Second)
		messages += generation(t, open, share, link)
		settle(t, before)
	}
	t.Logf("%d generations, %d messages in %v, nothing left: %+v", generations, messages, total, before)
}

func generation(t *testing.T, open func(end int) netdev.Device, share time.Duration, link func(up bool)) uint64 {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var nodes [2]*stack.Node
	for i := range nodes {
		n, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{open(i)}, Address: stack.NodeAddr(i + 1), Tolerance: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = n
	}
	var wg sync.WaitGroup
	var got atomic.Uint64
	for i, n := range nodes {
		svc := stack.Service{Type: 18888, Instance: uint32(i)}
		conn, err := stack.SocketConfig{Returnable: true}.ListenPacket(ctx, n, "tipcrdm", svc)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { // echoes what asks for it
			buf := make([]byte, 9000)
			for {
				k, from, err := conn.ReadFrom(buf)
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err == nil && k > 0 {
					got.Add(1)
					if buf[0] == 1 {
						conn.WriteTo(buf[:k], from)
					}
				}
			}
		})
	}
	for i, n := range nodes {
		if err := n.WaitFor(ctx, stack.Service{Type: 18888, Instance: uint32(1 - i)}); err != nil {
			t.Fatal(err)
		}
	}
	stop := time.Now().Add(share)
	for i, n := range nodes {
		to := stack.Service{Type: 18888, Instance: uint32(1 - i)}
		for kind, size := range []int{64, 1, 1300} {
			conn, err := n.ListenPacket(ctx, "tipcrdm", nil)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				buf := make([]byte, size)
				if kind == 0 {
					buf[0] = 1 // wants an answer
				}
				for time.Now().Before(stop) {
					conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
					_, err := conn.WriteTo(buf, to)
					if err == nil && kind == 0 {
						conn.ReadFrom(buf)
						buf[0] = 1
					}
				}
			})
		}
	}
	for time.Until(stop) > share/3 {
		runtime.Gosched()
		if err := nodes[0].WaitFor(ctx, stack.Service{Type: 18888, Instance: 0}); err != nil {
			t.Fatal(err)
		}
	}
	link(false)
	link(true)
	for _, n := range nodes { // the cluster comes together again
		for i := range nodes {
			if err := n.WaitFor(ctx, stack.Service{Type: 18888, Instance: uint32(i)}); err != nil {
				t.Errorf("after the interface was down: %v; %+v", err, must.Get(n.Admin().Links(context.Background())))
			}
		}
	}
	for _, n := range nodes {
		if err := n.Close(ctx); err != nil {
			t.Log(err) // the link may be going down just now
		}
	}
	wg.Wait()
	for i, n := range nodes {
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("node %d: %d of %d chunks free", i+1, s.ChunksFree, s.ChunksTotal)
		}
	}
	return got.Load()
}
