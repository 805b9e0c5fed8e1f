// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A changing device is one whose interface goes down and up, and whose MTU changes.
type changing struct {
	netdev.Device
	mtu  atomic.Int64
	wake func()
}

func (c *changing) MTU() int { return int(c.mtu.Load()) }

func (c *changing) Attach(a *netdev.Arena, wake func()) error {
	c.wake = wake
	return c.Device.Attach(a, wake)
}

func (c *changing) set(mtu int) {
	c.mtu.Store(int64(mtu))
	c.wake()
}

// A node follows its interface: links go down with it, say why, and come back with
// what it can carry then.
//
// Proves: device.changes
func TestNodeFollowsItsInterface(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	h := hub.New(hub.Config{MTU: 9000})
	var devs [2]*changing
	var nodes [2]*stack.Node
	for i := range nodes {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		devs[i] = &changing{Device: p}
		devs[i].mtu.Store(1500)
		cfg := stack.Config{Bearers: []stack.Bearer{devs[i]}, Address: stack.NodeAddr(i + 1), MTU: 9000, Tolerance: steady}
		if i == 1 {
			devs[i].mtu.Store(0) // down at first
		}
		if nodes[i], err = stack.Open(ctx, cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nodes[i].Close(context.Background()) })
	}
	other := stack.Range{Type: 2, Lower: 2, Upper: 2} // the link to node 2, as a service
	sub, err := nodes[0].Subscribe(ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	hears := func(what string, withdrawn bool) {
		t.Helper()
		ev, err := sub.Next(ctx)
		if err != nil || ev.Withdrawn != withdrawn {
			t.Fatalf("%s: got %+v, %v", what, ev, err)
		}
	}
	mtu := func(what string, want int) {
		t.Helper()
		if l := must.Get(nodes[0].Admin().Links(context.Background())); len(l) != 1 || !l[0].Up || l[0].MTU != want {
			t.Fatalf("%s: got %+v, want an MTU of %d", what, l, want)
		}
	}
	devs[1].set(1500)
	hears("the other's interface came up", false)
	mtu("at first", 1500)

	devs[0].set(0)
	hears("the own interface went down", true)
	if l := must.Get(nodes[0].Admin().Links(context.Background())); l[0].Up {
		t.Error("the link stays up without an interface")
	}
	devs[0].set(1500)
	hears("the own interface is back", false)
	mtu("again", 1500)

	devs[0].set(1000)
	hears("the own MTU changed", true)
	hears("and the link agreed anew", false)
	mtu("smaller", 1000)

	devs[0].set(9000)
	hears("larger", true)
	hears("larger, up", false)
	mtu("the other end is still small", 1500)

	devs[1].set(9000)
	hears("the other end changed", true)
	hears("and is back", false)
	mtu("both large", 9000)
}
