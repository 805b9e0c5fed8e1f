// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"io"
	"net"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/internal/backend"
)

// next waits for a record that is to be read; heed says that a report ends it, as its error.
// use is called with it, and reports whether it is done with. Errors: the end of the
// socket, os.ErrDeadlineExceeded, the context's.
func (l *clientConn) next(ctx context.Context, heed bool, use func(r *clientRecord) (done bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inbox) == 0 || l.nameLost != nil || backend.Past(l.readBy) {
		c := wait{ctx: ctx, by: &l.readBy, over: &l.over, role: &l.reads, messages: true}
		defer l.leave(&c)
		var report error
		err := l.await(&c, func() bool {
			if len(l.inbox) > 0 || l.nameLost != nil || l.readEnd {
				return true
			}
			if heed { // a report may be for another call
				if r, ok := l.socket.reports.take(); ok {
					report = r.Err
				}
			}
			return report != nil
		}, l.read)
		switch {
		case err != nil:
			return err
		case l.nameLost != nil:
			return l.nameLost
		case report != nil:
			return report
		case len(l.inbox) == 0:
			return io.EOF
		}
	}
	l.use(use)
	return nil
}

// use hands out the first record of the inbox.
func (l *clientConn) use(use func(r *clientRecord) (done bool)) {
	r := &l.inbox[0]
	before := len(r.data)
	if !use(r) {
		l.kept -= before - len(r.data)
		return
	}
	l.kept -= before + attach.HeaderLen
	r.release()
	if l.inbox = l.inbox[1:]; len(l.inbox) == 0 {
		l.inbox = l.room[:0]
	}
	if l.kept <= maxInbox {
		l.wakeReader()
		l.pass(&l.reads)
	}
}

// try is next that does not wait: its error is syscall.EAGAIN then.
func (l *clientConn) try(use func(r *clientRecord) (done bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.inbox) == 0 || l.nameLost != nil {
		switch {
		case l.over == net.ErrClosed:
			return l.over
		case l.nameLost != nil:
			return l.nameLost
		case l.readEnd:
			return io.EOF
		case l.over != nil:
			return l.over
		case l.reads.holder != nil || !l.look():
			if l.over != nil {
				return l.over
			}
			return backend.ErrAgain
		}
	}
	l.use(use)
	return nil
}
