// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"net"
	"testing"

	"github.com/utipc/utipc/frame"
)

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
