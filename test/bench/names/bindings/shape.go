// SPDX-License-Identifier: Apache-2.0

// Package bindings is what a binding table is measured with: many bindings in the shapes
// that cost most, and the loops over them. The benchmarks of package naming and 'utipc
// bench names' print what it finds.
//
//	Lookups  random keys, in the table and in a Go map, by turns
//	Binds    one binding more, and gone again
//	Million  memory, time to fill, time to lose a node
package bindings

import (
	"fmt"
	"math/rand/v2"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// Own is the node whose table it is; none of the bindings is its own.
const Own frame.NodeAddr = 0xa

// remote is a node that binds one thing more.
const remote frame.NodeAddr = 0xb

// A Shape is how the bindings of a table lie.
type Shape struct {
	Name string
	What string
	// Beside is how many times as long as in a map a look-up may take; 0: not said.
	Beside float64
	around func(i uint32, r *rand.Rand) frame.Range // ranges around one point; nil: single instances
}

// point is the instance that the ranges of all shapes named c have in common.
const point uint32 = 1 << 31

var shapes = []Shape{
	{Name: "a", What: "1000 types of 100 instances", Beside: 2},
	{Name: "b", What: "one type of 100,000 instances", Beside: 2},
	{Name: "b-wide", What: "the same and one wide range"},
	{
		Name: "c", What: "10,000 ranges around one point, random", Beside: 4,
		around: func(_ uint32, r *rand.Rand) frame.Range {
			return frame.Range{Type: 300, Lower: point - 1 - r.Uint32N(1<<30), Upper: point + 1 + r.Uint32N(1<<30)}
		},
	},
	{
		Name: "c-nested", What: "10,000 ranges around one point, nested", Beside: 4,
		around: func(i uint32, _ *rand.Rand) frame.Range {
			return frame.Range{Type: 300, Lower: point - 1 - i, Upper: point + 1 + i}
		},
	},
	{
		Name: "c-shifted", What: "10,000 ranges around one point, shifted", Beside: 4,
		around: func(i uint32, _ *rand.Rand) frame.Range {
			return frame.Range{Type: 300, Lower: point - 10_000 + i, Upper: point + 1 + i}
		},
	},
	{
		Name: "c-equal-lower", What: "10,000 ranges around one point, of one lower bound", Beside: 4,
		around: func(i uint32, _ *rand.Rand) frame.Range {
			return frame.Range{Type: 300, Lower: point - 1000, Upper: point + 1 + i}
		},
	},
}

// Shapes returns all shapes.
func Shapes() []Shape { return shapes }

// Around reports whether the shape is ranges that all contain one point.
func (s Shape) Around() bool { return s.around != nil }

func single(typ, instance uint32) frame.Range {
	return frame.Range{Type: typ, Lower: instance, Upper: instance}
}

// Make returns n ranges, or n/10 of those around one point, and services that are bound
// in them. n is at most 100,000.
func (s Shape) Make(n uint32) (ranges []frame.Range, keys []frame.Service) {
	r := rand.New(rand.NewPCG(3, 4))
	switch s.Name {
	case "a":
		for i := range n {
			ranges = append(ranges, single(100+i/100, i%100))
			keys = append(keys, frame.Service{Type: 100 + i/100, Instance: i % 100})
		}
	case "b", "b-wide":
		for i := range n {
			ranges = append(ranges, single(100, 1+i))
			keys = append(keys, frame.Service{Type: 100, Instance: 1 + i})
		}
		if s.Name == "b-wide" {
			ranges = append(ranges, frame.Range{Type: 100, Lower: 200_000, Upper: 200_010})
		}
	default:
		known := map[frame.Range]bool{}
		for i := uint32(0); uint32(len(ranges)) < n/10; i++ {
			if x := s.around(i, r); !known[x] {
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

// more returns a range of the shape that is bound beside those of Make; it may be one of
// them, at another socket.
func (s Shape) more(r *rand.Rand) frame.Range {
	if s.around != nil {
		return s.around(r.Uint32N(20_000), r)
	}
	return single(100, 150_000+r.Uint32N(10))
}

// Fill binds the ranges in random order, to 100 nodes in turn.
func Fill(ranges []frame.Range) (*naming.Table, error) {
	tab := naming.NewTable(Own)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(len(ranges)) {
		b := naming.Binding{Range: ranges[k], Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: uint32(k), Node: 1 + frame.NodeAddr(i%100)}, Key: uint32(k)}
		if err := tab.Add(b); err != nil {
			return nil, fmt.Errorf("%v: %w", b, err)
		}
		if i%1000 == 0 {
			tab.TakeEvents(nil)
		}
	}
	tab.TakeEvents(nil)
	return tab, nil
}
