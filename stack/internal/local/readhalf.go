// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	"github.com/utipc/utipc/stack/internal/poll"
)

// A readHalf is the half of a socket that waits for what comes. The node's lock guards it.
type readHalf struct {
	readers poll.List
	readBy  time.Time  // read deadline
	polled  *pollEntry // who is told instead of readers, or nil
}

// wake makes a call that reads look, or all of them. The node's lock is held.
func (r *readHalf) wake(n *Node, all bool) {
	if r.polled != nil {
		r.polled.note()
	}
	if all {
		n.loop.RouseAll(r.readers)
	} else {
		n.loop.RouseFirst(r.readers)
	}
}

// await calls try until it reports true, sleeping in between, with the node's lock held.
// more says whether there is more for another call, which looks then. Errors:
// net.ErrClosed, os.ErrDeadlineExceeded.
func (r *readHalf) await(n *Node, closed *bool, try, more func() bool) error {
	return r.awaitContext(context.Background(), n, closed, try, more)
}

// awaitContext is await that ctx ends too, with its error.
func (r *readHalf) awaitContext(ctx context.Context, n *Node, closed *bool, try, more func() bool) error {
	c := poll.Wait{List: &r.readers, Closed: closed, By: &r.readBy}
	if ctx.Done() != nil {
		c.Ctx = ctx
	}
	err := n.loop.Await(&c, try)
	n.loop.Leave(&c)
	if len(r.readers) > 0 && more() {
		n.loop.Rouse(r.readers[0])
	}
	return err
}

// setReadBy sets the read deadline. The node's lock is held.
func (r *readHalf) setReadBy(n *Node, t time.Time) {
	r.readBy = t
	n.loop.RouseAll(r.readers)
}
