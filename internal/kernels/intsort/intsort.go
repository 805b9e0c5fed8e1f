// SPDX-License-Identifier: Apache-2.0

// Package intsort sorts integers that lie on several ranks: each rank parts its keys into as
// many ranges as there are ranks, all exchange them with all, and each sorts what it got.
//
//	keys of each rank ──► a bucket for each rank ──Alltoall──► keys of one range ──► sorted
//
// Half of all keys change ranks, or more: what counts is how fast long messages go both ways
// at once. After every step the order is checked within and between ranks, and no key may be
// missing: their number and their sum stay.
package intsort

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
)

// Kernel is this one.
var Kernel = kernel.Kernel{
	Name: "intsort", What: "integers sorted by an exchange of all with all",
	Value: "time a sort", Unit: "s", SizeOf: "keys of a rank", Ranks: 2,
	Defaults: kernel.Config{Steps: 200, Size: 1 << 16},
	BothWays: true,
	Run:      run,
}

// bits of a key; digit of those sorted in one pass.
const (
	bits  = 20
	digit = 10
)

func run(ctx context.Context, p ranks.Place, c kernel.Config) (kernel.Result, error) {
	comm, err := ranks.Connect(ctx, p)
	if err != nil {
		return kernel.Result{}, err
	}
	defer comm.Close()
	s := newSorter(comm, c.Size)
	m := kernel.NewMeter(c.Steps)
	for step := range kernel.Warm(c.Steps) + c.Steps {
		s.deal(step)
		if err := comm.Barrier(); err != nil {
			return kernel.Result{}, err
		}
		m.Begin()
		got, err := s.sort()
		if err != nil {
			return kernel.Result{}, err
		}
		m.End()
		if err := s.check(got); err != nil {
			return kernel.Result{}, fmt.Errorf("step %d: %w", step, err)
		}
	}
	if err := comm.Barrier(); err != nil {
		return kernel.Result{}, err
	}
	return m.Result(fmt.Sprintf("%d keys in order after each sort, none missing", c.Size*p.Ranks)), nil
}

// A sorter is one rank's part.
type sorter struct {
	comm    *ranks.Comm
	keys    []uint32
	sum     float64 // of keys; exact, being far below 1<<53
	out, in [][]byte
	got     []uint32
	spare   []uint32
}

func newSorter(comm *ranks.Comm, keys int) *sorter {
	s := &sorter{comm: comm, keys: make([]uint32, keys)}
	for range comm.Ranks() {
		s.out = append(s.out, make([]byte, 0, 4*keys))
		s.in = append(s.in, make([]byte, 0, 4*keys)) // at most all of a rank's
	}
	return s
}

// deal gives the rank new keys, any from 0 to 1<<bits - 1.
func (s *sorter) deal(step int) {
	chance := rand.New(rand.NewPCG(uint64(step), uint64(s.comm.Rank())))
	s.sum = 0
	for i := range s.keys {
		s.keys[i] = chance.Uint32() >> (32 - bits)
		s.sum += float64(s.keys[i])
	}
}

// sort returns the keys of this rank's range, in order.
func (s *sorter) sort() ([]uint32, error) {
	P := uint64(s.comm.Ranks())
	for r := range s.out {
		s.out[r] = s.out[r][:0]
	}
	for _, k := range s.keys {
		r := uint64(k) * P >> bits
		s.out[r] = binary.LittleEndian.AppendUint32(s.out[r], k)
	}
	if err := s.comm.Alltoall(s.out, s.in); err != nil {
		return nil, err
	}
	s.got = s.got[:0]
	for _, b := range s.in {
		for ; len(b) >= 4; b = b[4:] {
			s.got = append(s.got, binary.LittleEndian.Uint32(b))
		}
	}
	if cap(s.spare) < len(s.got) {
		s.spare = make([]uint32, len(s.got), cap(s.got))
	}
	s.spare = s.spare[:len(s.got)]
	for shift := 0; shift < bits; shift += digit {
		pass(s.spare, s.got, shift)
		s.got, s.spare = s.spare, s.got
	}
	return s.got, nil
}

// pass sorts by one digit, and keeps the order of keys that have the same.
func pass(to, from []uint32, shift int) {
	var begin [1<<digit + 1]int
	for _, k := range from {
		begin[k>>shift&(1<<digit-1)+1]++
	}
	for i := 1; i < len(begin); i++ {
		begin[i] += begin[i-1]
	}
	for _, k := range from {
		d := k >> shift & (1<<digit - 1)
		to[begin[d]] = k
		begin[d]++
	}
}

// check compares what all ranks have with what they were dealt.
func (s *sorter) check(got []uint32) error {
	total := []float64{float64(len(s.keys)), s.sum, 0, 0}
	P := uint64(s.comm.Ranks())
	for i, k := range got {
		if i > 0 && got[i-1] > k {
			return fmt.Errorf("rank %d: key %d, %d, stands behind %d", s.comm.Rank(), i, k, got[i-1])
		}
		if r := uint64(k) * P >> bits; r != uint64(s.comm.Rank()) {
			return fmt.Errorf("rank %d has key %d, which is rank %d's", s.comm.Rank(), k, r)
		}
		total[2]++
		total[3] += float64(k)
	}
	if err := s.comm.Sum(total); err != nil {
		return err
	}
	if total[0] != total[2] || total[1] != total[3] {
		return fmt.Errorf("of %v keys with the sum %v, %v with the sum %v came back", total[0], total[1], total[2], total[3])
	}
	return nil
}
