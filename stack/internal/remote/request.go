// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A request is what a call waits for that has sent one: its answer.
type request struct {
	id       uint32 // 0: none
	answer   response
	answered bool
	failed   error // the answer was none
	gathered attach.Join
}

// lineError is what the end of a connection to the daemon means to the program.
func lineError(err error) error {
	switch {
	case err == io.EOF:
		return &socket.GoneError{Reason: "it closed the connection"}
	case errors.Is(err, net.ErrClosed):
		return net.ErrClosed
	}
	return &socket.GoneError{Reason: err.Error()}
}

// toldBy is the error that a record tells of, or nil.
func toldBy(h *attach.Header, data []byte) error {
	if h.Errno == 0 {
		return nil
	}
	told, _ := control.DecodeError(h.Errno, data)
	return inner(told)
}

// inner is an error of the daemon's node without what the program's own call says of it
// once more.
func inner(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}

// request sends a request and waits for its answer, whose errno is the error; then there
// is no descriptor. Errors: those of the daemon, of await.
func (l *clientConn) request(ctx context.Context, by *time.Time, h attach.Header, data []byte) (response, error) {
	a, err := l.exchange(ctx, by, h, data)
	if err == nil && a.Errno != 0 {
		return response{}, toldBy(&a.Header, a.data)
	}
	return a, err
}

// exchange sends a request and waits for its answer, which may tell of an error. When ctx
// is done, or by is over, the daemon is told that nobody waits any more. Errors: of await;
// then data is not sent any more, unless it was before.
func (l *clientConn) exchange(ctx context.Context, by *time.Time, h attach.Header, data []byte) (response, error) {
	a, _, err := l.converse(ctx, by, 0, &h, func() error { return l.post(ctx, by, &h, data) })
	return a, err
}

// converse has post send a request h, and waits for the answer until ctx is done or by,
// which l.mu guards, is over. Then it tells the daemon so, and waits for grace. Errors: of
// post, of await; unanswered says that the daemon has got the request.
func (l *clientConn) converse(ctx context.Context, by *time.Time, grace time.Duration, h *attach.Header, post func() error) (a response, unanswered bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over != nil:
		err = l.over
	case by != nil && backend.Past(*by):
		err = os.ErrDeadlineExceeded
	default:
		err = ctx.Err()
	}
	if err != nil {
		return response{}, false, err
	}
	if l.id++; l.id == noRequest {
		l.id = 1
	}
	c := wait{ctx: ctx, by: by, over: &l.over}
	l.enter(&c) // before it is sent: another call may read the answer
	defer l.leave(&c)
	r := &c.w.request
	r.id, h.ID = l.id, l.id
	l.mu.Unlock()
	err = post()
	l.mu.Lock()
	c.role = &l.reads // not before: nobody would read while it writes
	answer := func() bool { return r.answered }
	if err != nil {
		err = l.explained(err)
	} else if err = l.await(&c, answer, l.read); !r.answered {
		unanswered = true
		if l.over == nil {
			l.conn.TryWrite(&attach.Header{Op: attach.OpCancel, Arg0: h.ID}, nil)
			if grace > 0 {
				late := time.Now().Add(grace)
				c.ctx, c.by = nil, &late
				l.await(&c, answer, l.read)
			}
		}
		if gone := (*socket.GoneError)(nil); errors.As(err, &gone) {
			err = &socket.GoneError{Reason: gone.Reason, Unanswered: true, Errno: gone.Errno}
		}
	}
	if !r.answered {
		return response{}, unanswered, err
	}
	a = r.answer
	if r.failed != nil || a.Errno != 0 {
		closeFD(a.fd)
		a.fd = -1
	}
	return a, false, r.failed
}

// ask is request without a deadline of its own.
func (l *clientConn) ask(ctx context.Context, h attach.Header, data []byte) (response, error) {
	return l.request(ctx, nil, h, data)
}

// explained is why a write failed: if the daemon has closed, what it said before.
func (l *clientConn) explained(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		for l.over == nil && l.reads.holder == nil {
			if !l.look() {
				break
			}
		}
		if l.over == nil && l.reads.holder != nil { // which reads what there is, and then the end
			if l.goneReason != nil {
				return l.goneReason
			}
			return &socket.GoneError{Reason: err.Error()}
		}
		l.end(&socket.GoneError{Reason: err.Error()})
	}
	switch {
	case l.over == io.EOF:
		return syscall.EPIPE
	case l.over != nil:
		return l.over
	}
	return err
}

// look reads a record if there is one, and nobody leads. The lock is held.
func (l *clientConn) look() (found bool) {
	if l.fds {
		return false
	}
	if backend.Past(l.reads.at) { // of a call that waits no more
		l.reads.until(never)
	}
	buf, err := l.conn.TryReadPooled(&l.h)
	switch {
	case err == nil:
		l.take(clientRecord{l.h, buf.Data, buf}, -1, false)
		return true
	case err != syscall.EAGAIN && !errors.Is(err, os.ErrDeadlineExceeded):
		l.end(lineError(err))
	}
	return false
}

// trouble is why the line is over, or of a connection what a send before has met: it is
// asked before something is sent. Records that tell of failures are looked for as long as
// nothing waits to be read.
func (l *clientConn) trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookAhead()
	if err := l.failed; err != nil {
		if !isEnd(err) {
			l.failed = nil
		}
		return err
	}
	if l.over == io.EOF {
		return syscall.EPIPE
	}
	return l.over
}

// lookAhead reads what there is as long as nothing waits to be read, and nobody leads.
func (l *clientConn) lookAhead() {
	if l.reads.holder == nil {
		for l.over == nil && len(l.inbox) == 0 && l.look() {
		}
	}
}
