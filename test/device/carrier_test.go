// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/tap"
	"github.com/utipc/utipc/test/device"
)

// The carriers satisfy the contract without importing it.
var (
	_ netdev.Device = (*hub.Port)(nil)
	_ netdev.Device = (*fault.Injector)(nil)
	_ netdev.Device = (*tap.Tap)(nil)
)

func bare(d netdev.Device) netdev.Device   { return d }
func faulty(d netdev.Device) netdev.Device { return fault.New(d, fault.Config{}) }
func lingering(d netdev.Device) netdev.Device {
	return fault.New(d, fault.Config{Linger: 20})
}
func tapped(d netdev.Device) netdev.Device { return tap.New(d, io.Discard, tap.Config{}) }

// Proves: device.contract
func TestCarriers(t *testing.T) {
	tests := []struct {
		name string
		mtu  int
		wrap func(netdev.Device) netdev.Device
	}{
		{"hub", 1500, bare},
		{"hub of the smallest MTU", 100, bare},
		{"hub of the largest MTU", 65535 - frame.EthernetLen, bare},
		{"fault on hub", 1500, faulty},
		{"fault on hub, late completions", 1500, lingering},
		{"tap on hub", 1500, tapped},
		{"tap on fault on hub", 1500, func(d netdev.Device) netdev.Device { return tapped(faulty(d)) }},
		{"fault on tap on hub, jumbo", 9000, func(d netdev.Device) netdev.Device { return faulty(tapped(d)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			device.Run(t, func(t *testing.T) (a, b netdev.Device) {
				h := hub.New(hub.Config{MTU: tt.mtu})
				return tt.wrap(port(t, h, 1)), tt.wrap(port(t, h, 2))
			})
		})
	}
}

func port(t *testing.T, h *hub.Hub, i byte) netdev.Device {
	t.Helper()
	p, err := h.Port(fmt.Sprint("port", i), frame.MAC{2, 0, 0, 0, 0, i})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
