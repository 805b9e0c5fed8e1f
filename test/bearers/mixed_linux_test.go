// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// A node whose devices have no descriptors is given one that has, and the other way
// round: whoever sleeps is woken by both kinds.
//
// Proves: socket.bearers
func TestMixedCarriers(t *testing.T) {
	h := hub.New(hub.Config{})
	port := func(i int) netdev.Device {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	pid := os.Getpid()
	at := func(i int) netip.AddrPort { // of this process alone
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 64 | byte(pid>>15)&63, byte(pid >> 7), byte(pid<<1)&^1 + byte(i)}), 6118)
	}
	over := func(i int) netdev.Device {
		d, err := udp.Open(udp.Config{Local: at(i), Remotes: []netip.AddrPort{at(1 - i)}, MTU: 1400})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, goPoller := range []bool{false, true} {
		t.Run(fmt.Sprintf("GoPoller %v", goPoller), func(t *testing.T) {
			var nodes [2]*stack.Node
			for i := range nodes {
				n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{port(i)}, NoBearers: true, Tolerance: tolerance, Address: stack.NodeAddr(i + 1), Wait: stack.Sleep, GoPoller: goPoller})
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close(context.Background())
				nodes[i] = n
			}
			service := stack.Service{Type: 18888, Instance: 1}
			sink, err := nodes[1].ListenPacket(within(t), "tipcrdm", service)
			if err != nil {
				t.Fatal(err)
			}
			defer sink.Close()
			if err := nodes[0].WaitFor(within(t), service); err != nil {
				t.Fatal(err)
			}
			c, err := nodes[0].ListenPacket(within(t), "tipcrdm", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			sink.SetDeadline(time.Now().Add(timeout))
			c.SetDeadline(time.Now().Add(timeout))
			buf := make([]byte, 100)
			trips := func() {
				t.Helper()
				for i := range 20 {
					if _, err := c.WriteTo([]byte{byte(i)}, service); err != nil {
						t.Fatal(err)
					}
					_, from, err := sink.ReadFrom(buf)
					if err == nil {
						_, err = sink.WriteTo(buf[:1], from)
					}
					if err == nil {
						_, _, err = c.ReadFrom(buf)
					}
					if err != nil || buf[0] != byte(i) {
						t.Fatalf("trip %d: got %d, %v", i, buf[0], err)
					}
				}
			}
			change := func(enable func(int) netdev.Device, disable string) {
				t.Helper()
				for i, n := range nodes {
					if err := n.Admin().AddDevice(within(t), enable(i), admin.BearerConfig{}); err != nil {
						t.Fatal(err)
					}
				}
				up(t, nodes[0], 2)
				up(t, nodes[1], 2)
				trips() // over both
				for _, n := range nodes {
					if err := n.Admin().DisableBearer(within(t), disable); err != nil {
						t.Fatal(err)
					}
				}
				trips()
			}
			trips()
			change(over, "eth0")
			change(port, "UDP1")
			change(over, "eth0")
		})
	}
}
