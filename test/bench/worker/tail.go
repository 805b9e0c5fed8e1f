// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"strings"
	"sync"
)

// tailLen is how much of a worker's last words is kept, in bytes.
const tailLen = 4096

// A tail keeps the last bytes written to it.
type tail struct {
	mu sync.Mutex // guards b
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - tailLen; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}
