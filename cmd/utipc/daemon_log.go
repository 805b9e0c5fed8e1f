// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Limits of a log whose reader is slow.
const (
	maxLogBytes  = 256 << 10   // lines that wait
	logFlushTime = time.Second // for what waits at the end
)

// A lossyLog writes lines to a log that may block, as a pipe that nobody reads, in a
// goroutine of its own: a Write never waits. Lines beyond what may wait are dropped and
// counted, and a line says how many, in the place where they are missing.
type lossyLog struct {
	to   io.Writer
	note func(to io.Writer, lost int) // writes the line that says so
	most int                          // bytes that may wait

	mu    sync.Mutex // guards the rest; no call under it waits
	lines []logLine
	bytes int
	lost  int           // since the last of lines
	wake  chan struct{} // gets one when there is something to do
	ended bool
	done  chan struct{} // closed when all is written after close
}

// A logLine is a line, and how many before it are missing.
type logLine struct {
	text []byte
	lost int
}

func newLossyLog(to io.Writer, note func(io.Writer, int)) *lossyLog {
	l := &lossyLog{to: to, note: note, most: maxLogBytes, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l
}

// Write implements io.Writer. It never fails.
func (l *lossyLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	if l.bytes+len(line) > l.most {
		l.lost++
	} else {
		l.lines = append(l.lines, logLine{bytes.Clone(line), l.lost})
		l.bytes += len(line)
		l.lost = 0
	}
	l.mu.Unlock()
	l.rouse()
	return len(line), nil
}

func (l *lossyLog) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *lossyLog) run() {
	defer close(l.done)
	for {
		line, ok, ended := l.next()
		switch {
		case ok:
			if line.lost > 0 {
				l.note(l.to, line.lost)
			}
			if len(line.text) > 0 {
				_, _ = l.to.Write(line.text) // a log's reader that ends costs the line
			}
		case ended:
			return
		default:
			<-l.wake
		}
	}
}

// next takes the next line; one without text is for those that are missing at the end.
func (l *lossyLog) next() (line logLine, ok, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.lines) > 0:
		line, l.lines = l.lines[0], l.lines[1:]
		l.bytes -= len(line.text)
		return line, true, false
	case l.lost > 0:
		line.lost, l.lost = l.lost, 0
		return line, true, false
	}
	return line, false, l.ended
}

// close writes what waits, unless that takes too long.
func (l *lossyLog) close() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.rouse()
	t := time.NewTimer(logFlushTime)
	defer t.Stop()
	select {
	case <-l.done:
	case <-t.C:
	}
}

// noteLost is the line that says that lines are missing, as a handler writes it.
func noteLost(handler func(io.Writer) slog.Handler) func(io.Writer, int) {
	return func(to io.Writer, lost int) {
		slog.New(handler(to)).Warn("log lines dropped", "count", lost, "reason", "the log did not take them")
	}
}
