// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A clientWriter is the part of a line that waits for room. Calls wait one after the other:
// the one whose turn it is waits in the connection, with its own deadline; no call, and no
// goroutine that a call leaves behind, has the caller's data once the call has returned.
//
//	waits for its turn ──► waits for room ──► written whole
//	        └───────────────────┴──(context, deadline, close)──► not written at all
//
// The line's lock guards it.
type clientWriter struct {
	room  role      // of the call that waits for room in the connection
	by    time.Time // at which writes of data end
	calls int       // that write data of a connection, or wait for their turn or for room
	taken uint64    // bytes that Write of a connection has taken
	ended bool      // no more data of a connection is written
	quiet bool      // then: no call that writes data goes on any more
}

// setWriteBy sets the time at which writes of data end, waiting ones included.
func (l *clientConn) setWriteBy(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.by = t
	if l.answerBy = (time.Time{}); !t.IsZero() {
		l.answerBy = t.Add(l.grace)
	}
	l.rouseAll()
}

func (l *clientConn) writeDeadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.by
}

// write sends a record of data. It waits for room until the write deadline, or until ctx
// is done: then nothing was sent, and the error is os.ErrDeadlineExceeded, or what ctx
// says. It tells how long that took.
func (l *clientConn) write(ctx context.Context, h *attach.Header, data []byte) (waited time.Duration, err error) {
	if backend.Past(l.writeDeadline()) {
		return 0, os.ErrDeadlineExceeded
	}
	if err := l.tryWrite(h, data); err != syscall.EAGAIN {
		return 0, err
	}
	began := time.Now()
	defer l.readOn()()
	err = l.inTurn(&wait{ctx: ctx, by: &l.out.by}, func(c *wait) error { return l.put(c, h, data) })
	return time.Since(began), err
}

// inTurn calls puts, which writes with put, when the calls that wait for room already are through.
// The lock is held while it calls that. Errors: of puts; net.ErrClosed.
func (l *clientConn) inTurn(c *wait, puts func(c *wait) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == net.ErrClosed {
		return net.ErrClosed
	}
	l.out.calls++
	defer l.doneWriting(0)
	c.over, c.outlives, c.role = &l.over, true, &l.out.room
	defer func() {
		if l.out.room.holder == c.w {
			l.out.room.until(never)
		}
		l.leave(c)
	}()
	return puts(c)
}

// put writes a record in the call's turn. Errors: of await, after which it is not written; of the
// connection.
func (l *clientConn) put(c *wait, h *attach.Header, data []byte) (err error) {
	done := false
	if over := l.await(c, func() bool { return done }, func(*waiter) {
		l.mu.Unlock()
		err = l.conn.Write(h, data)
		l.mu.Lock()
		done = !errors.Is(err, os.ErrDeadlineExceeded)
	}); !done { // what is written is, whatever came meanwhile
		return over
	}
	return err
}

// enterData counts a call that writes data of a connection. Errors: net.ErrClosed,
// engine.ErrWriteEnded.
func (l *clientConn) enterData() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over == net.ErrClosed:
		return net.ErrClosed
	case l.out.ended:
		return engine.ErrWriteEnded
	}
	l.out.calls++
	return nil
}

// leaveData ends that, with how many bytes of a connection the call has written.
func (l *clientConn) leaveData(taken int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doneWriting(taken)
}

// doneWriting ends a call that writes. When Close has seen that no call goes on any more, it knows
// of what they have written.
func (l *clientConn) doneWriting(taken int) {
	w := &l.out
	w.taken += uint64(taken)
	if w.calls--; w.calls > 0 {
		return
	}
	if w.quiet = w.ended; w.ended || l.over == net.ErrClosed {
		l.signalAll()
	}
}

// untilWritten waits until no call of a closed line writes any more.
func (l *clientConn) untilWritten() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var c wait
	l.await(&c, func() bool { return l.out.calls == 0 }, nil)
	l.leave(&c)
}

// tryWrite writes a record if there is room: else the error is syscall.EAGAIN, also where
// the call whose turn it is has a deadline that is over.
func (l *clientConn) tryWrite(h *attach.Header, data []byte) error {
	err := l.conn.TryWrite(h, data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return syscall.EAGAIN
	}
	return err
}

// wrote is how many bytes the calls of a connection have written that are through.
func (l *clientConn) wrote() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.taken
}

// readOn has a goroutine read while a call waits for room, which the daemon may not make
// before it is rid of what it has to say. The returned function ends that.
func (l *clientConn) readOn() (stop func()) {
	c := wait{over: &l.over, role: &l.reads}
	stopped := false
	var done sync.WaitGroup
	done.Go(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.await(&c, func() bool { return stopped }, l.read)
		l.leave(&c)
	})
	return func() {
		l.mu.Lock()
		stopped = true
		if c.w != nil {
			l.rouse(c.w)
		}
		l.mu.Unlock()
		done.Wait()
	}
}

// Numbers of requests. Those of requests that are made are below noRequest; sends that are
// not answered are above it, see Socket.number.
const (
	noRequest    = 1 << 31
	closeRequest = 1<<32 - 1 // of the last request of a socket
)

// post sends a request, also after the write deadline. It waits for room until ctx is done
// or the time by, which l.mu guards, is over: then nothing was sent. A request of several
// records is sent whole all the same, from a copy, and then canceled. Errors: those of
// put.
func (l *clientConn) post(ctx context.Context, by *time.Time, h *attach.Header, data []byte) error {
	short := len(data) <= attach.MaxData
	if short {
		if err := l.tryPost(h, data); err != syscall.EAGAIN {
			return err
		}
	}
	defer l.readOn()()
	c := wait{ctx: ctx, by: by}
	if short {
		return l.inTurn(&c, func(c *wait) error { return l.put(c, h, data) })
	}
	return l.postParts(&c, h, data)
}

// tryPost is tryWrite of a request, which does not go between the records of another.
func (l *clientConn) tryPost(h *attach.Header, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.room.holder != nil {
		return syscall.EAGAIN
	}
	return l.tryWrite(h, data)
}

// postParts sends a request of several records.
func (l *clientConn) postParts(c *wait, h *attach.Header, data []byte) error {
	own := slices.Clone(data)
	var err error
	done, givenUp := false, false
	go func() {
		defer clear(own) // there may be a key in it
		failed := l.inTurn(&wait{}, func(c *wait) error {
			if givenUp {
				return nil
			}
			err := attach.Split(*h, own, func(h *attach.Header, part []byte) error { return l.put(c, h, part) })
			if err == nil && givenUp {
				l.put(c, &attach.Header{Op: attach.OpCancel, Arg0: h.ID}, nil)
			}
			return err
		})
		l.mu.Lock()
		defer l.mu.Unlock()
		err, done = failed, true
		l.signalAll()
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.leave(c)
	if over := l.await(c, func() bool { return done }, nil); over != nil {
		givenUp = true
		return over
	}
	return err
}
