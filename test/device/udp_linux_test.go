// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/device"
	"github.com/utipc/utipc/test/netns"
)

var _ netdev.Device = (*udp.Device)(nil)

// TestUDP holds the UDP carrier to the contract, on the loopback interface.
//
// Proves: device.contract
func TestUDP(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  udp.Config
		wrap func(netdev.Device) netdev.Device
	}{
		{"remotes", udp.Config{}, bare},
		{"remotes, mtu 1400", udp.Config{MTU: 1400}, bare},
		{"remotes, longest mtu", udp.Config{MTU: 65487}, bare},
		{"remotes, no offload", udp.Config{MTU: 1400, NoGSO: true, NoGRO: true}, bare},
		{"remotes, segments sent alone", udp.Config{MTU: 1400, NoGRO: true}, bare},
		{"remotes, joined on arrival alone", udp.Config{MTU: 1400, NoGSO: true}, bare},
		{"tap on fault on remotes", udp.Config{}, func(d netdev.Device) netdev.Device { return tapped(faulty(d)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			device.Run(t, func(t *testing.T) (a, b netdev.Device) {
				return remotes(t, tt.cfg, loopback(), tt.wrap)
			})
		})
	}
	t.Run("multicast", func(t *testing.T) {
		device.Run(t, func(t *testing.T) (a, b netdev.Device) {
			ends := loopback()
			group := netip.AddrPortFrom(netip.AddrFrom4([4]byte{228, 1, byte(os.Getpid()), byte(ends[0].Port())}), ends[0].Port())
			return multicast(t, group, ends)
		})
	})
}

// TestUDP6 does the same over IPv6, on the loopback interface of a namespace.
//
// Proves: device.contract
func TestUDP6(t *testing.T) {
	netns.Require(t)
	ends := [2]netip.AddrPort{netip.MustParseAddrPort("[::1]:6118"), netip.MustParseAddrPort("[::1]:6119")}
	for _, cfg := range []udp.Config{{}, {MTU: 1400, NoGSO: true}} {
		t.Run(fmt.Sprintf("remotes, mtu %d", cfg.MTU), func(t *testing.T) {
			device.Run(t, func(t *testing.T) (a, b netdev.Device) {
				ns := netns.New(t)
				ns.Run("ip", "link", "set", "dev", "lo", "up")
				ns.Do(func() { a, b = remotes(t, cfg, ends, bare) })
				return a, b
			})
		})
	}
	t.Run("multicast", func(t *testing.T) {
		device.Run(t, func(t *testing.T) (a, b netdev.Device) {
			x, y := netns.New(t), netns.New(t)
			netns.Veth(t, x, y, "left", "right", 1500)
			address6(t, x, "fd00::1", "left")
			address6(t, y, "fd00::2", "right")
			// Each knows the other's station address: what neighbour discovery gives up is lost, and nothing here is
			// sent twice.
			x.Run("ip", "-6", "neigh", "add", "fd00::2", "lladdr", station(t, y, "right"), "dev", "left")
			y.Run("ip", "-6", "neigh", "add", "fd00::1", "lladdr", station(t, x, "left"), "dev", "right")
			ends := [2]netip.AddrPort{netip.MustParseAddrPort("[fd00::1]:0"), netip.MustParseAddrPort("[fd00::2]:0")}
			group := udp.Group(4711, ends[0].Addr())
			x.Do(func() { a = openUDP(t, udp.Config{Local: ends[0], Multicast: group}) })
			y.Do(func() { b = openUDP(t, udp.Config{Local: ends[1], Multicast: group}) })
			return introduce(t, a, b)
		})
	})
}

// address6 gives an interface an address of IPv6. The kernel takes packets to it only once a work
// queue of its own has come to the address, and until then drops them (Ip6InAddrErrors).
func address6(t *testing.T, ns *netns.NS, ip, device string) {
	t.Helper()
	ns.Run("ip", "-6", "addr", "add", ip+"/64", "dev", device, "nodad")
	for end := time.Now().Add(time.Minute); !strings.HasPrefix(ns.Run("ip", "-6", "route", "get", ip), "local "); {
		if time.Now().After(end) {
			t.Fatalf("%s is not an address of %s after a minute", ip, device)
		}
	}
}

// station is the station address of an interface.
func station(t *testing.T, ns *netns.NS, name string) string {
	t.Helper()
	var ifi *net.Interface
	var err error
	ns.Do(func() { ifi, err = net.InterfaceByName(name) })
	if err != nil {
		t.Fatal(err)
	}
	return ifi.HardwareAddr.String()
}

var networks atomic.Uint32

// loopback returns two addresses that nobody else has: every process has some of
// 127.0.0.0/8 to itself, as long as it lives, and each call a port of its own.
func loopback() [2]netip.AddrPort {
	pid, port := os.Getpid(), uint16(10000+networks.Add(1))
	ip := [4]byte{127, 64 | byte(pid>>15)&63, byte(pid >> 7), byte(pid<<1) &^ 1}
	other := ip
	other[3]++
	return [2]netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4(ip), port), netip.AddrPortFrom(netip.AddrFrom4(other), port)}
}

// remotes opens two bearers that have each other as remote.
func remotes(t *testing.T, cfg udp.Config, ends [2]netip.AddrPort, wrap func(netdev.Device) netdev.Device) (a, b netdev.Device) {
	t.Helper()
	var devs [2]netdev.Device
	for i := range devs {
		c := cfg
		c.Local, c.Remotes = ends[i], []netip.AddrPort{ends[1-i]}
		devs[i] = wrap(openUDP(t, c))
	}
	return devs[0], devs[1]
}

// multicast opens two bearers in a group.
func multicast(t *testing.T, group netip.AddrPort, ends [2]netip.AddrPort) (a, b netdev.Device) {
	t.Helper()
	a = openUDP(t, udp.Config{Local: ends[0], Multicast: group})
	b = openUDP(t, udp.Config{Local: ends[1], Multicast: group})
	return introduce(t, a, b)
}

func openUDP(t *testing.T, c udp.Config) *udp.Device {
	t.Helper()
	d, err := udp.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// introduce has the devices say a word to all: until it is heard, a bearer with a
// group knows nobody.
func introduce(t *testing.T, a, b netdev.Device) (netdev.Device, netdev.Device) {
	t.Helper()
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 256})
	for _, d := range []netdev.Device{a, b} {
		f := arena.Get(64, netdev.Data)
		frame.PutEthernet(f.Extend(64), frame.BroadcastMAC, d.Addr())
		if n, err := d.Transmit([]*netdev.Buffer{f}); n != 1 || err != nil {
			t.Fatalf("the first word: got %d, %v", n, err)
		}
		f.Release()
	}
	return introduced{a.(*udp.Device)}, introduced{b.(*udp.Device)}
}

// An introduced device hears the word of the other before anything else.
type introduced struct{ *udp.Device }

func (d introduced) Attach(arena *netdev.Arena, wake func()) error {
	if err := d.Device.Attach(arena, wake); err != nil {
		return err
	}
	var in [1]*netdev.Buffer
	for {
		n, err := d.Receive(in[:])
		if err != nil {
			return err
		}
		if n == 1 {
			in[0].Release()
			return nil
		}
	}
}
