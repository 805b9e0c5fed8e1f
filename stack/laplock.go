// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// A lapLock is the lock of the engine. A Handler runs while it is held, so a call of the
// node from there would wait for itself for ever: it panics instead, which closes the
// active port. Only who finds the lock taken pays for that.
type lapLock struct {
	held     sync.Mutex
	handling atomic.Bool // a Handler runs in the lap
}

// Lock takes the lock. It panics in a Handler that a lap runs.
func (l *lapLock) Lock() {
	if !l.TryLock() {
		l.held.Lock()
	}
}

// TryLock takes the lock if it is free. It panics as Lock.
func (l *lapLock) TryLock() bool {
	if l.held.TryLock() {
		return true
	}
	if l.handling.Load() && inHandler(lapCall) {
		panic("stack: an active port's handler called its node; it may use its Reply only")
	}
	return false
}

// Unlock gives the lock back.
func (l *lapLock) Unlock() { l.held.Unlock() }

// The methods that call a Handler, as they stand in a stack of calls: within a lap, and
// in the goroutine of a port that was too slow for that.
const (
	lapCall  = ".(*ActivePort).serve"
	ownCall  = ".(*ActivePort).serveApart"
	mostDeep = 128 // callers that are looked at
)

// inHandler reports whether the goroutine is within such a call.
func inHandler(call string) bool {
	var pcs [mostDeep]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, call) {
			return true
		}
		if !more {
			return false
		}
	}
}
