// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/internal/kernels/kernel"
)

// A load is a program for the ranks to run. All ranks end alike: rank 0 has checked the result.
type load struct {
	kernel kernel.Kernel // but for Run
	pages  func(ranks int, c kernel.Config) int
	run    func(p *program, c kernel.Config) (kernel.Result, error)
}

var loads = []load{
	{
		kernel.Kernel{
			Name: "read", What: "reads pages that another rank has written to", Value: "time of a read fault", Unit: "s",
			SizeOf: "pages", Ranks: 2, Defaults: kernel.Config{Steps: 2000, Size: 100},
		}, faultPages, func(p *program, c kernel.Config) (kernel.Result, error) { return fault(p, c, false) },
	},
	{
		kernel.Kernel{
			Name: "write", What: "writes to pages that another rank has written to", Value: "time of a write fault", Unit: "s",
			SizeOf: "pages", Ranks: 2, Defaults: kernel.Config{Steps: 2000, Size: 100},
		}, faultPages, func(p *program, c kernel.Config) (kernel.Result, error) { return fault(p, c, true) },
	},
	{
		kernel.Kernel{
			Name: "matrix", What: "multiplies matrices, the rows spread over the ranks", Value: "time of a product", Unit: "s",
			SizeOf: "rows and columns", Ranks: 2, Defaults: kernel.Config{Steps: 5, Size: 256},
		}, func(_ int, c kernel.Config) int { return firstPage + 3*matrixPages(c.Size) }, matrix,
	},
	{
		kernel.Kernel{
			Name: "queue", What: "puts into and takes out of one queue, under one lock", Value: "entries a second", Unit: "/s",
			SizeOf: "places in the queue", Ranks: 2, Defaults: kernel.Config{Steps: 2000, Size: 16},
		}, func(ranks int, c kernel.Config) int {
			return firstPage + 1 + (c.Size+511)/512 + (ranks*(kernel.Warm(c.Steps)+c.Steps)+511)/512
		}, queue,
	},
	{
		kernel.Kernel{
			Name: "litmus", What: "looks for orders of accesses that sequential consistency forbids", Value: "time of a round", Unit: "s",
			SizeOf: "variables a page", Ranks: 4, Defaults: kernel.Config{Steps: 300, Size: 1},
		}, func(ranks int, _ kernel.Config) int { return firstPage + 2 + ranks }, litmus,
	},
}

// findLoad returns the one of that name.
func findLoad(name string) (l load, ok bool) {
	i := slices.IndexFunc(loads, func(l load) bool { return l.kernel.Name == name })
	if i < 0 {
		return l, false
	}
	return loads[i], true
}

// idle is how long a rank waits that found nothing to do in the queue.
const idle = 20 * time.Microsecond

// faultPages has so many that the last rank is the home of all that are measured.
func faultPages(ranks int, c kernel.Config) int { return ranks * (c.Size + firstPage) }

// fault takes the time of rank 0's accesses to pages that the last rank has written to and is the
// home of: a message there, the page back.
func fault(p *program, c kernel.Config, write bool) (kernel.Result, error) {
	lower, _ := homes(p.ranks-1, p.ranks, uint32(faultPages(p.ranks, c)))
	m := kernel.NewMeter(c.Steps)
	all := kernel.Warm(c.Steps) + c.Steps
	for made, round := 0, uint64(1); made < all; round++ {
		pages := min(c.Size, all-made)
		made += pages
		if p.rank == p.ranks-1 {
			for i := range pages {
				atomic.StoreUint64(&p.words(int(lower) + i)[0], round)
			}
		}
		p.barrier()
		for i := 0; i < pages && p.rank == 0; i++ {
			w := p.words(int(lower) + i)
			m.Begin()
			if write {
				atomic.StoreUint64(&w[1], round)
			}
			got := atomic.LoadUint64(&w[0])
			m.End()
			if got != round {
				return kernel.Result{}, fmt.Errorf("dsm: page %d has %d, not %d", i, got, round)
			}
		}
		p.barrier()
	}
	return m.Result("every page has what was written last"), nil
}

func matrixPages(n int) int { return (n*n*8 + pageSize - 1) / pageSize }

// matrix multiplies two matrices that rank 0 writes, anew in each step. The numbers are whole, so
// the check is exact.
func matrix(p *program, c kernel.Config) (kernel.Result, error) {
	n := c.Size
	at := func(i int) []float64 { return p.floats(firstPage+i*matrixPages(n), n*n) }
	a, b, product := at(0), at(1), at(2)
	m := kernel.NewMeter(c.Steps)
	for step := range kernel.Warm(c.Steps) + c.Steps {
		if p.rank == 0 {
			for i := range a {
				a[i], b[i] = float64((i+step)%7), float64((i*3+step)%5)
			}
		}
		p.barrier()
		m.Begin()
		first, last := p.rank*n/p.ranks, (p.rank+1)*n/p.ranks
		multiply(product, a, b, n, first, last)
		p.barrier()
		m.End()
		if p.rank == 0 {
			alone := make([]float64, n*n)
			multiply(alone, a, b, n, 0, n)
			if !slices.Equal(product, alone) {
				return kernel.Result{}, fmt.Errorf("dsm: the product of step %d is not that of one rank", step)
			}
		}
		p.barrier()
	}
	return m.Result("every product, number by number, is that of one rank alone"), nil
}

// multiply works out some rows of a product.
func multiply(product, a, b []float64, n, first, last int) {
	for i := first; i < last; i++ {
		row := make([]float64, n)
		for k := range n {
			for j, v := range b[k*n : (k+1)*n] {
				row[j] += a[i*n+k] * v
			}
		}
		copy(product[i*n:], row)
	}
}

// queue has every rank put numbers into one ring, and take out those of other ranks.
func queue(p *program, c kernel.Config) (kernel.Result, error) {
	each := kernel.Warm(c.Steps) + c.Steps
	all := p.ranks * each
	state := p.words(firstPage) // how many were put, and taken
	ring := p.words(firstPage + 1)[:c.Size]
	seen := p.words(firstPage + 1 + (c.Size+511)/512)[:all]
	m := kernel.NewMeter(c.Steps)
	p.barrier()
	for put, taken := 0, uint64(0); put < each || taken < uint64(all); {
		m.Begin()
		did := false
		p.locked(func() {
			if put < each && state[0]-state[1] < uint64(c.Size) {
				ring[state[0]%uint64(c.Size)] = uint64(p.rank*each + put)
				state[0]++
				put++
				did = true
			} else if state[1] < state[0] {
				n := ring[state[1]%uint64(c.Size)]
				if n/uint64(each) != uint64(p.rank) {
					seen[n]++
					state[1]++
					did = true
				}
			}
			taken = state[1]
		})
		if did {
			m.End()
		} else {
			time.Sleep(idle)
		}
	}
	p.barrier()
	for i, n := range seen {
		if n != 1 {
			return kernel.Result{}, fmt.Errorf("dsm: entry %d was taken %d times", i, n)
		}
	}
	p.barrier()
	return m.Rate(fmt.Sprintf("each of %d entries was taken once", all)), nil
}
