// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"net"
	"reflect"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/xdp"
)

// A macvlan lies on its interface; the other end of a veth, which the kernel names in the same
// attribute, does not. Mutations: LinksAbove takes every kind; it does not know macvlan.
func TestLinksAbove(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "one", "type", "veth", "peer", "name", "two")
	above := func() (all map[int][]string) {
		d.a.Do(func() {
			var err error
			if all, err = xdp.LinksAbove(); err != nil {
				t.Fatal(err)
			}
		})
		return all
	}
	if got := above(); len(got) > 0 {
		t.Errorf("got %v, want none", got)
	}
	d.a.Run("ip", "link", "add", "link", nameA, "name", "mac0", "type", "macvlan", "mode", "bridge")
	d.a.Run("ip", "link", "add", "link", nameA, "name", "mac1", "type", "macvlan", "mode", "bridge")
	var index int
	d.a.Do(func() {
		ifi, err := net.InterfaceByName(nameA)
		if err != nil {
			t.Fatal(err)
		}
		index = ifi.Index
	})
	if got, want := above(), map[int][]string{index: {"mac0", "mac1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	d.a.Run("ip", "link", "del", "dev", "mac0")
	d.a.Run("ip", "link", "del", "dev", "mac1")
	if got := above(); len(got) > 0 {
		t.Errorf("removed: got %v, want none", got)
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
