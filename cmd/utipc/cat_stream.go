// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
)

// errEnough ends the command when all came that was asked for.
var errEnough = errors.New("enough")

// A catInput cuts the standard input into messages.
type catInput struct {
	r            io.Reader
	size         int
	lines, whole bool
}

// input is the standard input as the flags cut it; nil if it is not to be read. A read of
// it cannot be interrupted: the goroutine that does it ends with the program.
func (c *cat) input(std cmdline.Stdio) *catInput {
	if c.recv || std.In == nil {
		return nil
	}
	return &catInput{std.In, c.size, c.lines, c.whole}
}

// each gives each message to send, until that or the input ends.
func (in *catInput) each(send func(b []byte) error) error {
	switch {
	case in.whole:
		b, err := io.ReadAll(io.LimitReader(in.r, int64(in.size)+1))
		switch {
		case err != nil:
			return err
		case len(b) > in.size:
			return fmt.Errorf("the input is longer than a message of %d bytes", in.size)
		case len(b) == 0:
			return nil
		}
		return send(b)
	case in.lines:
		r := bufio.NewReaderSize(in.r, max(16, in.size))
		for {
			b, err := r.ReadSlice('\n')
			switch {
			case errors.Is(err, bufio.ErrBufferFull) || len(b) > in.size:
				return fmt.Errorf("a line is longer than a message of %d bytes", in.size)
			case len(b) > 0:
				if err := send(b); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	b := make([]byte, in.size)
	for {
		k, err := in.r.Read(b)
		if k > 0 {
			if err := send(b[:k]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A piece is what came.
type piece struct {
	from net.Addr
	name string // that it was sent to; of a group the member's
	data []byte
}

// A catOutput writes what comes.
type catOutput struct {
	w    io.Writer
	json bool
	most int // pieces; 0: any number

	mu   sync.Mutex // guards what follows
	came int
	err  error
}

// catPiece is a piece as --json tells of it.
type catPiece struct {
	Time  time.Time `json:"time"`
	From  string    `json:"from"`
	Name  string    `json:"name,omitempty"`
	Bytes int       `json:"bytes"`
	Data  []byte    `json:"data"` // in base64
}

// write writes a piece. The error is errEnough with the last one that is wanted.
func (o *catOutput) write(p piece) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.json {
		o.err = newEncoder(o.w).Encode(catPiece{time.Now(), p.from.String(), p.name, len(p.data), p.data})
	} else {
		_, o.err = o.w.Write(p.data)
	}
	if o.came++; o.err == nil && o.most > 0 && o.came >= o.most {
		return errEnough
	}
	return o.err
}

// broken is why nothing can be written any more.
func (o *catOutput) broken() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
