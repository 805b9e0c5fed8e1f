// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/channel"
)

// linger is how long a job that has ended is given to print more, through
// programs it left in the background. What it printed itself is never lost.
const linger = 300 * time.Millisecond

// An output is the pipe that a job prints into.
type output struct {
	pipe  *os.File
	ended atomic.Bool
}

// hurry says that the job has ended.
func (o *output) hurry() {
	o.ended.Store(true)
	o.pipe.SetReadDeadline(time.Now().Add(linger))
}

// copyTo copies until nobody prints any more.
func (o *output) copyTo(w io.Writer) {
	defer o.pipe.Close()
	b := make([]byte, 16<<10)
	for {
		n, err := o.pipe.Read(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// A deadline may have passed while w was slow, or all of us stood still: it says
			// nothing of what is there.
			n, err = o.there(b)
		}
		if n > 0 {
			_, err = w.Write(b[:n])
		}
		if err != nil {
			return
		}
		if o.ended.Load() {
			o.pipe.SetReadDeadline(time.Now().Add(linger))
		}
	}
}

// there reads what is there, without waiting. Errors: io.EOF when nothing is.
func (o *output) there(b []byte) (n int, err error) {
	o.pipe.SetReadDeadline(time.Time{})
	raw, err := o.pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = raw.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), b)
		return true
	})
	if err == nil && n <= 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

// A lineWriter sends what a job prints, line by line.
type lineWriter struct {
	id   int
	out  *channel.Writer
	part []byte // of a line that has not ended
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.part = append(w.part, b...)
	var ms []channel.Message
	for {
		i := bytes.IndexByte(w.part, '\n')
		if i < 0 {
			break
		}
		ms = append(ms, w.line(w.part[:i]))
		w.part = w.part[i+1:]
	}
	if len(ms) == 0 {
		return len(b), nil
	}
	return len(b), w.out.Send(ms...)
}

// flush sends a last line that lacks its newline.
func (w *lineWriter) flush() {
	if len(w.part) > 0 {
		w.out.Send(w.line(w.part))
	}
	w.part = nil
}

func (w *lineWriter) line(text []byte) channel.Message {
	return channel.Message{Op: channel.Line, ID: w.id, Text: string(text)}
}
