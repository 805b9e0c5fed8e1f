// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/interop/rig"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// A tapPort is the far end of a tap interface: what a kernel sends on the
// interface is read here.
type tapPort struct{ *os.File }

func (p tapPort) ReadFrame(b []byte) (int, error) { return p.Read(b) }

// WriteFrame implements rig.Port. An interface that is down loses frames.
func (p tapPort) WriteFrame(b []byte) error {
	p.Write(b)
	return nil
}

// newTap makes an interface with an IP address in ns.
func newTap(t *testing.T, ns *netns.NS, name, addr string) tapPort {
	t.Helper()
	var fd int
	var err error
	ns.Do(func() { fd, err = openTap(name) }) // it belongs where the descriptor was opened
	if err != nil {
		tier.Missing(t, "no tap interface:", err)
	}
	p := tapPort{os.NewFile(uintptr(fd), name)}
	_ = ns.Command("ip", "link", "set", "dev", name, "addrgenmode", "none").Run() // refused without IPv6
	ns.Run("ip", "addr", "add", addr, "dev", name)
	ns.Run("ip", "link", "set", "dev", name, "up")
	return p
}

func openTap(name string) (fd int, err error) {
	fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// overUDP is a node of ours and a kernel, whose UDP bearer is enabled with the
// given words of the tipc tool.
func overUDP(t *testing.T, cfg udp.Config, words string) *bed {
	t.Helper()
	netns.Require(t)
	rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	ns := netns.New(t)
	link, wire, err := rig.NewLink(net.HardwareAddr(kernelMAC[:]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	hub := rig.NewHub(wire, newTap(t, ns, "ours", "10.77.0.1/24"))
	t.Cleanup(func() { hub.Close() })
	cfg.Local = netip.MustParseAddrPort("10.77.0.1:6118")
	var dev *udp.Device
	ns.Do(func() {
		if dev, err = udp.Open(cfg); err != nil {
			t.Fatal(err)
		}
	})
	b := &bed{t: t, ctx: ctx, link: link, shut: func() {}}
	b.open(dev, stack.Config{})
	b.kernel, err = rig.Start(ctx, rig.Require(t), rig.Options{Name: "kernel", Address: "1.1.2", Links: []rig.Link{link}, Tolerance: patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.shut()
		b.kernel.Close()
		if t.Failed() {
			t.Logf("console:\n%s", b.kernel.Console())
		}
		t.Logf("%v; %+v", dev, dev.Stats())
	})
	b.run("ip2 addr add 10.77.0.2/24 dev eth0")
	b.run("ip2 route add 224.0.0.0/4 dev eth0")
	b.run("tipc bearer enable media udp name UDP1 localip 10.77.0.2 %s", words)
	return b
}

// The kernel's UDP bearer takes us for one of its own: the link comes up, names
// go both ways, messages of all lengths, its broadcasts and ours.
//
// Proves: device.udp
func TestUDPWithKernel(t *testing.T) {
	remote := []netip.AddrPort{netip.MustParseAddrPort("10.77.0.2:6118")}
	for _, tt := range []struct {
		name, words string
		cfg         udp.Config
	}{
		{"multicast", "", udp.Config{Multicast: udp.Group(4711, netip.MustParseAddr("10.77.0.1"))}},
		{"remotes", "remoteip 10.77.0.1", udp.Config{Remotes: remote}},
		{"remotes, mtu 1472", "remoteip 10.77.0.1", udp.Config{Remotes: remote, MTU: 1472}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := overUDP(t, tt.cfg, tt.words)
			b.contact()
			if out := b.run("tipc link list"); !strings.Contains(out, "1001002:UDP1-1001001:UDP1: up") {
				t.Errorf("the kernel says %q", out)
			}
			mtu := tt.cfg.MTU
			sizes := echoSizes
			if mtu == 0 {
				mtu = 14000 // as the kernel
				sizes = append([]int{5000, 13000}, echoSizes...)
			}
			if l := musthave.Get(b.node.Admin().Links(context.Background())); len(l) != 1 || !l[0].Up || l[0].Name != "1001001:UDP1-1001002:UDP1" || l[0].MTU != mtu {
				t.Errorf("we say %+v", l)
			}
			b.echoed(ourService)
			b.theirs(ourService)
			for _, size := range sizes {
				j, _ := b.job("rdm-send", "18888", "17", "-n", "3", "-s", fmt.Sprint(size), "-q")
				b.expect(j, "done sent=3 echoed=3 rejects=0 bad=0")
			}
			j, _ := b.job("publish", "18891", "1", "1", "cluster") // over the broadcast link
			b.ours(stack.Service{Type: 18891, Instance: 1})
			j.CloseInput()
			b.job("rdm-echo", "18889", "4", "-q")
			b.ours(kernelService)
			c := b.listen(stack.SocketConfig{}, nil)
			out, in := make([]byte, 1392), make([]byte, 1500) // by name, the most at an MTU of 1472
			for i := range 200 {
				out[0] = byte(i)
				if _, err := c.WriteTo(out, kernelService); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 200 {
				if n, _, err := c.ReadFrom(in); err != nil || n != len(out) || in[0] != byte(i) {
					t.Fatalf("answer %d: got %d bytes, %v", i, n, err)
				}
			}
			mc := b.listen(stack.SocketConfig{}, stack.Service{Type: 18892, Instance: 1})
			b.theirs(stack.Service{Type: 18892, Instance: 1})
			j, _ = b.job("mcast-send", "18892", "1", "1", "-n", "20", "-s", "100", "-b")
			b.expect(j, "sent")
			for i := range 20 {
				if n, _, err := mc.ReadFrom(in); err != nil || n != 100 {
					t.Fatalf("multicast %d: got %d bytes, %v", i, n, err)
				}
			}
		})
	}
}

// We are not configured at the kernel: it answers us, and we talk; its updates of
// names go to those it has configured.
//
// Proves: device.udp
func TestUDPKernelDoesNotKnowUs(t *testing.T) {
	b := overUDP(t, udp.Config{Remotes: []netip.AddrPort{netip.MustParseAddrPort("10.77.0.2:6118")}}, "remoteip 10.77.0.99")
	b.contact()
	b.echoed(ourService)
	b.theirs(ourService)
	j, _ := b.job("rdm-send", "18888", "17", "-n", "3", "-s", "1400", "-q")
	b.expect(j, "done sent=3 echoed=3 rejects=0 bad=0")
}
