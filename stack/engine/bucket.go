// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// A bucket lets things happen once in an interval, and as many as its size at once
// after a pause. The zero value is full: it has let nothing happen.
type bucket struct {
	next time.Duration // when it would be full again
}

// has reports whether one more may happen at now.
func (b *bucket) has(now, interval time.Duration, size int) bool {
	return b.next-now <= time.Duration(size-1)*interval
}

// take does so, and counts it.
func (b *bucket) take(now, interval time.Duration, size int) bool {
	ok := b.has(now, interval, size)
	if ok {
		b.next = max(b.next, now) + interval
	}
	return ok
}
