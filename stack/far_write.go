// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net"
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
	if l.writing > 0 && l.unsent == nil {
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
	if err := l.tryWrite(h, data); err != syscall.EAGAIN {
		return 0, err
	}
	began := time.Now()
	if !l.writers(1, 0) {
		return 0, net.ErrClosed
	}
	defer l.writers(-1, 0)
	defer l.readOn()()
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, l.kickWrites)()
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
		case !l.writers(0, 0): // else it was another's
			return time.Since(began), net.ErrClosed
		}
	}
}

// writers counts the calls that wait for room, with data and with requests, and sets the
// deadline they have. It reports whether they may go on: not on a line that is closed.
func (l *farLine) writers(data, requests int) bool {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	if l.unsent != nil && data+requests > 0 {
		return false
	}
	l.writing += data
	l.posting += requests
	switch {
	case l.unsent != nil:
		if data+requests < 0 && l.writing+l.posting == 0 {
			close(l.unsent)
		}
		return false
	case l.writing > 0:
		l.conn.SetWriteDeadline(l.writeBy)
	default:
		l.conn.SetWriteDeadline(time.Time{})
	}
	return true
}

// kickWrites makes the calls that wait for room with data look. It may come when they do
// no more.
func (l *farLine) kickWrites() {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	if l.writing > 0 && l.unsent == nil {
		l.conn.SetWriteDeadline(longAgo)
	}
}

// tryWrite writes a record if there is room: else, or where calls that wait have a deadline
// that is over, the error is syscall.EAGAIN.
func (l *farLine) tryWrite(h *attach.Header, data []byte) error {
	err := l.conn.TryWrite(h, data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return syscall.EAGAIN
	}
	return err
}

// endWrites ends the calls that wait for room; no others do from then on.
func (l *farLine) endWrites() {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	if l.unsent != nil {
		return
	}
	l.unsent = make(chan struct{})
	if l.writing+l.posting == 0 {
		close(l.unsent)
		return
	}
	l.conn.SetWriteDeadline(longAgo)
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
		if err := l.tryWrite(&h, data); err != syscall.EAGAIN {
			return err
		}
	}
	if !l.writers(0, 1) {
		return net.ErrClosed
	}
	defer l.readOn()()
	done := make(chan error, 1)
	go func() {
		defer l.writers(0, -1)
		done <- attach.Split(h, data, func(h *attach.Header, part []byte) error {
			for {
				if err := l.conn.Write(h, part); !errors.Is(err, os.ErrDeadlineExceeded) {
					return err
				}
				if !l.writers(0, 0) {
					return net.ErrClosed
				}
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
