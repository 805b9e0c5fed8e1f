// SPDX-License-Identifier: Apache-2.0

package flowctl

// A Queue is a first-in first-out ring that grows to what it once held. The zero
// value is empty.
type Queue[T any] struct {
	ring []T // length a power of two
	head int
	n    int
}

// Len returns the number of entries.
func (q *Queue[T]) Len() int { return q.n }

// Push adds v at the end.
func (q *Queue[T]) Push(v T) {
	if q.n == len(q.ring) {
		ring := make([]T, max(8, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = *q.At(i)
		}
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

// At returns the i-th entry from the front, in place.
func (q *Queue[T]) At(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// Pop removes and returns the front; the queue must not be empty.
func (q *Queue[T]) Pop() T {
	p := &q.ring[q.head]
	v := *p
	var zero T
	*p = zero
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}
