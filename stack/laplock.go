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
	held sync.Mutex
	call atomic.Uint64 // of a Handler that runs in the lap, by number; 0: none does
}

// Handlers that run in the laps of all nodes of the process, and those that ever ran.
var handlersRunning, handlersRun atomic.Uint64

// enterHandler and leaveHandler stand around a Handler's call.
func (l *lapLock) enterHandler() {
	handlersRunning.Add(1)
	l.call.Store(handlersRun.Add(1))
}

func (l *lapLock) leaveHandler() {
	l.call.Store(0)
	handlersRunning.Add(^uint64(0))
}

// inOwnHandler reports whether the goroutine is in the Handler that the lock's lap runs.
// Its stack tells that it is in some node's. Where several run, which it is in shows when
// the others are done.
func (l *lapLock) inOwnHandler() bool {
	for {
		call := l.call.Load()
		switch {
		case call == 0 || !inHandler(lapCall):
			return false
		case handlersRunning.Load() == 1 && l.call.Load() == call:
			return true
		}
		runtime.Gosched()
	}
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
	if l.inOwnHandler() {
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
