// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// benchPair is two nodes with a link, a socket in the first, and one in the second
// that has a name.
func benchPair(b *testing.B) (net *bed, from, to *Port, svc frame.Service) {
	net = newBed(b, 2)
	svc = frame.Service{Type: 18888, Instance: 17}
	to = net.nodes[1].OpenPort(PortConfig{})
	if err := to.Bind(0, svc.Range(), frame.ClusterScope); err != nil {
		b.Fatal(err)
	}
	if !net.until(3*time.Second, func() bool { return net.nodes[0].knows(svc.Range()) }) {
		b.Fatal("no link")
	}
	return net, net.nodes[0].OpenPort(PortConfig{}), to, svc
}

// exchange carries frames both ways, as the wire would, in one chunk for each.
func (b *bed) exchange() {
	for i, n := range b.nodes {
		for f := n.NextFrame(0); f != nil; f = n.NextFrame(0) {
			b.carry(i, 0, f.Bytes())
			f.Recycle()
		}
	}
}

// BenchmarkMessage is the engines' part of a message of 64 bytes by name, both ends
// together, in a packet of its own and in bundles.
func BenchmarkMessage(b *testing.B) {
	for _, hold := range []bool{false, true} {
		name := "alone"
		if hold {
			name = "bundled"
		}
		b.Run(name, func(b *testing.B) {
			net, from, to, svc := benchPair(b)
			x := net.nodes[0]
			x.Hold(hold)
			data, buf := make([]byte, 64), make([]byte, 64)
			b.ReportAllocs()
			got, sent := 0, 0
			for b.Loop() {
				if err := from.SendService(net.now, svc, data); err != nil {
					b.Fatal(err)
				}
				if sent++; hold && !x.Output() {
					continue
				}
				net.exchange()
				for _, _, ok := to.Read(buf); ok; _, _, ok = to.Read(buf) {
					got++
				}
			}
			x.Flush(net.now)
			net.exchange()
			for _, _, ok := to.Read(buf); ok; _, _, ok = to.Read(buf) {
				got++
			}
			if got != sent {
				b.Errorf("%d of %d messages arrived", got, sent)
			}
		})
	}
}
