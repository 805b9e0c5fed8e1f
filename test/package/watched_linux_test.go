// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// A watched is the output of a command, in which something is waited for.
type watched struct {
	more chan struct{} // gets one when there is more

	mu sync.Mutex
	b  bytes.Buffer
}

func newWatched() *watched { return &watched{more: make(chan struct{}, 1)} }

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.b.Write(b)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

// wait waits until the text is in the output, at most so long.
func (w *watched) wait(text string, most time.Duration) (all string, ok bool) {
	for late := time.After(most); ; {
		if all = w.text(); strings.Contains(all, text) {
			return all, true
		}
		select {
		case <-w.more:
		case <-late:
			return all, false
		}
	}
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}
