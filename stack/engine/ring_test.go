// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"testing"
)

// FuzzRing runs a ring beside a slice: pushes and pops of any size, with buffers
// that are too small.
func FuzzRing(f *testing.F) {
	f.Add([]byte{200, 1, 2, 3, 250, 90, 7, 0, 0})
	f.Add(bytes.Repeat([]byte{255, 130, 7, 1, 90}, 60))
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q ring
		var want []byte
		var sizes []int
		for i, op := range ops {
			if op >= 100 || len(sizes) == 0 {
				d := bytes.Repeat([]byte{byte(i)}, int(op)*7)
				for j := range d {
					d[j] += byte(j)
				}
				q.push(d)
				want = append(want, d...)
				sizes = append(sizes, len(d))
				continue
			}
			buf := make([]byte, int(op)*16)
			n := q.pop(buf, sizes[0])
			if n != min(len(buf), sizes[0]) || !bytes.Equal(buf[:n], want[:n]) {
				t.Fatalf("operation %d: got %d bytes of %d", i, n, sizes[0])
			}
			want, sizes = want[sizes[0]:], sizes[1:]
			if q.n != len(want) {
				t.Fatalf("operation %d: %d bytes left, want %d", i, q.n, len(want))
			}
		}
	})
}
