// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A clientWriter is the part of a line that waits for room. Calls wait one after the other:
// the one whose turn it is waits in the connection, with its own deadline; no call, and no
// goroutine that a call leaves behind, has the caller's data once the call has returned.
//
//	waits for its turn ──► waits for room ──► written whole
//	        └───────────────────┴──(context, deadline, close)──► not written at all
type clientWriter struct {
	turn    chan struct{} // holds one while a call waits for room
	closing chan struct{} // closed with the line

	mu     sync.Mutex // guards what follows, and the conn's write deadline
	by     time.Time  // at which writes of data end
	moved  chan struct{}
	calls  int           // that write data of a connection, or wait for their turn or for room
	taken  uint64        // bytes that Write of a connection has taken
	held   bool          // by whom the conn's deadline is
	parts  bool          // a request of several records is being written
	ended  bool          // no more data of a connection is written
	quiet  chan struct{} // not nil: emptied when no call goes on any more; see endData
	unsent chan struct{} // not nil: the line is closed; closed when no call goes on any more
}

func newClientWriter() clientWriter {
	return clientWriter{turn: make(chan struct{}, 1), closing: make(chan struct{}), moved: make(chan struct{})}
}

// setWriteBy sets the time at which writes of data end, waiting ones included.
func (l *clientConn) setWriteBy(t time.Time) {
	w := &l.out
	w.mu.Lock()
	w.by = t
	close(w.moved)
	w.moved = make(chan struct{})
	if w.held {
		l.conn.SetWriteDeadline(longAgo) // it looks
	}
	w.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answerBy = (time.Time{}); !t.IsZero() {
		l.answerBy = t.Add(l.grace)
	}
	l.kick()
}

func (l *clientConn) writeDeadline() time.Time {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
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
	defer l.readOn(&never, nil)()
	err = l.inTurn(ctx, true, func() error { return l.put(ctx, true, h, data) })
	return time.Since(began), err
}

// inTurn calls put when the calls that wait for room already are through. timed says that
// the write deadline ends the wait. Errors: of put; os.ErrDeadlineExceeded, what ctx says,
// net.ErrClosed.
func (l *clientConn) inTurn(ctx context.Context, timed bool, put func() error) error {
	w := &l.out
	if !w.enter() {
		return net.ErrClosed
	}
	defer w.leave(0)
	if err := w.await(ctx, timed, w.turn); err != nil {
		return err
	}
	defer func() {
		w.mu.Lock()
		w.held, w.parts = false, false
		l.conn.SetWriteDeadline(time.Time{})
		w.mu.Unlock()
		<-w.turn
	}()
	defer context.AfterFunc(ctx, l.kickWriter)()
	return put()
}

// kickWriter makes the call that waits for room look. It may come when there is none any
// more.
func (l *clientConn) kickWriter() {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	if l.out.held {
		l.conn.SetWriteDeadline(longAgo)
	}
}

// put writes a record, in the call's turn.
func (l *clientConn) put(ctx context.Context, timed bool, h *attach.Header, data []byte) error {
	for {
		if err := l.hold(ctx, timed); err != nil {
			return err
		}
		if err := l.conn.Write(h, data); !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}

// hold makes the conn's write deadline that of the call whose turn it is. Errors: why the
// call may not go on.
func (l *clientConn) hold(ctx context.Context, timed bool) error {
	w := &l.out
	w.mu.Lock()
	defer w.mu.Unlock()
	var by time.Time
	if timed {
		by = w.by
	}
	switch {
	case w.unsent != nil:
		return net.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case backend.Past(by):
		return os.ErrDeadlineExceeded
	}
	w.held = true
	l.conn.SetWriteDeadline(by)
	return nil
}

// enter counts a call that writes; none on a line that is closed.
func (w *clientWriter) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unsent != nil {
		return false
	}
	w.calls++
	return true
}

