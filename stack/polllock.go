// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"sync"
	"sync/atomic"
)

// A pollLock is the lock of the engine. A Handler runs while it is held, so a call of the
// node from there would wait for itself for ever: it panics instead, which closes the
// active port. Only who finds the lock taken pays for that.
//
// Which goroutine that is, Go does not say. What a stack of calls shows is no answer: it may
// be deeper than anybody looks, and tells of a handler, but not of whose. Labels of
// goroutines are inherited by those that a handler starts, which do wait for it, and a stack
// may move, so its place tells nothing either. So the lock keeps the address of the
// runtime's record of the goroutine, which costs an instruction, see goroutine; the number
// that a traceback shows would cost as much as the message. Other goroutines just wait.
type pollLock struct {
	held    sync.Mutex
	work    *lockWork      // of this holding; nil: nobody counts
	handler atomic.Uintptr // the goroutine that runs a Handler in the poll; 0: none does
}

// enterHandler and leaveHandler stand around a Handler's call.
func (l *pollLock) enterHandler() { l.handler.Store(goroutine()) }

func (l *pollLock) leaveHandler() { l.handler.Store(0) }

// inOwnHandler reports whether the goroutine is in the Handler that the lock's poll runs.
// None but itself can make that true, or untrue.
func (l *pollLock) inOwnHandler() bool {
	handler := l.handler.Load()
	return handler != 0 && handler == goroutine()
}

// Lock takes the lock. It panics in a Handler that a poll runs.
func (l *pollLock) Lock() {
	if !l.TryLock() {
		l.held.Lock()
	}
}

// TryLock takes the lock if it is free. It panics as Lock.
func (l *pollLock) TryLock() bool {
	if l.held.TryLock() {
		return true
	}
	if l.inOwnHandler() {
		panic("stack: an active port's handler called its node; it may use its Reply only")
	}
	return false
}

// Unlock gives the lock back.
func (l *pollLock) Unlock() {
	if l.work != nil {
		l.work.over()
	}
	l.held.Unlock()
}
