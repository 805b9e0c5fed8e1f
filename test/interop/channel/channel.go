// SPDX-License-Identifier: Apache-2.0

// Package channel is the conversation between a test on the host and the
// program that runs as init inside a guest of the interop rig.
//
// It runs over a serial line in raw mode: JSON objects, one a line, numbered
// from 1 in each direction, so that a lost line is an error and not a riddle.
// The guest speaks first; the host stays silent until it has heard Hello,
// because before that the line may still echo and edit.
//
//	host to guest                         guest to host
//	                                      hello  text=what failed at boot, args=[release]
//	start  id args=[program, words...]
//	input  id text                        line   id text
//	eof    id
//	kill   id code=signal                 exit   id code, text=why it did not start
//
// The host chooses the ids. Each line of a job's standard output and standard
// error is one Line, in the order written; Exit is its last message, and code
// is 128 plus the signal for a job that was killed. Text that is not UTF-8
// arrives with U+FFFD in it. When the host is slow the serial line blocks,
// then the job's own writes do: nothing is dropped.
package channel

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// An Op says what a Message is about.
type Op string

// The operations, as in the package comment.
const (
	Hello Op = "hello"
	Start Op = "start"
	Input Op = "input"
	EOF   Op = "eof"
	Kill  Op = "kill"
	Line  Op = "line"
	Exit  Op = "exit"
)

// A Message is one line of the conversation.
type Message struct {
	N    uint64   `json:"n"` // set by Writer, checked by Reader
	Op   Op       `json:"op"`
	ID   int      `json:"id,omitempty"`
	Code int      `json:"code,omitempty"`
	Args []string `json:"args,omitempty"`
	Text string   `json:"text,omitempty"`
}

// A Writer sends messages. Goroutines may share it.
type Writer struct {
	mu sync.Mutex // guards what follows and keeps lines whole
	w  io.Writer
	n  uint64
}

// NewWriter returns a Writer that has sent nothing yet.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send numbers the messages and writes them in one piece.
func (w *Writer) Send(ms ...Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []byte
	for _, m := range ms {
		w.n++
		m.N = w.n
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		lines = append(append(lines, b...), '\n')
	}
	_, err := w.w.Write(lines)
	return err
}

// A Reader receives messages. It is for one goroutine.
type Reader struct {
	r *bufio.Reader
	n uint64
}

// NewReader returns a Reader that has received nothing yet.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Receive waits for the next message. An error other than that of the
// underlying reader means that the line lost or changed something; nothing
// that follows can be trusted then.
func (r *Reader) Receive() (Message, error) {
	b, err := r.r.ReadBytes('\n')
	if err != nil {
		return Message{}, err
	}
	var m Message
	if err := json.Unmarshal(b, &m); err != nil {
		return Message{}, fmt.Errorf("channel: line %q: %w", b, err)
	}
	r.n++
	if m.N != r.n {
		return Message{}, fmt.Errorf("channel: got line %d, want line %d", m.N, r.n)
	}
	return m, nil
}
