// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"fmt"
	"runtime"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A Million is how a million bindings lie: 100 nodes have 10,000 each.
type Million struct {
	Name  string
	What  string
	which func(node, i uint32) frame.Range
}

// fillers is how many nodes fill the table.
const fillers = 100

var millions = []Million{
	{"types-of-100", "10,000 types of 100 instances", func(n, i uint32) frame.Range { return single(1000+n*100+i/100, i%100) }},
	{"one-type", "one type, an instance each", func(n, i uint32) frame.Range { return single(1000, n*10_000+i) }},
	{"shared-ranges", "100 types of 100 ranges that overlap, each bound by 100 nodes", func(_, i uint32) frame.Range {
		return frame.Range{Type: 1000 + i/100, Lower: i % 100 * 10, Upper: i%100*10 + 20}
	}},
	{"one-type-interleaved", "one type, an instance each, nodes in turn", func(n, i uint32) frame.Range { return single(1000, i*100+n) }},
	{"one-range", "all to one instance", func(_, _ uint32) frame.Range { return single(1000, 5) }},
	{"million-types", "a type each", func(n, i uint32) frame.Range { return single(1000+n*10_000+i, 5) }},
}

// Millions returns all ways, those that differ most first.
func Millions() []Million { return millions }

// MillionFigures are what the bindings cost.
type MillionFigures struct {
	Bytes  float64       // of memory, a binding
	Insert float64       // ns to bind one
	Purge  time.Duration // to lose one more node that has naming.MaxBindings in the same shape
}

// Measure fills a table with each bindings of each of 100 nodes, at most 10,000: then
// there are a million.
func (m Million) Measure(each uint32) (f MillionFigures, err error) {
	ev := make([]naming.Event, 0, naming.MaxBindings)
	before := heap()
	tab := naming.NewTable(Own)
	begin := time.Now()
	for i := range each {
		for n := range uint32(fillers) {
			x := naming.Binding{Range: m.which(n, i), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: i, Node: fillers + frame.NodeAddr(n)}, Key: i}
			if err := tab.Add(x); err != nil {
				return f, fmt.Errorf("%v: %w", x, err)
			}
		}
		ev = tab.TakeEvents(ev[:0])
	}
	all := float64(fillers * each)
	f.Insert = float64(time.Since(begin)) / all
	tab.TakeEvents(nil)
	f.Bytes = float64(heap()-before) / all
	const lost = 99 // no other has this address
	for i := range uint32(naming.MaxBindings) {
		tab.Insert(naming.Binding{Range: m.which(fillers+i/10_000, i%10_000), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: i, Node: lost}, Key: i})
		ev = tab.TakeEvents(ev[:0])
	}
	if n := tab.Count(lost); n != naming.MaxBindings {
		return f, fmt.Errorf("%d bindings to lose, not %d", n, naming.MaxBindings)
	}
	begin = time.Now()
	tab.Purge(lost)
	f.Purge = time.Since(begin)
	if tab.Len() != int(fillers*each) {
		return f, fmt.Errorf("%d bindings are left, not %d", tab.Len(), fillers*each)
	}
	return f, nil
}

// heap is the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
