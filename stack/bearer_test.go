// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// plug returns a device of node i on h.
func plug(t testing.TB, h *hub.Hub, name string, i int) *hub.Port {
	t.Helper()
	p, err := h.Port(name, frame.MAC{2, 0, 0, 0, name[len(name)-1], byte(i)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bearerNames are those of a node's bearers.
func bearerNames(n *stack.Node) string {
	var s []string
	for _, b := range must.Get(n.Admin().Bearers(context.Background())) {
		s = append(s, b.Name)
	}
	return strings.Join(s, " ")
}

// openBare opens a node without a bearer.
func openBare(t testing.TB, cfg stack.Config) *stack.Node {
	t.Helper()
	cfg.NoBearers, cfg.Tolerance = true, steady
	n, err := stack.Open(within(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(within(t)); err != nil {
			t.Errorf("close: %v", err)
		}
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
		}
	})
	return n
}

// A node without a bearer is alone, has company with the first, and is alone again
// without: its peer learns that at once. The same name can be enabled again and again.
//
// Proves: socket.bearers
func TestBearersComeAndGo(t *testing.T) {
	t.Parallel()
	for _, wait := range []stack.WaitMode{stack.Sleep, stack.Adaptive} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			h := hub.New(hub.Config{})
			peer := openOn(t, h, 2, stack.Config{Wait: wait})
			echo(t, listen(t, peer, echoService))
			n := openBare(t, stack.Config{Address: 0x1001001, Wait: wait})
			local := listen(t, n, stack.Service{Type: 18889, Instance: 1})
			defer local.Close()
			c := listen(t, n, nil)
			defer c.Close()
			c.SetDeadline(time.Now().Add(testTimeout))
			local.SetDeadline(time.Now().Add(testTimeout))
			buf := make([]byte, 100)
			if _, err := c.WriteTo([]byte("alone"), stack.Service{Type: 18889, Instance: 1}); err != nil {
				t.Fatal(err)
			}
			if k, _, err := local.ReadFrom(buf); err != nil || string(buf[:k]) != "alone" {
				t.Errorf("alone: got %q %v", buf[:k], err)
			}
			lost, err := peer.Admin().Watch(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer lost.Close()
			for range 3 {
				if err := n.Admin().AddDevice(within(t), plug(t, h, "eth0", 1), admin.BearerConfig{}); err != nil {
					t.Fatal(err)
				}
				if err := n.WaitFor(within(t), echoService); err != nil {
					t.Fatal(err)
				}
				if _, err := c.WriteTo([]byte("hello"), echoService); err != nil {
					t.Fatal(err)
				}
				if k, _, err := c.ReadFrom(buf); err != nil || string(buf[:k]) != "hello" {
					t.Fatalf("got %q %v", buf[:k], err)
				}
				if got := bearerNames(n); got != "eth0" {
					t.Errorf("got bearers %q, want eth0", got)
				}
				if err := n.Admin().DisableBearer(within(t), "eth:eth0"); err != nil {
					t.Fatal(err)
				}
				if got, links := bearerNames(n), must.Get(n.Admin().Links(context.Background())); got != "" || len(links) != 0 {
					t.Errorf("got bearers %q, links %v, want none", got, links)
				}
				for {
					ev, err := lost.Next(within(t))
					if err != nil {
						t.Fatal(err)
					}
					if ev.Kind == admin.PeerLost {
						if ev.Reason != "ended by peer" {
							t.Errorf("the peer lost contact for %q, want that it stops", ev.Reason)
						}
						break
					}
				}
			}
		})
	}
}

// A node without an address takes it, in the end, from its first bearer; until then it
// has no sockets, and can be told what it is called.
//
// Proves: socket.bearers
func TestAddressFromFirstBearer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		n, err := stack.Open(t.Context(), stack.Config{NoBearers: true, Wait: stack.Sleep, Chunks: 1024})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close(context.Background())
		if _, err := n.Listen(t.Context(), "tipc", nil); !errors.Is(err, stack.ErrNoAddress) {
			t.Errorf("Listen: got %v, want %v", err, stack.ErrNoAddress)
		}
		id, err := stack.ParseIdentity("nodeD")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(n.Admin().SetNetID(context.Background(), 77), n.Admin().SetIdentity(context.Background(), id)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := n.Admin().AddDevice(t.Context(), plug(t, h, "eth0", 1), admin.BearerConfig{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < time.Second || took > 2*time.Second {
			t.Errorf("took %v, want a trial of a second", took)
		}
		if got := n.Addr().String(); got != "2a6f6465" || n.Identity() != id || must.Get(n.Admin().NetID(context.Background())) != 77 {
			t.Errorf("got %v, %v, %d, want 2a6f6465, %v, 77", got, n.Identity(), must.Get(n.Admin().NetID(context.Background())), id)
		}
		for what, err := range map[string]error{"net id": n.Admin().SetNetID(context.Background(), 78), "identity": n.Admin().SetIdentity(context.Background(), id), "address": n.Admin().SetAddress(context.Background(), 1)} {
			if !errors.Is(err, syscall.EPERM) {
				t.Errorf("%s: got %v, want %v", what, err, syscall.EPERM)
			}
		}
	})
}

