// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package bench measures the whole stack: what a message costs between two nodes,
// over the network in memory and over AF_PACKET on a veth pair. Both nodes are in
// this process; figures of one run are to be compared with each other.
package bench

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

var service = stack.Service{Type: 18888, Instance: 17}

// segments makes the two ends of each kind of network.
var segments = []struct {
	name string
	open func(b *testing.B) (x, y netdev.Device)
}{
	{"hub", func(b *testing.B) (x, y netdev.Device) {
		h := hub.New(hub.Config{})
		var ends [2]netdev.Device
		for i := range ends {
			p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
			if err != nil {
				b.Fatal(err)
			}
			ends[i] = p
		}
		return ends[0], ends[1]
	}},
	{"packet", func(b *testing.B) (x, y netdev.Device) {
		netns.Require(b)
		p, q := netns.New(b), netns.New(b)
		netns.Veth(b, p, q, "left", "right", 1500)
		return packet(b, p, "left"), packet(b, q, "right")
	}},
}

func packet(b *testing.B, ns *netns.NS, name string) (d netdev.Device) {
	ns.Do(func() {
		var err error
		if d, err = xdp.OpenPacket(name, nil); err != nil {
			b.Fatal(err)
		}
	})
	return d
}

// sockets opens a node at each end and a socket in each; the second has the name.
func sockets(b *testing.B, x, y netdev.Device, wait stack.WaitMode) (c, s *stack.PacketConn) {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var conns [2]*stack.PacketConn
	var nodes [2]*stack.Node
	for i, d := range []netdev.Device{x, y} {
		n, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(i + 1), Wait: wait})
		if err != nil {
			b.Fatal(err)
		}
		nodes[i] = n
		b.Cleanup(func() { n.Close(context.Background()) })
		var name net.Addr
		if i == 1 {
			name = service
		}
		if conns[i], err = n.ListenPacket(ctx, "tipcrdm", name); err != nil {
			b.Fatal(err)
		}
	}
	if err := nodes[0].WaitFor(ctx, service); err != nil {
		b.Fatal(err)
	}
	return conns[0], conns[1]
}

// BenchmarkRoundTrip64 is a message of 64 bytes by name and its answer.
func BenchmarkRoundTrip64(b *testing.B) {
	for _, seg := range segments {
		for _, wait := range []stack.WaitMode{stack.Adaptive, stack.Sleep, stack.Spin} {
			b.Run(fmt.Sprintf("%s/%s", seg.name, []string{"adaptive", "sleep", "spin"}[wait]), func(b *testing.B) {
				x, y := seg.open(b)
				c, s := sockets(b, x, y, wait)
				var wg sync.WaitGroup
				wg.Go(func() {
					buf := make([]byte, 64)
					for {
						n, from, err := s.ReadFrom(buf)
						if err != nil {
							return
						}
						s.WriteTo(buf[:n], from)
					}
				})
				var to net.Addr = service
				buf := make([]byte, 64)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.WriteTo(buf, to); err != nil {
						b.Fatal(err)
					}
					if _, _, err := c.ReadFrom(buf); err != nil {
						b.Fatal(err)
					}
				}
				s.Close()
				wg.Wait()
			})
		}
	}
}

// BenchmarkOneWay64 is messages of 64 bytes by name, one frame each, until the
// last has arrived.
func BenchmarkOneWay64(b *testing.B) {
	for _, seg := range segments {
		b.Run(seg.name, func(b *testing.B) {
			x, y := seg.open(b)
			c, s := sockets(b, x, y, stack.Adaptive)
			var wg sync.WaitGroup
			wg.Go(func() {
				buf := make([]byte, 64)
				for {
					if n, _, err := s.ReadFrom(buf); err != nil || n == 1 {
						return
					}
				}
			})
			var to net.Addr = service
			buf := make([]byte, 64)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.WriteTo(buf, to); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := c.WriteTo(buf[:1], to); err != nil {
				b.Fatal(err)
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}
