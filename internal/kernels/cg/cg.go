// SPDX-License-Identifier: Apache-2.0

// Package cg solves a system of linear equations by the method of conjugate gradients. The
// matrix is sparse, without order, and lies on the ranks by rows. A step takes a product of
// the matrix and a vector, for which every rank needs all of the vector, and two scalar
// products, for which all add up what each has.
//
//	each step:  Gather p ──► q = A p ──► Sum p·q ──► x, r ──► Sum r·r ──► p
//
// So a step is three exchanges that wait for each other: one of a few KB, two of 8 bytes.
// When a solution is there the residual is worked out anew from it, and has to be small.
package cg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
)

// Kernel is this one.
var Kernel = kernel.Kernel{
	Name: "cg", What: "conjugate gradients, scalar products summed over all ranks",
	Value: "time a step", Unit: "s", SizeOf: "unknowns of a rank", Ranks: 2,
	Defaults: kernel.Config{Steps: 10000, Size: 700},
	Run:      run,
}

const (
	solve    = 25    // steps to a solution
	beside   = 4     // entries beside the diagonal that each row brings, and its column
	accuracy = 1e-10 // of the residual, beside the right side
)

func run(ctx context.Context, p ranks.Place, c kernel.Config) (kernel.Result, error) {
	comm, err := ranks.Connect(ctx, p)
	if err != nil {
		return kernel.Result{}, err
	}
	defer comm.Close()
	s := newSolver(comm, c.Size)
	m := kernel.NewMeter(c.Steps)
	steps := kernel.Warm(c.Steps) + c.Steps
	worst := 0.0
	for done := 0; done < steps; {
		if err := s.begin(); err != nil {
			return kernel.Result{}, err
		}
		n := min(solve, steps-done)
		for range n {
			m.Begin()
			if err := s.step(); err != nil {
				return kernel.Result{}, err
			}
			m.End()
		}
		if done += n; n < solve {
			break // not a solution yet
		}
		rest, err := s.residual()
		if err != nil {
			return kernel.Result{}, err
		}
		if !(rest < accuracy) {
			return kernel.Result{}, fmt.Errorf("after %d steps the residual is %g", solve, rest)
		}
		worst = max(worst, rest)
	}
	if err := comm.Barrier(); err != nil {
		return kernel.Result{}, err
	}
	return m.Result(fmt.Sprintf("residuals of %d unknowns after %d steps at most %.1e", c.Size*p.Ranks, solve, worst)), nil
}

// An entry of the matrix.
type entry struct {
	column int
	value  float64
}

// A solver is one rank's part: some rows of everything.
type solver struct {
	comm       *ranks.Comm
	first, n   int       // its rows
	rows       [][]entry // of the matrix
	b, x, r, q []float64 // its part of the vectors
	p          []float64 // all of this one
	rr         float64   // r·r
	parts      [][]byte  // of p, a rank's each
	one        [1]float64
}

func newSolver(comm *ranks.Comm, n int) *solver {
	all := n * comm.Ranks()
	s := &solver{comm: comm, first: n * comm.Rank(), n: n, rows: matrix(all)[n*comm.Rank():][:n]}
	for _, v := range []*[]float64{&s.b, &s.x, &s.r, &s.q} {
		*v = make([]float64, n)
	}
	s.p = make([]float64, all)
	for range comm.Ranks() {
		s.parts = append(s.parts, make([]byte, 8*n))
	}
	for i := range s.b {
		s.b[i] = 1 + float64((s.first+i)%7)
	}
	return s
}

// matrix is symmetric, and its diagonal outweighs the rest: there is one solution, and few
// steps lead there.
func matrix(n int) [][]entry {
	chance := rand.New(rand.NewPCG(1, 2))
	rows := make([][]entry, n)
	weight := make([]float64, n)
	for i := range n {
		for range beside {
			j, v := chance.IntN(n), -chance.Float64()
			if j == i {
				continue
			}
			rows[i], rows[j] = append(rows[i], entry{j, v}), append(rows[j], entry{i, v})
			weight[i] -= v
			weight[j] -= v
		}
	}
	for i := range n {
		rows[i] = append(rows[i], entry{i, weight[i] + 4})
	}
	return rows
}

// begin begins a new solution, from zero.
func (s *solver) begin() (err error) {
	clear(s.x)
	copy(s.r, s.b)
	copy(s.own(), s.r)
	s.rr, err = s.dot(s.r, s.r)
	return err
}

// own is this rank's part of p.
func (s *solver) own() []float64 { return s.p[s.first : s.first+s.n] }

func (s *solver) step() error {
	if err := s.multiply(s.q); err != nil {
		return err
	}
	p := s.own()
	pq, err := s.dot(p, s.q)
	if err != nil {
		return err
	}
	alpha := s.rr / pq
	for i := range s.x {
		s.x[i] += alpha * p[i]
		s.r[i] -= alpha * s.q[i]
	}
	rr, err := s.dot(s.r, s.r)
	if err != nil {
		return err
	}
	beta := rr / s.rr
	s.rr = rr
	for i := range p {
		p[i] = s.r[i] + beta*p[i]
	}
	return nil
}

// multiply gathers p and sets to to the own rows of A p.
func (s *solver) multiply(to []float64) error {
	me := s.comm.Rank()
	ranks.PutFloats(s.parts[me], s.own())
	if err := s.comm.Gather(s.parts); err != nil {
		return err
	}
	for r, part := range s.parts {
		if r != me {
			ranks.Floats(s.p[r*s.n:(r+1)*s.n], part)
		}
	}
	for i, row := range s.rows {
		sum := 0.0
		for _, e := range row {
			sum += e.value * s.p[e.column]
		}
		to[i] = sum
	}
	return nil
}

// dot is the scalar product over all ranks.
func (s *solver) dot(a, b []float64) (float64, error) {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	s.one[0] = sum
	err := s.comm.Sum(s.one[:])
	return s.one[0], err
}

// residual is |b - A x| / |b|, worked out from x alone.
func (s *solver) residual() (float64, error) {
	copy(s.own(), s.x)
	if err := s.multiply(s.q); err != nil {
		return 0, err
	}
	for i := range s.q {
		s.q[i] = s.b[i] - s.q[i]
	}
	rest, err := s.dot(s.q, s.q)
	if err != nil {
		return 0, err
	}
	size, err := s.dot(s.b, s.b)
	return math.Sqrt(rest / size), err
}