// leave ends that, with how many bytes of a connection the call has written. When Close has seen
// that no call goes on any more, it knows of them.
func (w *clientWriter) leave(taken int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken += uint64(taken)
	if w.calls--; w.calls > 0 {
		return
	}
	if w.unsent != nil {
		close(w.unsent)
	}
	if w.quiet != nil {
		select {
		case <-w.quiet:
		default:
		}
		w.quiet = nil
	}
}

// await waits until the call can put itself into turn, a channel of one place. Errors as of hold.
func (w *clientWriter) await(ctx context.Context, timed bool, turn chan<- struct{}) error {
	for {
		w.mu.Lock()
		by, moved := w.by, w.moved
		w.mu.Unlock()
		var over <-chan time.Time
		if timed && !by.IsZero() {
			timer := time.NewTimer(time.Until(by))
			defer timer.Stop()
			over = timer.C
		}
		select {
		case turn <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-w.closing:
			return net.ErrClosed
		case <-over:
			return os.ErrDeadlineExceeded
		case <-moved:
		}
	}
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
func (w *clientWriter) wrote() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken
}

// endWrites ends the calls that wait for room; no others do from then on.
func (l *clientConn) endWrites() {
	w := &l.out
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unsent != nil {
		return
	}
	w.unsent = make(chan struct{})
	close(w.closing)
	if w.calls == 0 {
		close(w.unsent)
	}
	if w.held {
		l.conn.SetWriteDeadline(longAgo)
	}
}

// readOn has a goroutine read while a call waits for room, which the daemon may not make
// before it is rid of what it has to say. over, unless it is nil, is called when the time
// by is over, which l.mu guards. The returned function ends that.
func (l *clientConn) readOn(by *time.Time, over func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.mu.Lock()
		defer l.mu.Unlock()
		w := l.enter(readsOn)
		quiet := l.when(ctx, w)
		err := l.await(w, by, func() bool { return false })
		quiet()
		l.leave(w)
		if err == os.ErrDeadlineExceeded {
			over()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// Numbers of requests. Those of requests that are made are below noRequest; sends that are
// not answered are above it, see Socket.number.
const (
	noRequest    = 1 << 31
	readsOn      = 1<<32 - 1 // of a call that reads for others
	closeRequest = readsOn   // of the last request of a socket
)

// post sends a request, also after the write deadline. It waits for room until ctx is done
// or the time by, which l.mu guards, is over: then nothing was sent. A request of several
// records is sent whole all the same, from a copy, and then canceled. Errors: those of
// put.
func (l *clientConn) post(ctx context.Context, by *time.Time, h *attach.Header, data []byte) error {
	if len(data) <= attach.MaxData {
		if err := l.tryPost(h, data); err != syscall.EAGAIN {
			return err
		}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var late atomic.Bool
	defer l.readOn(by, func() {
		late.Store(true)
		cancel()
	})()
	var err error
	if len(data) <= attach.MaxData {
		err = l.inTurn(inner, false, func() error { return l.put(inner, false, h, data) })
	} else {
		err = l.postParts(inner, h, data)
	}
	if err == context.Canceled && late.Load() {
		err = os.ErrDeadlineExceeded
	}
	return err
}

// tryPost is tryWrite of a request, which does not go between the records of another.
func (l *clientConn) tryPost(h *attach.Header, data []byte) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	if l.out.parts {
		return syscall.EAGAIN
	}
	return l.tryWrite(h, data)
}

// postParts sends a request of several records.
func (l *clientConn) postParts(ctx context.Context, h *attach.Header, data []byte) error {
	own := slices.Clone(data)
	done := make(chan error, 1)
	go func() {
		defer clear(own) // there may be a key in it
		always := context.Background()
		done <- l.inTurn(always, false, func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l.out.mu.Lock()
			l.out.parts = true
			l.out.mu.Unlock()
			err := attach.Split(*h, own, func(h *attach.Header, part []byte) error { return l.put(always, false, h, part) })
			if err == nil && ctx.Err() != nil {
				l.put(always, false, &attach.Header{Op: attach.OpCancel, Arg0: h.ID}, nil)
			}
			return err
		})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
