// SPDX-License-Identifier: Apache-2.0

// Package halo is a 2-D halo exchange: a plate whose temperature is worked out step by step,
// each point from its four neighbours (Jacobi's 5-point stencil). The plate is cut into square
// blocks, one a rank; before a step each rank sends the edges of its block to its neighbours.
//
//	rank 0      rank 1
//	┌────────┐  ┌────────┐     a block of n × n points, and around it a halo: what the
//	│      ▐▐│─►│▌       │     neighbours sent, or the plate's border, which stays as it is
//	│       ▐│◄─│▌▌      │
//	└────────┘  └────────┘     79 points are a message of 632 bytes, 162 one of 1296
//
// The work between two messages is some microseconds, so that what counts is how soon a short
// message is there. At the end the whole plate is compared, bit by bit, with one worked out by
// a single rank.
package halo

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
)

// Kernel is this one.
var Kernel = kernel.Kernel{
	Name: "halo", What: "a plate's temperature, edges exchanged with neighbours each step",
	Value: "time a step", Unit: "s", SizeOf: "points of a block's edge", Ranks: 2,
	Defaults: kernel.Config{Steps: 20000, Size: 79},
	Run:      run,
}

// Tags by the side of its block that the sender sent.
const (
	up = iota
	down
	left
	right
	final // blocks, at the end
)

// opposite is the side on which the neighbour at that side is met.
var opposite = [4]int{down, up, right, left}

func run(ctx context.Context, p ranks.Place, c kernel.Config) (kernel.Result, error) {
	comm, err := ranks.Connect(ctx, p)
	if err != nil {
		return kernel.Result{}, err
	}
	defer comm.Close()
	rows, columns := shape(p.Ranks)
	b := newBlock(comm, rows, columns, c.Size)
	m := kernel.NewMeter(c.Steps)
	steps := kernel.Warm(c.Steps) + c.Steps
	if err := comm.Barrier(); err != nil {
		return kernel.Result{}, err
	}
	for range steps {
		m.Begin()
		if err := b.exchange(); err != nil {
			return kernel.Result{}, err
		}
		b.now, b.next = b.next, b.now
		relax(b.next, b.now, b.n, b.n)
		m.End()
	}
	checked, err := b.check(rows, columns, steps)
	if err != nil {
		return kernel.Result{}, err
	}
	return m.Result(checked), comm.Barrier()
}

// shape cuts a plate into as many blocks, as square as it goes.
func shape(blocks int) (rows, columns int) {
	for rows = 1; rows*rows <= blocks; rows++ {
	}
	for rows--; blocks%rows != 0; rows-- {
	}
	return rows, blocks / rows
}

// A block is one rank's part of the plate. Its points stand row by row, with a halo of one
// point around them.
type block struct {
	comm      *ranks.Comm
	n         int // points of an edge
	now, next []float64
	beside    [4]int // ranks at the four sides; -1 at the plate's border
	edge      []float64
	bytes     []byte
}

func newBlock(comm *ranks.Comm, rows, columns, n int) *block {
	r, c := comm.Rank()/columns, comm.Rank()%columns
	b := &block{comm: comm, n: n, edge: make([]float64, n), bytes: make([]byte, 8*n), beside: [4]int{-1, -1, -1, -1}}
	if r > 0 {
		b.beside[up] = comm.Rank() - columns
	}
	if r < rows-1 {
		b.beside[down] = comm.Rank() + columns
	}
	if c > 0 {
		b.beside[left] = comm.Rank() - 1
	}
	if c < columns-1 {
		b.beside[right] = comm.Rank() + 1
	}
	b.now = plate(n, n, r*n, c*n)
	b.next = append([]float64(nil), b.now...)
	return b
}

// plate is a part of the plate in the beginning, with what is around it, its first point at
// (row, column) of the whole. No two rows or columns are alike.
func plate(rows, columns, row, column int) []float64 {
	p := make([]float64, (rows+2)*(columns+2))
	for r := range rows + 2 {
		for c := range columns + 2 {
			p[r*(columns+2)+c] = float64(((row+r)*37 + (column+c)*101) % 1009)
		}
	}
	return p
}

// exchange sends the edges to the neighbours and fills the halo with theirs. Edges are short
// enough for all to be sent before any is received.
func (b *block) exchange() error {
	for side, to := range b.beside {
		if to < 0 {
			continue
		}
		b.walk(side, 1, func(i, at int) { b.edge[i] = b.next[at] })
		ranks.PutFloats(b.bytes, b.edge)
		if err := b.comm.Send(to, uint32(side), b.bytes); err != nil {
			return err
		}
	}
	for side, from := range b.beside {
		if from < 0 {
			continue
		}
		if _, err := b.comm.Recv(from, uint32(opposite[side]), b.bytes); err != nil {
			return err
		}
		ranks.Floats(b.edge, b.bytes)
		b.walk(side, 0, func(i, at int) { b.next[at] = b.edge[i] })
	}
	return nil
}

// walk goes along a side, in the block's outermost points (1) or in the halo (0), and says
// where each point is.
func (b *block) walk(side, depth int, point func(i, at int)) {
	wide := b.n + 2
	first, step := 0, 1
	switch side {
	case up:
		first = depth*wide + 1
	case down:
		first = (wide-1-depth)*wide + 1
	case left:
		first, step = wide+depth, wide
	case right:
		first, step = wide+wide-1-depth, wide
	}
	for i := range b.n {
		point(i, first+i*step)
	}
}

// relax works out the next temperature of each point that is not in the halo.
func relax(next, now []float64, rows, columns int) {
	wide := columns + 2
	for r := 1; r <= rows; r++ {
		above, here, below := now[(r-1)*wide:r*wide], now[r*wide:(r+1)*wide], now[(r+1)*wide:(r+2)*wide]
		to := next[r*wide : (r+1)*wide]
		for c := 1; c <= columns; c++ {
			to[c] = 0.25 * (above[c] + below[c] + here[c-1] + here[c+1])
		}
	}
}

// check has rank 0 compare all blocks with the plate as a single rank works it out.
func (b *block) check(rows, columns, steps int) (string, error) {
	wide := b.n + 2
	all := make([]byte, 8*len(b.next))
	ranks.PutFloats(all, b.next)
	if b.comm.Rank() > 0 {
		return "", b.comm.Send(0, final, all)
	}
	height, width := rows*b.n, columns*b.n
	next := plate(height, width, 0, 0)
	now := append([]float64(nil), next...)
	for range steps {
		now, next = next, now
		relax(next, now, height, width)
	}
	part := append([]float64(nil), b.next...)
	for from := range b.comm.Ranks() {
		if from > 0 {
			if _, err := b.comm.Recv(from, final, all); err != nil {
				return "", err
			}
			ranks.Floats(part, all)
		}
		row, column := from/columns*b.n, from%columns*b.n
		for r := 1; r <= b.n; r++ {
			for c := 1; c <= b.n; c++ {
				if got, want := part[r*wide+c], next[(row+r)*(width+2)+column+c]; got != want {
					return "", fmt.Errorf("point %d,%d of rank %d is %v after %d steps, a single rank has %v", r, c, from, got, steps, want)
				}
			}
		}
	}
	return fmt.Sprintf("all %d points as a single rank works them out", height*width), nil
}
