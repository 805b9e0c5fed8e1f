// SPDX-License-Identifier: Apache-2.0

package ranks

import (
	"encoding/binary"
	"math"
)

// What the ranks do together. All of them call it, in the same order. In each every rank
// sends to every other, which for a few ranks is the shortest way: one message's time.
const (
	barrier = collective + iota
	sum
	gather
	alltoall
)

// Barrier returns when all ranks have called it.
func (c *Comm) Barrier() error {
	var token [2]byte
	return c.each(barrier, token[:1], token[1:], func(int, []byte) {})
}

// each sends out to every other rank and gives what each of them sent, in in, to take.
func (c *Comm) each(tag uint32, out, in []byte, take func(from int, b []byte)) error {
	for i := 1; i < len(c.pairs); i++ {
		to := (c.rank + i) % len(c.pairs)
		if err := c.Send(to, tag, out); err != nil {
			return err
		}
	}
	for from := range c.pairs {
		if from == c.rank {
			take(from, out)
			continue
		}
		n, err := c.Recv(from, tag, in)
		if err != nil {
			return err
		}
		if n != len(out) {
			return ErrBroken
		}
		take(from, in[:n])
	}
	return nil
}

// Sum replaces v by the sum over all ranks, element by element; of at most Eager/8 elements.
// It is added in the order of the ranks, so that all get the same bits.
func (c *Comm) Sum(v []float64) error {
	n := 8 * len(v)
	if len(c.words) < 2*n {
		c.words = make([]byte, 2*n)
	}
	out, in := c.words[:n], c.words[n:2*n]
	PutFloats(out, v)
	clear(v)
	return c.each(sum, out, in, func(_ int, b []byte) {
		for i := range v {
			v[i] += math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	})
}

// Gather gives every rank the parts of all: rank r's is parts[r], as long at every rank. The
// own one is to be filled in.
func (c *Comm) Gather(parts [][]byte) error {
	P := len(c.pairs)
	for i := 1; i < P; i++ {
		to, from := (c.rank+i)%P, (c.rank+P-i)%P
		n, err := c.Exchange(to, parts[c.rank], from, parts[from], gather)
		if err != nil {
			return err
		}
		if n != len(parts[from]) {
			return ErrBroken
		}
	}
	return nil
}

// Alltoall sends out[r] to rank r, and returns in in[r] what that sent; in is changed in
// length, its slices must have room for it. The own part is copied.
func (c *Comm) Alltoall(out, in [][]byte) error {
	in[c.rank] = append(in[c.rank][:0], out[c.rank]...)
	P := len(c.pairs)
	for i := 1; i < P; i++ {
		to, from := (c.rank+i)%P, (c.rank+P-i)%P
		n, err := c.Exchange(to, out[to], from, in[from][:cap(in[from])], alltoall)
		if err != nil {
			return err
		}
		in[from] = in[from][:n]
	}
	return nil
}

// PutFloats writes v to b, 8 bytes each.
func PutFloats(b []byte, v []float64) {
	for i, x := range v {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
	}
}

// Floats reads v from b.
func Floats(v []float64, b []byte) {
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}
