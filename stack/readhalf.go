// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"os"
	"time"
)

// A readHalf is the half of a socket that waits for what comes. The lap lock guards it.
type readHalf struct {
	readers waitList
	readBy  time.Time // read deadline
	polled  *Polled   // who is told instead of readers, or nil
}

// wake makes a call that reads look, or all of them. The lap lock is held.
func (r *readHalf) wake(n *Node, all bool) {
	if r.polled != nil {
		r.polled.note()
	}
	if all {
		n.rouseAll(r.readers)
	} else {
		n.rouseFirst(r.readers)
	}
}

// await calls try until it reports true, sleeping in between, with the lap lock held.
// more says whether there is more for another call, which looks then. Errors:
// net.ErrClosed, os.ErrDeadlineExceeded.
func (r *readHalf) await(n *Node, closed *bool, try, more func() bool) error {
	var w *waiter
	for {
		err := error(nil)
		switch {
		case *closed:
			err = net.ErrClosed
		case past(r.readBy):
			err = os.ErrDeadlineExceeded
		case !try():
			if w == nil {
				w = n.begin(&r.readers)
			}
			n.block(w, r.readBy)
			continue
		}
		if w != nil {
			n.end(&r.readers, w)
		}
		if len(r.readers) > 0 && more() {
			n.rouse(r.readers[0])
		}
		return err
	}
}

// setReadBy sets the read deadline. The lap lock is held.
func (r *readHalf) setReadBy(n *Node, t time.Time) {
	r.readBy = t
	n.rouseAll(r.readers)
}
