// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"log/slog"
	"strings"
	"sync"
)

// logLines is a log for tests.
type logLines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logLines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// has reports whether one line has all of the parts.
func (l *logLines) has(parts ...string) bool {
	for line := range strings.Lines(l.all()) {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
}
