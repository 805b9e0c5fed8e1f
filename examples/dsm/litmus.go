// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"sync/atomic"

	"github.com/utipc/utipc/internal/kernels/kernel"
)

// litmus has four ranks access x and y, which are on two pages, and looks at what they read. Three
// tests in turn; in no order of all accesses, each rank's in its own, is what is forbidden read:
//
//	store buffering   x=1; r0=y │ y=1; r1=x                          r0=0 and r1=0
//	message passing   x=1; y=1  │ r0=y; r1=x                         r0=1 and r1=0
//	IRIW              x=1 │ y=1 │ r0=x; r1=y │ r2=y; r3=x            r0=1, r1=0, r2=1 and r3=0
//
// Before each round all ranks have read both pages, so that each has a copy which can be old.
func litmus(p *program, c kernel.Config) (kernel.Result, error) {
	x, y := &p.words(firstPage)[0], &p.words(firstPage + 1)[0]
	mine := p.words(firstPage + 2 + p.rank)
	var seen [3]int // rounds in which ranks met
	m := kernel.NewMeter(c.Steps)
	for round := 1; round <= kernel.Warm(c.Steps)+c.Steps; round++ {
		m.Begin()
		atomic.LoadUint64(x)
		atomic.LoadUint64(y)
		p.barrier()
		var r [2]uint64
		write := func(w *uint64) { atomic.StoreUint64(w, uint64(round)) }
		get := func(w0, w1 *uint64) { r = [2]uint64{atomic.LoadUint64(w0), atomic.LoadUint64(w1)} }
		switch test := round % 3; {
		case test == 0 && p.rank == 0:
			write(x)
			r[0] = atomic.LoadUint64(y)
		case test == 0 && p.rank == 1:
			write(y)
			r[0] = atomic.LoadUint64(x)
		case test == 1 && p.rank == 0:
			write(x)
			write(y)
		case test == 1 && p.rank == 1:
			get(y, x)
		case test == 2 && p.rank == 0:
			write(x)
		case test == 2 && p.rank == 1:
			write(y)
		case test == 2 && p.rank == 2:
			get(x, y)
		case test == 2 && p.rank == 3:
			get(y, x)
		}
		atomic.StoreUint64(&mine[0], r[0])
		atomic.StoreUint64(&mine[1], r[1])
		p.barrier()
		if p.rank == 0 {
			met, err := judge(round, func(rank, i int) bool {
				return atomic.LoadUint64(&p.words(firstPage + 2 + rank)[i]) == uint64(round)
			})
			if err != nil {
				return kernel.Result{}, err
			}
			if met {
				seen[round%3]++
			}
		}
		p.barrier()
		m.End()
	}
	return m.Result(fmt.Sprintf("nothing forbidden was read; ranks met in %d rounds of store buffering, %d of message passing, %d of IRIW", seen[0], seen[1], seen[2])), nil
}

// judge looks at a round: is says whether a rank's read got the round's value. met says that it
// shows some order between ranks.
func judge(round int, is func(rank, i int) bool) (met bool, err error) {
	var forbidden bool
	switch round % 3 {
	case 0:
		forbidden = !is(0, 0) && !is(1, 0)
		met = is(0, 0) != is(1, 0)
	case 1:
		forbidden = is(1, 0) && !is(1, 1)
		met = is(1, 0) || is(1, 1)
	case 2:
		forbidden = is(2, 0) && !is(2, 1) && is(3, 0) && !is(3, 1)
		met = is(2, 0) != is(2, 1) || is(3, 0) != is(3, 1)
	}
	if forbidden {
		return met, fmt.Errorf("dsm: round %d is not sequentially consistent", round)
	}
	return met, nil
}
