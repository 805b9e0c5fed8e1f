// SPDX-License-Identifier: Apache-2.0

package xdp

import "time"

// How long a frame that the interface refuses is offered again, before it is held to be
// one that the interface never takes. Both must be over.
const (
	refusalTimeout = 50 * time.Millisecond
	refusalTries   = 10
)

// A refusals tells a full queue from a frame that the interface never takes. The kernel
// answers ENOBUFS to both: it says no more than that the driver threw the frame away.
//
//	refused --(refused for refusalTimeout, refusalTries times)--> dropped
//	refused --(as long as one that was dropped, or longer)-------> dropped at once
//	refused --(a frame is taken)---------------------------------> taken
//
// A frame as long as one that was dropped gets through: then it was not the length, and
// the next refusal is given time again. The zero refusals is ready for use.
type refusals struct {
	since time.Time // of the first refusal since a frame was taken or dropped
	tries int       // refusals since then
	size  int       // bytes of the shortest frame that was dropped; 0: none
}

// refused notes that the interface did not take a frame of size bytes, and reports
// whether the frame is to be dropped.
func (r *refusals) refused(now time.Time, size int) (drop bool) {
	if r.tries == 0 {
		r.since = now
	}
	r.tries++
	long := r.size > 0 && size >= r.size
	if !long && (r.tries < refusalTries || now.Sub(r.since) < refusalTimeout) {
		return false
	}
	if r.size == 0 || size < r.size {
		r.size = size
	}
	r.tries = 0
	return true
}

// none reports whether there is nothing that a frame which is taken would change.
func (r *refusals) none() bool { return r.tries == 0 && r.size == 0 }

// took notes that the interface has taken a frame of size bytes.
func (r *refusals) took(size int) {
	r.tries = 0
	if size >= r.size {
		r.size = 0
	}
}
