// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

func single(typ, instance uint32) frame.Range {
	return frame.Range{Type: typ, Lower: instance, Upper: instance}
}

// tableOf binds ranges in random order, to 100 nodes in turn.
func tableOf(t testing.TB, ranges []frame.Range) *Table {
	t.Helper()
	tab := NewTable(own)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(len(ranges)) {
		b := Binding{Range: ranges[k], Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: uint32(k), Node: 1 + frame.NodeAddr(i%100)}, Key: uint32(k)}
		if err := tab.Add(b); err != nil {
			t.Fatalf("%v: %v", b, err)
		}
		if i%1000 == 0 {
			tab.TakeEvents(nil)
		}
	}
	tab.TakeEvents(nil)
	return tab
}

// Ranges of 10,000 that all contain the instance 1<<31, and how.
var aroundOnePoint = map[string]func(i uint32, r *rand.Rand) frame.Range{
	"nested": func(i uint32, _ *rand.Rand) frame.Range {
		return frame.Range{Type: 300, Lower: 1<<31 - 1 - i, Upper: 1<<31 + 1 + i}
	},
	"shifted": func(i uint32, _ *rand.Rand) frame.Range {
		return frame.Range{Type: 300, Lower: 1<<31 - 10_000 + i, Upper: 1<<31 + 1 + i}
	},
	"random": func(_ uint32, r *rand.Rand) frame.Range {
		return frame.Range{Type: 300, Lower: 1<<31 - 1 - r.Uint32N(1<<30), Upper: 1<<31 + 1 + r.Uint32N(1<<30)}
	},
	"equal-lower": func(i uint32, _ *rand.Rand) frame.Range {
		return frame.Range{Type: 300, Lower: 1<<31 - 1000, Upper: 1<<31 + 1 + i}
	},
}

// shape returns n ranges, or n/10 for c, and services that are bound.
func shape(name string, n uint32) (ranges []frame.Range, keys []frame.Service) {
	r := rand.New(rand.NewPCG(3, 4))
	switch name {
	case "a": // 1000 types of 100 single instances
		for i := range n {
			ranges = append(ranges, single(100+i/100, i%100))
			keys = append(keys, frame.Service{Type: 100 + i/100, Instance: i % 100})
		}
	case "b", "b-wide": // one type of 100,000 single instances, and then one wide range
		for i := range n {
			ranges = append(ranges, single(100, 1+i))
			keys = append(keys, frame.Service{Type: 100, Instance: 1 + i})
		}
		if name == "b-wide" {
			ranges = append(ranges, frame.Range{Type: 100, Lower: 200_000, Upper: 200_010})
		}
	default: // c: one type of 10,000 ranges that all contain one point
		known := map[frame.Range]bool{}
		for i := uint32(0); uint32(len(ranges)) < n/10; i++ {
			if x := aroundOnePoint[name](i, r); !known[x] {
				known[x] = true
				ranges = append(ranges, x)
			}
		}
		for range n / 10 {
			x := ranges[r.IntN(len(ranges))]
			keys = append(keys, frame.Service{Type: 300, Instance: x.Lower + r.Uint32N(x.Upper-x.Lower+1)})
		}
	}
	return ranges, keys
}

