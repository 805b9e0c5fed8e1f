// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
)

// setWriteBy sets the time at which writes of data end, waiting ones included.
func (l *farLine) setWriteBy(t time.Time) {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	l.writeBy = t
	if l.writing > 0 {
		l.conn.SetWriteDeadline(t)
	}
}

func (l *farLine) writeDeadline() time.Time {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	return l.writeBy
}

// write sends a record of data. It waits for room until the write deadline, or until ctx
// is done: then the error is os.ErrDeadlineExceeded, or what ctx says. It tells how long
// that took.
func (l *farLine) write(ctx context.Context, h *attach.Header, data []byte) (waited time.Duration, err error) {
	if past(l.writeDeadline()) {
		return 0, os.ErrDeadlineExceeded
	}
	if err := l.conn.TryWrite(h, data); err != syscall.EAGAIN {
		return 0, err
	}
	began := time.Now()
	l.writers(1)
	defer l.writers(-1)
	defer l.readOn()()
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, func() {
			l.wmu.Lock()
			defer l.wmu.Unlock()
			l.conn.SetWriteDeadline(longAgo)
		})()
	}
	for {
		err := l.conn.Write(h, data)
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return time.Since(began), err
		case ctx.Err() != nil:
			return time.Since(began), ctx.Err()
		case past(l.writeDeadline()):
			return time.Since(began), os.ErrDeadlineExceeded
		}
		l.writers(0) // it was another's
	}
}

// writers counts the calls that wait for room, and sets the deadline they have.
func (l *farLine) writers(k int) {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	l.writing += k
	if l.writing > 0 {
		l.conn.SetWriteDeadline(l.writeBy)
	} else {
		l.conn.SetWriteDeadline(time.Time{})
	}
}

// readOn has a goroutine read while a call waits for room, which the daemon may not make
// before it is rid of what it has to say. The returned function ends that.
func (l *farLine) readOn() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.mu.Lock()
		defer l.mu.Unlock()
		w := l.enter(readsOn)
		quiet := l.when(ctx, w)
		l.await(w, new(time.Time), func() bool { return false })
		quiet()
		l.leave(w)
	}()
	return func() {
		cancel()
		<-done
	}
}

// readsOn is the number of a request that is never made.
const readsOn = 1<<32 - 1

// post sends a request. The write deadline is not its; where there is no room a goroutine
// waits for it, until the line is closed, and the call until ctx is done.
func (l *farLine) post(ctx context.Context, h attach.Header, data []byte) error {
	if len(data) <= attach.MaxData {
		if err := l.conn.TryWrite(&h, data); err != syscall.EAGAIN {
			return err
		}
	}
	defer l.readOn()()
	done := make(chan error, 1)
	go func() {
		done <- attach.Split(h, data, func(h *attach.Header, part []byte) error {
			for {
				if err := l.conn.Write(h, part); !errors.Is(err, os.ErrDeadlineExceeded) {
					return err
				}
				l.writers(0)
			}
		})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
