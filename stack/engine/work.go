// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
)

// A Work is a kind of what a turn of the engine does for each of many.
type Work uint8

// Kinds of work; the owner of an engine counts frames itself.
const (
	WorkBindings    Work = iota // bindings looked at, or sent
	WorkSubscribers             // subscribers looked at for a binding, and events written
	WorkMembers                 // members of a group looked at for a message
	WorkFrames
	WorkSends
	WorkKinds = iota
)

// String names what is counted.
func (w Work) String() string {
	return [WorkKinds]string{"bindings", "subscribers", "members", "frames", "sends"}[w]
}

// What a program or a peer can make long is done in parts, so that one turn keeps nobody else
// waiting. A turn, from one HandleTimeout to the next, counts what it does. Each stage of it
// goes on until the turn has done so much; the rest waits for the next turn, which is due at
// once:
//
//	chores ──► up to turnWork      withdrawals, names of lost nodes, names that waited, listings
//	telling ─► up to 2 turnWork    events of bindings, to subscribers
//	serving ─► up to 3 turnWork    subscriptions that are over, the topology service, bulks of names
const turnWork = 2048

// work is what the turn has done, and what is left to do in parts.
type work struct {
	done   int // units, since HandleTimeout
	chores flowctl.Queue[chore]
}

// A chore is done in parts. They take turns.
type chore interface {
	part(now time.Duration) (more bool)
}

// did counts work that has been done, and tells the owner, if it counts, too.
func (e *Engine) did(w Work, k int) {
	e.work.done += k
	if e.cfg.Did != nil {
		e.cfg.Did(w, k)
	}
}

// mayDo reports whether the turn has not done so much times turnWork yet.
func (e *Engine) mayDo(stage int) bool { return e.work.done < stage*turnWork }

// later has the rest of something done in parts.
func (e *Engine) later(c chore) { e.work.chores.Push(c) }

// workOff does parts of what is left to do.
func (e *Engine) workOff(now time.Duration) {
	e.work.done = 0
	for q := &e.work.chores; q.Len() > 0 && e.mayDo(1); {
		if c := q.Pop(); c.part(now) {
			q.Push(c)
		}
	}
}
