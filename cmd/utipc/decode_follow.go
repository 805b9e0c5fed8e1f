// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// followInterval is how often a file is asked whether it has grown.
const followInterval = 100 * time.Millisecond

// errShrunk means that a file which is followed was cut: what comes is not what it was.
var errShrunk = errors.New("the file has become shorter")

// A follower reads a file that others still write: at its end it waits for more, until
// ctx is done, which it takes for the end.
type follower struct {
	ctx  context.Context
	file *os.File
	at   int64
}

// Read returns io.EOF only when ctx is done.
func (f *follower) Read(p []byte) (int, error) {
	var tick *time.Ticker
	for {
		n, err := f.file.Read(p)
		f.at += int64(n)
		if n > 0 || err != nil && err != io.EOF {
			return n, err
		}
		if info, err := f.file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() < f.at {
			return 0, errShrunk
		}
		if tick == nil {
			tick = time.NewTicker(followInterval)
			defer tick.Stop()
		}
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-tick.C:
		}
	}
}
