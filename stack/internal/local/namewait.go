// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// An awaited is the name that a call waits for.
type awaited struct {
	name     frame.Range   // what must be bound
	from     time.Duration // when its call first missed it; 0: never
	waiting  bool          // it is among Node.awaited
	appeared bool          // since it last looked
}

// awaiting is the calls that wait for a name to appear, by service type, each list in
// order of arrival. A binding wakes those whose name it has in it, and no others. The
// node's lock guards it.
type awaiting map[uint32][]*write

// awaitName enters a call, which is entered among those that wait already, for the name of
// its message.
func (n *Node) awaitName(w *write, now time.Duration) {
	if w.waiting {
		return
	}
	if n.awaited == nil {
		n.awaited = awaiting{}
	}
	name := w.dest.Name()
	w.name, w.waiting = name, true
	if w.from == 0 {
		w.from = now
	}
	n.awaited[name.Type] = append(n.awaited[name.Type], w)
}

// unawait takes a call out again. It is harmless for one that waits for no name.
func (n *Node) unawait(w *write) {
	if !w.waiting {
		return
	}
	w.waiting = false
	left := slices.DeleteFunc(n.awaited[w.name.Type], func(x *write) bool { return x == w })
	if len(left) == 0 {
		delete(n.awaited, w.name.Type)
	} else {
		n.awaited[w.name.Type] = left
	}
}

// callAwaiting wakes the calls that wait for a name in a range that was bound.
func (n *Node) callAwaiting(r frame.Range) {
	for _, w := range n.awaited[r.Type] {
		if r.Overlaps(w.name) && !w.appeared {
			w.appeared = true
			n.loop.Rouse(w.waiter)
		}
	}
}

// awaits reports whether a message that met err may wait for its name: it was looked
// up here, and nobody has bound it.
func (s *writeHalf) awaits(d backend.Dest, err error) bool {
	return engine.Unreachable(err) && s.nameWait > 0 &&
		(d.Kind == backend.ToRange || d.Kind == backend.ToService && (d.Service().Node == 0 || d.Service().Node == s.local.Node))
}

// nameOver reports whether w has waited for its name for as long as it may.
func (s *writeHalf) nameOver(w *write, now time.Duration) bool { return now-w.from >= s.nameWait }

// nameBy is when that will be so.
func (s *writeHalf) nameBy(w *write, now time.Duration) time.Time {
	return time.Now().Add(w.from + s.nameWait - now)
}

// nameWait is how long sends wait for names of a socket that asks for so long.
func (n *Node) nameWait(asked time.Duration) time.Duration {
	if asked != 0 {
		return max(0, asked)
	}
	return n.cfg.NameWait
}

// unnamed is the error of a write that has waited for its name in vain, and met err last.
func unnamed(name net.Addr, err error, waited time.Duration) error {
	return &socket.UnreachableError{Addr: name, Waited: waited, Err: err}
}
