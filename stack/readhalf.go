// SPDX-License-Identifier: Apache-2.0

package stack

import "time"

// A readHalf is the half of a socket that waits for what comes. The node's lock guards it.
type readHalf struct {
	readers waitList
	readBy  time.Time // read deadline
	polled  *Polled   // who is told instead of readers, or nil
}

// wake makes a call that reads look, or all of them. The node's lock is held.
func (r *readHalf) wake(n *localNode, all bool) {
	if r.polled != nil {
		r.polled.note()
	}
	if all {
		n.rouseAll(r.readers)
	} else {
		n.rouseFirst(r.readers)
	}
}

// await calls try until it reports true, sleeping in between, with the node's lock held.
// more says whether there is more for another call, which looks then. Errors:
// net.ErrClosed, os.ErrDeadlineExceeded.
func (r *readHalf) await(n *localNode, closed *bool, try, more func() bool) error {
	c := wait{list: &r.readers, closed: closed, by: &r.readBy}
	err := n.await(&c, try)
	n.leave(&c)
	if len(r.readers) > 0 && more() {
		n.rouse(r.readers[0])
	}
	return err
}

// setReadBy sets the read deadline. The node's lock is held.
func (r *readHalf) setReadBy(n *localNode, t time.Time) {
	r.readBy = t
	n.rouseAll(r.readers)
}