// Proves: socket.bearers
func TestSetAddress(t *testing.T) {
	t.Parallel()
	n := openBare(t, stack.Config{})
	if err := n.Admin().SetAddress(context.Background(), 0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("address 0: got %v, want %v", err, syscall.EINVAL)
	}
	if err := n.Admin().SetAddress(context.Background(), 0x1001001); err != nil || n.Addr() != 0x1001001 {
		t.Errorf("got %v, %v", n.Addr(), err)
	}
	listen(t, n, echoService).Close()
}

// What is wrong with a device is said, the device closed, and the node goes on.
func TestEnableBearerRefuses(t *testing.T) {
	t.Parallel()
	h := hub.New(hub.Config{})
	n := openBare(t, stack.Config{Address: 1, MTU: 2000})
	for i := range 3 {
		if err := n.Admin().AddDevice(within(t), plug(t, h, fmt.Sprint("eth", i), 1), admin.BearerConfig{}); err != nil {
			t.Fatal(err)
		}
	}
	var prios []uint8
	for _, b := range must.Get(n.Admin().Bearers(context.Background())) {
		prios = append(prios, b.Links.Priority)
	}
	if fmt.Sprint(prios) != "[10 10 9]" {
		t.Errorf("got priorities %v, want [10 10 9]", prios)
	}
	closed := plug(t, hub.New(hub.Config{}), "eth5", 1)
	closed.Close()
	for _, c := range []struct {
		name string
		dev  *hub.Port
		cfg  admin.BearerConfig
		want error
	}{
		{"a fourth", plug(t, hub.New(hub.Config{}), "eth3", 1), admin.BearerConfig{}, stack.ErrConfig},
		{"the same name", plug(t, hub.New(hub.Config{}), "eth1", 1), admin.BearerConfig{}, syscall.EINVAL},
	} {
		err := n.Admin().AddDevice(within(t), c.dev, c.cfg)
		if !errors.Is(err, c.want) || !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if _, err := c.dev.Receive(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the device was not closed", c.name)
		}
	}
	if err := n.Admin().DisableBearer(within(t), "eth2"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		dev  *hub.Port
		cfg  admin.BearerConfig
		want error
	}{
		{"too large", plug(t, hub.New(hub.Config{MTU: 9000}), "eth3", 1), admin.BearerConfig{}, stack.ErrConfig},
		{"an MTU on Ethernet", plug(t, hub.New(hub.Config{}), "eth3", 1), admin.BearerConfig{MTU: 1000}, syscall.EOPNOTSUPP},
		{"a priority that is none", plug(t, hub.New(hub.Config{}), "eth3", 1), admin.BearerConfig{LinkConfig: stack.LinkConfig{Priority: 40}}, stack.ErrConfig},
		{"a closed device", closed, admin.BearerConfig{}, net.ErrClosed},
	} {
		if err := n.Admin().AddDevice(within(t), c.dev, c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if _, err := c.dev.Receive(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the device was not closed", c.name)
		}
	}
	if err := n.Admin().DisableBearer(within(t), "eth9"); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "Bearer not found: ") {
		t.Errorf("no such bearer: got %v", err)
	}
	if got := bearerNames(n); got != "eth0 eth1" {
		t.Errorf("got %q", got)
	}
}

// Two networks, each taken away and given back in turn under load: nothing is lost,
// doubled or out of order.
//
// Proves: socket.bearers
func TestDisabledBearerLosesNothing(t *testing.T) {
	t.Parallel()
	hubs := [2]*hub.Hub{hub.New(hub.Config{}), hub.New(hub.Config{})}
	open := func(i int) *stack.Node {
		n := openBare(t, stack.Config{Address: stack.NodeAddr(i), Encryption: sealedWith})
		for k, h := range hubs {
			if err := n.Admin().AddDevice(within(t), plug(t, h, fmt.Sprint("eth", k), i), admin.BearerConfig{}); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	a, b := open(1), open(2)
	both := func() {
		waitFor(t, func() bool { return states(a) == "eth0 ACTIVE, eth1 ACTIVE" && states(b) == "eth0 ACTIVE, eth1 ACTIVE" })
	}
	both()
	server, client := link(t, a, b, "tipcpacket")
	defer server.Close()
	defer client.Close()
	server.SetDeadline(time.Now().Add(3 * testTimeout))
	client.SetDeadline(time.Now().Add(3 * testTimeout))
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			last := 0
			select {
			case <-done:
				last = 1
			default:
			}
			if _, err := client.Write(fmt.Appendf(nil, "%d %d %0*d", i, last, 700, 0)); err != nil {
				t.Errorf("message %d: %v", i, err)
				return
			}
			if last == 1 {
				return
			}
		}
	})
	wg.Go(func() {
		buf := make([]byte, 2000)
		for i := 0; ; i++ {
			k, err := server.Read(buf)
			var got, last int
			fmt.Sscan(string(buf[:k]), &got, &last)
			if err != nil || got != i {
				t.Errorf("got message %d, %v, want %d", got, err, i)
				return
			}
			if last == 1 {
				return
			}
		}
	})
	for i := range 4 {
		n, k := []*stack.Node{a, b}[i%2], i/2%2
		name := fmt.Sprint("eth", k)
		if err := n.Admin().DisableBearer(within(t), name); err != nil {
			t.Error(err)
			break
		}
		if err := n.Admin().AddDevice(within(t), plug(t, hubs[k], name, 1+i%2), admin.BearerConfig{}); err != nil {
			t.Error(err)
			break
		}
		both()
	}
	close(done)
	wg.Wait()
}
