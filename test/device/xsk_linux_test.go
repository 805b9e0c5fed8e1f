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

var _ netdev.Device = (*xdp.XSK)(nil)

// TestXSK holds AF_XDP to the contract, on a veth pair between two namespaces.
//
// Proves: device.contract
func TestXSK(t *testing.T) {
	netns.Require(t)
	for _, c := range []struct {
		mode xdp.Mode
		mtu  int
	}{
		{xdp.ModeGeneric, 1500}, {xdp.ModeNative, 1500}, {xdp.ModeGeneric, 9000}, {xdp.ModeNative, 9000},
	} {
		t.Run(fmt.Sprint(c.mode, " mtu ", c.mtu), func(t *testing.T) {
			device.Run(t, func(t *testing.T) (a, b netdev.Device) {
				left, right := netns.New(t), netns.New(t)
				netns.Veth(t, left, right, "left", "right", c.mtu)
				return xsk(t, left, "left", c.mode), xsk(t, right, "right", c.mode)
			})
		})
	}
}

func xsk(t *testing.T, ns *netns.NS, name string, mode xdp.Mode) netdev.Device {
	t.Helper()
	var x *xdp.XSK
	var err error
	ns.Do(func() { x, err = xdp.OpenXSK(name, &xdp.XSKConfig{Mode: mode}) })
	if err != nil {
		t.Fatal(err)
	}
	if x.Mode() != mode {
		t.Fatalf("got %v mode, want %v", x.Mode(), mode)
	}
	return x
}
