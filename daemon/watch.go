// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
)

// errGone means that the program has closed the connection.
var errGone = errors.New("daemon: the program has gone")

// A watch waits, instead of reading, while a send waits for room: until that is over, the
// program has gone, or a cancel is next to be read.
type watch struct {
	x    *session
	done atomic.Bool
}

type watched uint8

const (
	watchOver   watched = iota // what was waited for
	watchGone                  // the program has closed
	watchRecord                // a cancel is to be read
)

// over ends the watch. Another goroutine calls it. Once it has returned, the read deadline
// is to be set again.
func (w *watch) over() {
	w.done.Store(true)
	w.x.c.SetReadDeadline(time.Unix(1, 0)) // ends the wait
}

func (w *watch) wait() watched {
	err := w.x.c.Watch(attach.OpCancel)
	switch {
	case w.done.Load():
		return watchOver
	case err == nil:
		return watchRecord
	}
	return watchGone
}

// readCancel reads the cancel that is next, and returns what it cancels; ok is false where
// there is none any more. Errors: that what is next is no record.
func (x *session) readCancel() (id uint32, ok bool, err error) {
	var h attach.Header
	b, err := x.c.TryReadPooled(&h)
	switch {
	case err == syscall.EAGAIN:
		return 0, false, nil
	case isCorruptRing(err):
		return 0, false, x.corruptRing(err)
	case err != nil:
		return 0, false, err
	}
	x.count(len(b.Data))
	b.Release()
	return h.Arg0, h.Op == attach.OpCancel, nil
}
