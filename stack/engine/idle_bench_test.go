// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// BenchmarkIdleMemory is what a peer takes that had traffic and is idle: the endpoint of
// its one link with its deadline and its name, and the rest, without what the name table
// keeps for the two names it comes with, which is told apart; and the sizes of the parts.
func BenchmarkIdleMemory(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		before := heap()
		c := newManyPeers(b, n)
		c.names = nil
		all := heap() - before
		before = heap()
		t := naming.NewTable(ownAddr)
		for _, n := range c.nodes {
			t.Insert(naming.Binding{
				Range: frame.Range{Type: naming.NodeState, Lower: uint32(n.addr), Upper: uint32(n.addr)},
				Scope: frame.ClusterScope, Socket: frame.SocketAddr{Node: n.addr}, Key: uint32(n.addr),
			})
			t.Insert(c.linkBinding(n.links[0]))
		}
		t.TakeEvents(nil)
		names := heap() - before
		runtime.KeepAlive(t)
		endpoints := c.dropLinks()
		b.ReportMetric(float64(endpoints)/n, "B/endpoint")
		b.ReportMetric(float64(all-names-endpoints)/n, "B/rest")
		b.ReportMetric(float64(names)/n, "B/names")
	}
	b.ReportMetric(float64(unsafe.Sizeof(flowctl.Link{})), "B/flowctl.Link")
	b.ReportMetric(float64(unsafe.Sizeof(link{})), "B/link")
	b.ReportMetric(float64(unsafe.Sizeof(node{})), "B/node")
	b.ReportMetric(float64(unsafe.Sizeof(flowctl.BroadcastReceiver{})), "B/Broadcast")
	b.ReportMetric(0, "ns/op")
}

// dropLinks drops all links, after which the many peers is of no use, and returns how much
// memory that gives back.
func (c *manyPeers) dropLinks() int64 {
	before := heap()
	for _, n := range c.nodes {
		clear(n.links[:])
		clear(n.slots[:])
	}
	c.deadlines = deadlines{}
	for _, b := range c.bearers { // the ring has a place for each link, and a record
		b.ring, b.local = nil, nil
	}
	after := heap()
	runtime.KeepAlive(c)
	return before - after
}

// An endpoint that had traffic and is idle takes at most 1 KiB, with all it points to: its
// place on the ring and the record of its neighbour too, with as many members as there
// are among 1000 nodes.
//
// Proves: link.timers, contact.monitor
func TestIdleEndpointIsSmall(t *testing.T) {
	const n = 2000
	c := newManyPeers(t, n)
	ring := c.bearers[0].ring
	f := frame.DomainFields{Gen: 1, Members: make([]frame.NodeAddr, 31)}
	for i := range f.Members {
		f.Members[i] = frame.NodeAddr(i)
	}
	told := 0
	for _, o := range c.nodes {
		if p := ring.Peer(o.addr); p != nil && ring.Monitor.Receive(p, f.Append(nil)) {
			told++
		}
	}
	if told != n {
		t.Fatalf("%d of %d neighbours told their record", told, n)
	}
	if got := c.dropLinks() / n; got > 1024 {
		t.Errorf("got %d bytes, want at most 1024", got)
	} else {
		t.Logf("%d bytes", got)
	}
}

// heap is the number of bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkIdleTick is the cost of one tick of one idle endpoint among so many, each
// at a deadline of its own: the probe that it sends included.
func BenchmarkIdleTick(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newManyPeers(b, n)
			b.ReportAllocs()
			ticks := 0
			for b.Loop() {
				c.now = c.Deadline()
				c.HandleTimeout(c.now)
				c.take()
				if ticks++; ticks%(40*n) == 0 {
					b.StopTimer()
					c.hearAll()
					c.take()
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkIdleOthers is a message of 64 bytes to one endpoint and one back, between
// the ticks of so many others that idle.
func BenchmarkIdleOthers(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newManyPeers(b, n)
			b.ReportAllocs()
			for b.Loop() {
				c.HandleTimeout(c.now)
				c.say(0)
				c.take()
			}
		})
	}
}

// BenchmarkDeadlines is one change of a deadline among so many: to a random time, and
// to the last, as a tick does.
func BenchmarkDeadlines(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var d deadlines
			for i := range n {
				d.move(&link{due: flowctl.Never}, time.Duration(i))
			}
			now := time.Duration(n)
			b.ReportAllocs()
			for b.Loop() {
				d.move(d.links[d.heap[0].number], now)
				now++
			}
		})
	}
}
