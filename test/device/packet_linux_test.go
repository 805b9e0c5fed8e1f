// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"fmt"
	"testing"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/device"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

var _ netdev.Device = (*xdp.Packet)(nil)

// TestPacket holds AF_PACKET to the contract, on a veth pair between two
// namespaces.
//
// Proves: device.contract
func TestPacket(t *testing.T) {
	netns.Require(t)
	for _, mtu := range []int{1500, 9000} {
		t.Run(fmt.Sprint("mtu ", mtu), func(t *testing.T) {
			device.Run(t, func(t *testing.T) (a, b netdev.Device) {
				left, right := netns.New(t), netns.New(t)
				netns.Veth(t, left, right, "left", "right", mtu)
				return packet(t, left, "left"), packet(t, right, "right")
			})
		})
	}
}

func packet(t *testing.T, ns *netns.NS, name string) netdev.Device {
	t.Helper()
	var p *xdp.Packet
	var err error
	ns.Do(func() { p, err = xdp.OpenPacket(name, nil) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}
