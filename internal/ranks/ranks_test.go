// SPDX-License-Identifier: Apache-2.0

package ranks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/launch"
	"github.com/utipc/utipc/internal/ranks"
)

const count = 3

// together runs f as each of count ranks, over either transport.
func together(t *testing.T, f func(c *ranks.Comm) error) {
	for _, over := range []string{launch.UTIPC, launch.TCP} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			k := kernel.Kernel{Name: t.Name(), Ranks: count, Defaults: kernel.Config{Steps: 1, Size: 1}}
			k.Run = func(ctx context.Context, p ranks.Place, _ kernel.Config) (r kernel.Result, err error) {
				c, err := ranks.Connect(ctx, p)
				if err != nil {
					return r, err
				}
				defer c.Close()
				if err := f(c); err != nil {
					return r, fmt.Errorf("rank %d: %w", p.Rank, err)
				}
				return r, c.Barrier()
			}
			if _, err := launch.InProcess(t.Context(), launch.Options{Kernel: k, Over: over}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A message waits until its tag is asked for; those of one tag keep their order.
//
// Proves: bench.kernels
func TestTags(t *testing.T) {
	together(t, func(c *ranks.Comm) error {
		const to, from = 0, 2
		switch c.Rank() {
		case from:
			for _, m := range []struct {
				tag  uint32
				text string
			}{{1, "a"}, {2, "b"}, {1, "c"}, {3, ""}, {2, "much too long"}} {
				if err := c.Send(to, m.tag, []byte(m.text)); err != nil {
					return err
				}
			}
		case to:
			b := make([]byte, 4)
			for _, want := range []struct {
				tag  uint32
				text string
				err  error
			}{{3, "", nil}, {2, "b", nil}, {1, "a", nil}, {1, "c", nil}, {2, "", ranks.ErrShort}} {
				n, err := c.Recv(from, want.tag, b)
				if !errors.Is(err, want.err) || string(b[:n]) != want.text {
					return fmt.Errorf("tag %d: got %q, %v, want %q, %v", want.tag, b[:n], err, want.text, want.err)
				}
			}
		}
		return nil
	})
}

// What is long goes both ways at once, whoever's is longer.
//
// Proves: bench.kernels
func TestAlltoall(t *testing.T) {
	together(t, func(c *ranks.Comm) error {
		length := func(from, to int) int { return []int{0, 5, 300_000, 2_000_000}[(from+2*to)%4] }
		out, in := make([][]byte, count), make([][]byte, count)
		for r := range count {
			out[r] = bytes.Repeat([]byte{byte(10*c.Rank() + r)}, length(c.Rank(), r))
			in[r] = make([]byte, 0, 2_000_000)
		}
		if err := c.Alltoall(out, in); err != nil {
			return err
		}
		for r := range count {
			if want := bytes.Repeat([]byte{byte(10*r + c.Rank())}, length(r, c.Rank())); !bytes.Equal(in[r], want) {
				return fmt.Errorf("of rank %d came %d bytes, want %d of %d", r, len(in[r]), len(want), 10*r+c.Rank())
			}
		}
		return nil
	})
}

// All ranks get the same bits, of numbers whose sum depends on the order.
//
// Proves: bench.kernels
func TestSum(t *testing.T) {
	together(t, func(c *ranks.Comm) error {
		parts := []float64{1e100, 1, -1e100}
		v := []float64{parts[c.Rank()], float64(c.Rank()), math.Inf(1)}
		if err := c.Sum(v); err != nil {
			return err
		}
		if want := []float64{parts[0] + parts[1] + parts[2], 3, math.Inf(1)}; v[0] != want[0] || v[1] != want[1] || v[2] != want[2] {
			return fmt.Errorf("got %v, want %v", v, want)
		}
		return nil
	})
}

// Proves: bench.kernels
func TestGather(t *testing.T) {
	together(t, func(c *ranks.Comm) error {
		parts := [][]byte{make([]byte, 1), make([]byte, 100_000), make([]byte, 7)}
		for i := range parts[c.Rank()] {
			parts[c.Rank()][i] = byte(c.Rank() + i)
		}
		if err := c.Gather(parts); err != nil {
			return err
		}
		for r, part := range parts {
			for i := range part {
				if part[i] != byte(r+i) {
					return fmt.Errorf("byte %d of rank %d is %d", i, r, part[i])
				}
			}
		}
		return nil
	})
}

// A rank that fails ends the others' waiting.
//
// Proves: bench.kernels
func TestOneFails(t *testing.T) {
	broken := errors.New("broken")
	for _, over := range []string{launch.UTIPC, launch.TCP} {
		k := kernel.Kernel{Name: "fails", Ranks: count, Defaults: kernel.Config{Steps: 1, Size: 1}}
		k.Run = func(ctx context.Context, p ranks.Place, _ kernel.Config) (r kernel.Result, err error) {
			c, err := ranks.Connect(ctx, p)
			if err != nil {
				return r, err
			}
			defer c.Close()
			if p.Rank == 1 {
				return r, broken
			}
			_, err = c.Recv(1, 0, nil)
			return r, err
		}
		if _, err := launch.InProcess(t.Context(), launch.Options{Kernel: k, Over: over, Wait: "spin"}); !errors.Is(err, broken) {
			t.Errorf("over %s: got %v, want %v among others", over, err, broken)
		}
	}
}
