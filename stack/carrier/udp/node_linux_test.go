// SPDX-License-Identifier: Apache-2.0

package udp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/tap"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/netns"
)

const testTimeout = 2 * time.Minute

var ports atomic.Uint32

// local returns addresses on the loopback interface that nobody else has.
func local(n int) (all []netip.AddrPort) {
	pid, port := os.Getpid(), uint16(30000+ports.Add(1))
	for i := range n {
		ip := [4]byte{127, 128 | byte(pid>>14)&63, byte(pid >> 6), byte(pid<<2)&^3 + byte(i)}
		all = append(all, netip.AddrPortFrom(netip.AddrFrom4(ip), port))
	}
	return all
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

func device(t testing.TB, ns *netns.NS, c udp.Config) (d *udp.Device) {
	t.Helper()
	var err error
	if ns == nil {
		d, err = udp.Open(c)
	} else {
		ns.Do(func() { d, err = udp.Open(c) })
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(d)
	return d
}

// node opens a node on a device; number 0 has its address from its identity, and
// that from the device.
func node(t testing.TB, d netdev.Device, number int) *stack.Node {
	t.Helper()
	cfg := stack.Config{Bearers: []stack.Bearer{d}, Tolerance: 30 * time.Second} // no pause of the machine costs a link
	if number > 0 {
		cfg.Address = stack.NodeAddr(0x1001000 + number)
	}
	n, err := stack.Open(within(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(within(t)); err != nil {
			t.Errorf("close node %v: %v", n.Addr(), err)
		}
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("node %v: %d of %d chunks came back", n.Addr(), s.ChunksFree, s.ChunksTotal)
		}
	})
	return n
}

var talks atomic.Uint32

// talk has b answer on a name, and a ask by it, with messages of all lengths.
func talk(t *testing.T, a, b *stack.Node) {
	t.Helper()
	ctx := within(t)
	svc := stack.Service{Type: 18888, Instance: talks.Add(1)} // none that is being withdrawn
	server, err := b.ListenPacket(ctx, "tipcrdm", svc)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 66000)
		for {
			n, from, err := server.ReadFrom(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				_, err = server.WriteTo(buf[:n], from)
			}
			if err != nil {
				t.Errorf("echo: %v", err)
				return
			}
		}
	}()
	defer func() { server.Close(); <-done }()
	if err := a.WaitFor(ctx, svc); err != nil {
		t.Fatalf("%v; links %+v", err, must.Get(a.Admin().Links(context.Background())))
	}
	client, err := a.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	until, _ := ctx.Deadline()
	client.SetDeadline(until)
	in := make([]byte, 66000)
	for _, size := range []int{1, 2, 64, 100, 1000, 1100} {
		out := bytes.Repeat([]byte{byte(size)}, size)
		const burst = 20
		for range burst {
			if _, err := client.WriteTo(out, svc); err != nil {
				t.Fatal(err)
			}
		}
		for i := range burst {
			n, _, err := client.ReadFrom(in)
			if err != nil || !bytes.Equal(in[:n], out) {
				t.Fatalf("message %d of %d bytes: got %d bytes, %v", i, size, n, err)
			}
		}
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	faulty := func(d netdev.Device) netdev.Device {
		return tap.New(fault.New(d, fault.Config{Seed: 1, In: fault.Faults{Loss: 0.02}, Out: fault.Faults{Loss: 0.02}}), io.Discard, tap.Config{})
	}
	for _, tt := range []struct {
		name string
		cfg  udp.Config
		wrap func(netdev.Device) netdev.Device
	}{
		{"as the kernel", udp.Config{}, nil},
		{"mtu 1472", udp.Config{MTU: 1472}, nil},
		{"no offload", udp.Config{MTU: 1472, NoGRO: true, NoGSO: true}, nil},
		{"with losses and a tap", udp.Config{MTU: 1472}, faulty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			at := local(2)
			var nodes [2]*stack.Node
			for i := range nodes {
				c := tt.cfg
				c.Local, c.Remotes = at[i], at[1-i:2-i]
				var d netdev.Device = device(t, nil, c)
				if tt.wrap != nil && i == 0 { // both, and they would understand each other in any case
					d = tt.wrap(d)
				}
				nodes[i] = node(t, d, i+1)
			}
			talk(t, nodes[0], nodes[1])
			talk(t, nodes[1], nodes[0])
			if l := must.Get(nodes[0].Admin().Links(context.Background())); len(l) != 1 || l[0].Name != "1001001:UDP1-1001002:UDP1" {
				t.Errorf("got links %+v", l)
			}
		})
	}
}