// BenchmarkLookup looks random keys up in a Table and in a map of the same keys, by
// turns, and reports the medians of both, their ratio, and that of the fastest rounds,
// which nothing else on the machine disturbed. The targets are 2, 2 and 4.
func BenchmarkLookup(b *testing.B) {
	for _, c := range []struct{ name, shape string }{
		{"a", "a"}, {"b", "b"}, {"b-wide", "b-wide"},
		{"c", "random"}, {"c-nested", "nested"}, {"c-shifted", "shifted"}, {"c-equal-lower", "equal-lower"},
	} {
		b.Run(c.name, func(b *testing.B) {
			ranges, keys := shape(c.shape, 100_000)
			tab := tableOf(b, ranges)
			m := map[frame.Service]frame.SocketAddr{}
			for _, k := range keys {
				m[k] = frame.SocketAddr{Port: k.Instance, Node: 1}
			}
			r := rand.New(rand.NewPCG(5, 6))
			ask := make([]frame.Service, 1<<14)
			for i := range ask {
				ask[i] = keys[r.IntN(len(keys))]
			}
			var sink uint32
			lookUp := func() {
				for _, k := range ask {
					x, ok := tab.Choose(k)
					if !ok {
						b.Fatalf("%v is not found", k)
					}
					sink += x.socket.Port
				}
			}
			lookUpMap := func() {
				for _, k := range ask {
					x, ok := m[k]
					if !ok {
						b.Fatalf("%v is not in the map", k)
					}
					sink += x.Port
				}
			}
			took := func(f func()) float64 {
				start := time.Now()
				f()
				return float64(time.Since(start).Nanoseconds()) / float64(len(ask))
			}
			var ours, theirs []float64
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Shuffle(len(ask), func(i, j int) { ask[i], ask[j] = ask[j], ask[i] })
				if i%2 == 0 { // who is first fetches more from memory
					ours = append(ours, took(lookUp))
					theirs = append(theirs, took(lookUpMap))
				} else {
					theirs = append(theirs, took(lookUpMap))
					ours = append(ours, took(lookUp))
				}
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			o, m2 := ours[len(ours)/2], theirs[len(theirs)/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(o, "table-ns")
			b.ReportMetric(m2, "map-ns")
			b.ReportMetric(o/m2, "times-map")
			b.ReportMetric(ours[0]/theirs[0], "best-times-map")
			runtime.KeepAlive(sink)
		})
	}
}

// BenchmarkBindOneMore binds one more range and unbinds it. The target for c is 10 µs
// for each. "equal" is one range that a node has bound 65534 times.
func BenchmarkBindOneMore(b *testing.B) {
	for _, c := range []struct{ name, shape string }{
		{"b", "b"}, {"b-wide", "b-wide"}, {"equal", ""},
		{"c", "random"}, {"c-nested", "nested"}, {"c-shifted", "shifted"}, {"c-equal-lower", "equal-lower"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var tab *Table
			one := func(r *rand.Rand) frame.Range { return single(100, 150_000+r.Uint32N(10)) }
			switch f := aroundOnePoint[c.shape]; {
			case c.shape == "":
				tab = NewTable(own)
				for i := range uint32(MaxBindings - 1) {
					tab.Insert(Binding{Range: single(100, 5), Socket: frame.SocketAddr{Port: i, Node: far1}, Key: i})
				}
				one = func(*rand.Rand) frame.Range { return single(100, 5) }
			case f != nil:
				one = func(r *rand.Rand) frame.Range { return f(r.Uint32N(20_000), r) }
				fallthrough
			default:
				ranges, _ := shape(c.shape, 100_000)
				tab = tableOf(b, ranges)
			}
			tab.TakeEvents(nil)
			r := rand.New(rand.NewPCG(7, 8))
			ev := make([]Event, 0, 16)
			var bind, unbind, worst []float64
			for b.Loop() {
				x := Binding{Range: one(r), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: 1 << 20, Node: far1}, Key: 1 << 20}
				start := time.Now()
				ok := tab.Insert(x)
				middle := time.Now()
				ok2 := tab.Remove(x)
				end := time.Now()
				if !ok || !ok2 {
					b.Fatalf("%v: %v %v", x, ok, ok2)
				}
				ev = tab.TakeEvents(ev[:0])
				bind = append(bind, float64(middle.Sub(start).Nanoseconds()))
				unbind = append(unbind, float64(end.Sub(middle).Nanoseconds()))
				worst = append(worst, max(bind[len(bind)-1], unbind[len(unbind)-1]))
			}
			for _, l := range []*[]float64{&bind, &unbind, &worst} {
				slices.Sort(*l)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(bind[len(bind)/2], "bind-ns")
			b.ReportMetric(unbind[len(unbind)/2], "unbind-ns")
			b.ReportMetric(worst[len(worst)*99/100], "p99-ns")
		})
	}
}

// A million bindings: 100 nodes of 10,000 each.
var millions = []struct {
	name string
	r    func(node, i uint32) frame.Range
}{
	{"types-of-100", func(n, i uint32) frame.Range { return single(1000+n*100+i/100, i%100) }},
	{"one-type", func(n, i uint32) frame.Range { return single(1000, n*10_000+i) }},
	{"one-type-interleaved", func(n, i uint32) frame.Range { return single(1000, i*100+n) }},
	{"shared-ranges", func(_, i uint32) frame.Range {
		return frame.Range{Type: 1000 + i/100, Lower: i % 100 * 10, Upper: i%100*10 + 20}
	}},
	{"one-range", func(_, _ uint32) frame.Range { return single(1000, 5) }},
	{"million-types", func(n, i uint32) frame.Range { return single(1000+n*10_000+i, 5) }},
}

// BenchmarkMillion fills a table with a million bindings, then binds what one more
// node may have in the same shape and loses that node.
func BenchmarkMillion(b *testing.B) {
	for _, c := range millions {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				tab := NewTable(own)
				ev := make([]Event, 0, MaxBindings)
				start := time.Now()
				for i := range uint32(10_000) {
					for n := range uint32(100) {
						x := Binding{Range: c.r(n, i), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: i, Node: 100 + frame.NodeAddr(n)}, Key: i}
						if err := tab.Add(x); err != nil {
							b.Fatal(err)
						}
					}
					ev = tab.TakeEvents(ev[:0])
				}
				insert := time.Since(start)
				tab.TakeEvents(nil)
				b.ReportMetric(float64(heap()-before)/1e6, "B/binding")
				for i := range uint32(MaxBindings) {
					tab.Insert(Binding{Range: c.r(100+i/10_000, i%10_000), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: i, Node: 99}, Key: i})
					ev = tab.TakeEvents(ev[:0])
				}
				start = time.Now()
				tab.Purge(99)
				b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "purge-ms")
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(insert.Nanoseconds())/1e6, "ns/insert")
				if tab.Len() != 1_000_000 {
					b.Fatalf("%d left", tab.Len())
				}
			}
		})
	}
}

// heap is the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
