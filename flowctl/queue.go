// SPDX-License-Identifier: Apache-2.0

package flowctl

// A Queue is a first-in first-out ring that grows to what it once held. The zero
// value is empty.
type Queue[T any] struct {
	ring []T // length a power of two
	head uint32
	n    uint32
}

// Len returns the number of entries.
func (q *Queue[T]) Len() int { return int(q.n) }

// Push adds v at the end.
func (q *Queue[T]) Push(v T) { *q.Extend() = v }

// Extend adds an entry at the end and returns it, to be filled in place.
func (q *Queue[T]) Extend() *T {
	if int(q.n) == len(q.ring) {
		ring := make([]T, max(4, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = *q.At(int(i))
		}
		q.ring, q.head = ring, 0
	}
	q.n++
	return q.At(int(q.n) - 1)
}

// At returns the i-th entry from the front, in place.
func (q *Queue[T]) At(i int) *T { return &q.ring[(int(q.head)+i)&(len(q.ring)-1)] }

// Pop removes and returns the front; the queue must not be empty.
func (q *Queue[T]) Pop() T {
	v := *q.At(0)
	q.Drop()
	return v
}

// Drop removes the front; the queue must not be empty.
func (q *Queue[T]) Drop() {
	var zero T
	q.ring[q.head] = zero
	q.head = (q.head + 1) & uint32(len(q.ring)-1)
	q.n--
}

// Forget gives back the memory of an empty queue, if that is more than a little.
func (q *Queue[T]) Forget(most int) {
	if q.n == 0 && len(q.ring) > most {
		*q = Queue[T]{}
	}
}

// Exchange gives an empty queue another ring, which may be nil, else of a length that is a
// power of two; and returns the one it had.
func (q *Queue[T]) Exchange(ring []T) (had []T) {
	had = q.ring
	*q = Queue[T]{ring: ring}
	return had
}
