// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"slices"
	"testing"
)

// FuzzQueue runs a Queue beside a slice: each byte is a Pop, or that many Pushes.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 0, 9, 0, 0, 0, 40, 0, 0, 30, 0})
	f.Add([]byte("many pushes and pops"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q Queue[int]
		var want []int
		n := 0
		for _, op := range ops {
			if op%4 == 0 && len(want) > 0 {
				if got := q.Pop(); got != want[0] {
					t.Fatalf("popped %v, want %v", got, want[0])
				}
				want = want[1:]
			}
			for range op % 17 {
				q.Push(n)
				want = append(want, n)
				n++
			}
			var got []int
			for i := range q.Len() {
				got = append(got, *q.At(i))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	})
}

// What was popped is not kept alive.
func TestQueueForgets(t *testing.T) {
	var q Queue[*int]
	for range 20 {
		q.Push(new(int))
	}
	for q.Len() > 0 {
		q.Pop()
	}
	for i, p := range q.ring {
		if p != nil {
			t.Errorf("place %d keeps what was popped", i)
		}
	}
}
