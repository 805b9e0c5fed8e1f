// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"sync"
	"sync/atomic"

	"github.com/utipc/utipc/stack/internal/goroutine"
)

// A mutex is the lock of a Loop. A handler runs while it is held, so a call of the
// node from there would wait for itself for ever: it panics instead, which closes the
// active port. Only who finds the lock taken pays for that.
//
// Which goroutine that is, Go does not say. What a stack of calls shows is no answer: it may
// be deeper than anybody looks, and tells of a handler, but not of whose. Labels of
// goroutines are inherited by those that a handler starts, which do wait for it, and a stack
// may move, so its place tells nothing either. So the lock keeps the address of the
// runtime's record of the goroutine, which costs an instruction, see goroutine.ID; the number
// that a traceback shows would cost as much as the message. Other goroutines just wait.
type mutex struct {
	held    sync.Mutex
	work    *lockWork      // of this holding; nil: nobody counts
	handler atomic.Uintptr // the goroutine that runs a handler in the poll; 0: none does
}

// enterHandler and leaveHandler stand around a handler's call.
func (l *mutex) enterHandler() { l.handler.Store(goroutine.ID()) }

func (l *mutex) leaveHandler() { l.handler.Store(0) }

// inOwnHandler reports whether the goroutine is in the handler that the lock's poll runs.
// None but itself can make that true, or untrue.
func (l *mutex) inOwnHandler() bool {
	handler := l.handler.Load()
	return handler != 0 && handler == goroutine.ID()
}

// Lock takes the lock. It panics in a handler that a poll runs.
func (l *mutex) Lock() {
	if !l.TryLock() {
		l.held.Lock()
	}
}

// TryLock takes the lock if it is free. It panics as Lock.
func (l *mutex) TryLock() bool {
	if l.held.TryLock() {
		return true
	}
	if l.inOwnHandler() {
		panic("stack: an active port's handler called its node; it may use its Reply only")
	}
	return false
}

// Unlock gives the lock back.
func (l *mutex) Unlock() {
	if l.work != nil {
		l.work.over()
	}
	l.held.Unlock()
}
