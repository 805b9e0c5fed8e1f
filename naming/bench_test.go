// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"testing"

	"github.com/utipc/utipc/test/bench/names/bindings"
)

// BenchmarkLookup looks random keys up in a Table and in a map of the same keys, by
// turns, and reports the medians of both, their ratio, and that of the fastest rounds,
// which nothing else on the machine disturbed. The targets are 2, 2 and 4.
func BenchmarkLookup(b *testing.B) {
	for _, s := range bindings.Shapes() {
		b.Run(s.Name, func(b *testing.B) {
			l, err := bindings.NewLookups(s, 100_000)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := l.Round(); err != nil {
					b.Fatal(err)
				}
			}
			f := l.Figures()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(f.Table, "table-ns")
			b.ReportMetric(f.Map, "map-ns")
			b.ReportMetric(f.Table/f.Map, "times-map")
			b.ReportMetric(f.BestTable/f.BestMap, "best-times-map")
			b.ReportMetric(f.Mallocs, "mallocs/lookup")
		})
	}
}

// BenchmarkBindOneMore binds one more range and unbinds it. The target for c is 10 µs
// for each. "equal" is one range that a node has bound 65534 times.
func BenchmarkBindOneMore(b *testing.B) {
	for _, s := range bindings.Shapes() {
		b.Run(s.Name, func(b *testing.B) {
			x, err := bindings.NewBinds(s, 100_000)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkBinds(b, x)
		})
	}
	b.Run("equal", func(b *testing.B) { benchmarkBinds(b, bindings.NewManyBinds()) })
}

func benchmarkBinds(b *testing.B, x *bindings.Binds) {
	for b.Loop() {
		if err := x.Round(); err != nil {
			b.Fatal(err)
		}
	}
	f := x.Figures()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(f.Bind, "bind-ns")
	b.ReportMetric(f.Unbind, "unbind-ns")
	b.ReportMetric(max(f.BindP99, f.UnbindP99), "p99-ns")
}

// BenchmarkMillion fills a table with a million bindings, then binds what one more
// node may have in the same shape and loses that node.
func BenchmarkMillion(b *testing.B) {
	for _, m := range bindings.Millions() {
		b.Run(m.Name, func(b *testing.B) {
			for b.Loop() {
				f, err := m.Measure(10_000)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(f.Bytes, "B/binding")
				b.ReportMetric(f.Insert, "ns/insert")
				b.ReportMetric(float64(f.Purge.Microseconds())/1000, "purge-ms")
			}
		})
	}
}
