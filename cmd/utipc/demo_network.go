// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A demoNetwork is what the demo's nodes are plugged into.
type demoNetwork interface {
	// is tells what the network is, for people.
	is() string
	// plug makes the device of node i, whose name is name.
	plug(i int, name string) (netdev.Device, error)
	// drivers tells a line for each driver in use, and why that one, once all nodes
	// are open.
	drivers() []string
	// close ends the network, after its nodes.
	close()
}

// A demoHub is a network in memory.
type demoHub struct{ hub *hub.Hub }

func newDemoHub() demoHub { return demoHub{hub.New(hub.Config{})} }

func (demoHub) is() string        { return "one network" }
func (demoHub) drivers() []string { return nil }
func (demoHub) close()            {}

func (h demoHub) plug(i int, _ string) (netdev.Device, error) {
	return h.hub.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
}
