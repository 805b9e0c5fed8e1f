// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/xdp"
)

// Others use an interface that has an address, is a master, a port, or below another. Not the
// address that IPv6 gives every interface, nor the other end of a veth, which the kernel names
// in the attribute that names what a macvlan lies on. Mutations: parseAddress takes link-local
// addresses; LookAround does not ask for addresses, for masters, or for what lies on an
// interface; pair is false.
func TestLookAround(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "one", "type", "veth", "peer", "name", "two")
	look := func(name string) (got xdp.Around) {
		t.Helper()
		d.a.Do(func() {
			ifi, err := net.InterfaceByName(name)
			if err != nil {
				t.Fatal(err)
			}
			all, err := xdp.LookAround()
			if err != nil {
				t.Fatal(err)
			}
			got = all[ifi.Index]
			if l, err := xdp.ProbeLink(name); err != nil || l.Users != got.Users {
				t.Errorf("%s: ProbeLink says %q, %v, want %q", name, l.Users, err, got.Users)
			}
		})
		return got
	}
	for _, c := range []struct {
		do   string // a command of ip
		of   string // the interface that is looked at
		want xdp.Around
	}{
		{"", nameA, xdp.Around{}},
		{"", "one", xdp.Around{}},
		{"-6 addr add fe80::7/64 dev one", "one", xdp.Around{}},
		{"addr add 10.8.0.1/24 dev one", "one", xdp.Around{Users: "it has the address 10.8.0.1/24"}},
		{"addr del 10.8.0.1/24 dev one", "one", xdp.Around{}},
		{"addr add fd08::1/64 dev one", "one", xdp.Around{Users: "it has the address fd08::1/64"}},
		{"link add link NAME name mac0 type macvlan mode bridge", nameA, xdp.Around{Users: "mac0 lies on it", Above: []string{"mac0"}}},
		{"link add link NAME name mac1 type macvlan mode bridge", nameA, xdp.Around{Users: "mac0 lies on it", Above: []string{"mac0", "mac1"}}},
		{"link del dev mac0", nameA, xdp.Around{Users: "mac1 lies on it", Above: []string{"mac1"}}},
		{"link del dev mac1", nameA, xdp.Around{}},
		{"link add br7 type bridge", "br7", xdp.Around{}},
		{"link set dev two master br7", "two", xdp.Around{Users: "it is a port of another interface"}},
		{"", "br7", xdp.Around{Users: "two is a port of it"}},
		{"link del dev br7", "two", xdp.Around{}},
	} {
		if c.do != "" {
			d.a.Run("ip", strings.Fields(strings.ReplaceAll(c.do, "NAME", nameA))...)
		}
		if got := look(c.of); !reflect.DeepEqual(got, c.want) {
			t.Errorf("after %q, of %s: got %+v, want %+v", c.do, c.of, got, c.want)
		}
	}
}

// Frames for a macvlan that lies on the interface belong to the macvlan: the kernel shows
// them to packet sockets of the interface below as well, without a mark, as it does with
// those of a VLAN. Fails without the filter's first rule.
func TestFramesOfAnInterfaceAbove(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "link", nameA, "name", "mac0", "type", "macvlan", "mode", "bridge")
	d.a.Run("ip", "link", "set", "dev", "mac0", "addrgenmode", "none", "up")
	d.a.WaitCarrier("mac0", true)
	below, _ := open(t, d.a, nameA, nil)
	above, _ := open(t, d.a, "mac0", nil)
	w := openWire(t, d.b, nameB)
	var from frame.MAC
	d.b.Do(func() {
		ifi, err := net.InterfaceByName(nameB)
		if err != nil {
			t.Fatal(err)
		}
		from = frame.MAC(ifi.HardwareAddr)
	})
	w.send(raw(above.Addr(), from, 64, 1))
	w.send(raw(below.Addr(), from, 64, 2))
	for _, p := range []device{above, below} {
		if dst := frame.MAC(await(t, p, 1)[0]); dst != p.Addr() {
			t.Errorf("%s: got a frame to %v, want one to %v", p.Name(), dst, p.Addr())
		}
		silent(t, p)
	}
}
