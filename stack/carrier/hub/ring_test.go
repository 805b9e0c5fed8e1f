// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// allocated counts the chunks a ring has.
func (r *ring) allocated() (n int) {
	for _, c := range r.chunks {
		if c != nil {
			n++
		}
	}
	return n
}

// A ring behaves as a bounded queue, whatever is put and dropped.
func TestRingAgainstSlice(t *testing.T) {
	for _, longest := range []int{14, 1514, 65014} {
		for _, size := range []int{1, 2, 64} {
			dice := rand.New(rand.NewPCG(1, uint64(size)))
			r := newRing(size, longest)
			var want [][]byte
			for range 2000 {
				if dice.IntN(2) == 0 {
					f := make([]byte, dice.IntN(longest+1))
					if len(f) > 0 {
						f[0], f[len(f)-1] = byte(dice.Uint32()), byte(dice.Uint32())
					}
					if got := r.put(f); got != (len(want) < size) {
						t.Fatalf("size %d: put with %d inside: got %v", size, len(want), got)
					} else if got {
						want = append(want, f)
					}
				} else {
					n := dice.IntN(len(want) + 1)
					for i := range n {
						if got := r.at(r.head, i); !bytes.Equal(got, want[i]) {
							t.Fatalf("size %d: frame %d: got %d bytes, want %d", size, i, len(got), len(want[i]))
						}
					}
					r.drop(n)
					want = want[n:]
				}
				if r.length != len(want) {
					t.Fatalf("size %d: got length %d, want %d", size, r.length, len(want))
				}
			}
		}
	}
}

func TestRingMemoryFollowsLongestQueue(t *testing.T) {
	r := newRing(1024, 1514)
	if got := r.allocated(); got != 0 {
		t.Errorf("idle: got %d chunks, want 0", got)
	}
	for range 5000 {
		r.put(make([]byte, 1514))
		r.drop(1)
	}
	if got := r.allocated(); got != 1 {
		t.Errorf("one at a time: got %d chunks, want 1", got)
	}
	for r.put(nil) {
	}
	if got := r.allocated(); got != len(r.chunks) {
		t.Errorf("full: got %d chunks, want %d", got, len(r.chunks))
	}
}
