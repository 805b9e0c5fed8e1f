// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"os"

	"github.com/utipc/utipc/stack/engine"
)

// A lockWork counts what is done in one holding of a node's lap lock, and panics when that
// is more than the limit: by then everybody else of the node has waited for too long, or
// would wait for ever. It is for tests, which count as they cannot trust a clock; other
// nodes have none, and pay for a look whether they do.
type lockWork struct {
	done [engine.WorkKinds]int // in this holding
	all  int
}

// lockWorkEnv makes the nodes that are opened count, if it is "1" in the environment.
const lockWorkEnv = "UTIPC_LOCKWORK"

// mostLockWork is the units that one holding may do. A frame, or a send, takes up to a
// microsecond, all others less: so nobody waits for longer than 16 ms, a link without an
// answer for 100 times as long is lost. A lap of several devices stays below 1000 but for
// bindings. What needs most of all is a subscription to all of a large table.
const mostLockWork = 1 << 14

func newLockWork() *lockWork {
	if os.Getenv(lockWorkEnv) != "1" {
		return nil
	}
	return new(lockWork)
}

// did counts k units.
func (w *lockWork) did(kind engine.Work, k int) {
	w.done[kind] += k
	if w.all += k; w.all > mostLockWork {
		panic(fmt.Sprintf("stack: one holding of the lap lock does %d units of work, more than %d: %v", w.all, mostLockWork, w))
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
func (w *lockWork) over() { *w = lockWork{} }

// did counts work of the node's laps and calls, where it is counted.
func (n *localNode) did(kind engine.Work, k int) {
	if w := n.mu.work; w != nil {
		w.did(kind, k)
	}
}