// One end has the other configured, which learns of it, and its names, from the
// link.
func TestOneWayConfigured(t *testing.T) {
	t.Parallel()
	at := local(3)
	server := node(t, device(t, nil, udp.Config{Local: at[0], Remotes: at[2:]}), 1) // who is not there
	client := node(t, device(t, nil, udp.Config{Local: at[1], Remotes: at[:1]}), 2)
	talk(t, client, server)
	talk(t, server, client)
}

// Three nodes in a group on one host, whose identities and addresses come from
// their own.
func TestGroupOnOneHost(t *testing.T) {
	t.Parallel()
	at := local(3)
	group := netip.AddrPortFrom(netip.AddrFrom4([4]byte{228, 3, at[0].Addr().As4()[3], byte(at[0].Port())}), at[0].Port())
	var nodes []*stack.Node
	for _, a := range at {
		nodes = append(nodes, node(t, device(t, nil, udp.Config{Local: a, Multicast: group}), 0))
	}
	for i, n := range nodes {
		talk(t, n, nodes[(i+1)%3])
	}
}

func TestAcrossNamespaces(t *testing.T) {
	netns.Require(t)
	for _, tt := range []struct{ name, x, y, group string }{
		{"remotes", "10.7.0.1", "10.7.0.2", ""},
		{"multicast", "10.7.0.1", "10.7.0.2", "228.0.18.103"},
		{"remotes, IPv6", "fd00::1", "fd00::2", ""},
		{"multicast, IPv6", "fd00::1", "fd00::2", "ff02::4711"},
		{"multicast, link-local IPv6", "fe80::1%left", "fe80::2%right", "ff02::4711"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, y := netns.New(t), netns.New(t)
			netns.Veth(t, x, y, "left", "right", 1500)
			addrs := [2]string{tt.x, tt.y}
			var devs [2]*udp.Device
			for i, end := range []struct {
				ns   *netns.NS
				name string
			}{{x, "left"}, {y, "right"}} {
				bits := "/24"
				if strings.Contains(addrs[i], ":") {
					bits = "/64"
				}
				ip := netip.MustParseAddr(addrs[i])
				nodad := []string{"addr", "add", ip.WithZone("").String() + bits, "dev", end.name}
				if ip.Is6() {
					nodad = append(nodad, "nodad")
				}
				end.ns.Run("ip", nodad...)
				c := udp.Config{Local: netip.AddrPortFrom(ip, 0)}
				if tt.group != "" {
					c.Multicast = netip.AddrPortFrom(netip.MustParseAddr(tt.group), 0)
				} else {
					c.Remotes = []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(addrs[1-i]), 0)}
				}
				devs[i] = device(t, end.ns, c)
			}
			a, b := node(t, devs[0], 1), node(t, devs[1], 2)
			talk(t, a, b)
			talk(t, b, a)
		})
	}
}

// Garbage from ever new ports beside the traffic of two nodes: they talk on.
//
// Proves: device.udp
func TestGarbage(t *testing.T) {
	t.Parallel()
	at := local(3)
	x := device(t, nil, udp.Config{Local: at[0], Remotes: at[1:2]})
	a, b := node(t, x, 1), node(t, device(t, nil, udp.Config{Local: at[1], Remotes: at[:1]}), 2)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			c, err := net.DialUDP("udp", &net.UDPAddr{IP: at[2].Addr().AsSlice()}, net.UDPAddrFromAddrPort(at[0]))
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 8 {
				c.Write(bytes.Repeat([]byte{0x40 | byte(i)}, n*i%500))
			}
			c.Close()
		}
	}()
	for range 3 {
		talk(t, b, a)
	}
	for limit := time.Now().Add(testTimeout); x.Stats().Strangers < 10 && time.Now().Before(limit); { // as long as there is garbage
		talk(t, b, a)
	}
	close(stop)
	<-stopped
	if s := x.Stats(); s.Strangers < 10 {
		t.Errorf("got %+v, want strangers", s)
	}
	if l := must.Get(a.Admin().Links(context.Background())); len(l) != 1 || !l[0].Up {
		t.Errorf("got links %+v", l)
	}
}

func Example() {
	ctx := context.Background()
	at := local(2) // two addresses of this host
	var nodes [2]*stack.Node
	for i := range nodes {
		d, err := udp.Open(udp.Config{Local: at[i], Remotes: at[1-i : 2-i]})
		if err != nil {
			fmt.Println(err)
			return
		}
		nodes[i], err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(0x1001001 + i)})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer nodes[i].Close(ctx)
	}
	if err := nodes[0].WaitFor(ctx, stack.Service{Type: stack.NodeState, Instance: 0x1001002}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(must.Get(nodes[0].Admin().Links(context.Background()))[0].Name)
	// Output: 1001001:UDP1-1001002:UDP1
}
