// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A lockWork counts what is done in one holding of a Loop's lock, and panics when that
// is more than the limit: by then everybody else has waited for too long, or
// would wait for ever. It is for tests, which count as they cannot trust a clock; other
// Loops have none, and pay for a look whether they do.
type lockWork struct {
	done  [engine.WorkKinds]int // in this holding
	all   int
	began time.Duration // with the first unit, as threadTime tells
}

// longest is the longest holding of a lock there was, of all that were counted.
var longest struct {
	sync.Mutex
	took time.Duration // processor time of its thread
	work string
}

// LongestHolding says how much processor time the longest holding took, and for what; "" where
// none was counted. It is printed after tests, and not asserted: the processor's speed is no
// property of this code.
func LongestHolding() string {
	longest.Lock()
	defer longest.Unlock()
	if longest.took == 0 {
		return ""
	}
	return fmt.Sprintf("longest holding of the engine's lock: %v of processor time, for %s", longest.took, longest.work)
}

// LockWorkEnv makes new Loops count, if it is "1" in the environment.
const LockWorkEnv = "UTIPC_LOCKWORK"

// mostLockWork is the units that one holding may do. A frame, or a send, takes up to a
// microsecond, all others less: so nobody waits for longer than 16 ms, a link without an
// answer for 100 times as long is lost. A poll of several devices stays below 1000 but for
// bindings. What needs most of all is a subscription to all of a large table.
const mostLockWork = 1 << 14

func newLockWork() *lockWork {
	if os.Getenv(LockWorkEnv) != "1" {
		return nil
	}
	return new(lockWork)
}

// did counts k units.
func (w *lockWork) did(kind engine.Work, k int) {
	if w.all == 0 && k > 0 { // until over nobody else uses the thread, whose time it is
		runtime.LockOSThread()
		w.began = threadTime()
	}
	w.done[kind] += k
	if w.all += k; w.all > mostLockWork {
		panic(fmt.Sprintf("stack: one holding of the node's lock does %d units of work, more than %d: %v", w.all, mostLockWork, w))
	}
}

func (w *lockWork) String() (s string) {
	for kind, k := range w.done {
		if k > 0 {
			s += fmt.Sprintf("%d %v ", k, engine.Work(kind))
		}
	}
	return s
}

// over ends a holding.
func (w *lockWork) over() {
	if w.all > 0 {
		took := threadTime() - w.began
		runtime.UnlockOSThread()
		longest.Lock()
		if took > longest.took {
			longest.took, longest.work = took, w.String()
		}
		longest.Unlock()
	}
	*w = lockWork{}
}
