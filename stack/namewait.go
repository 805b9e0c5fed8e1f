// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// An awaited is the name that a call waits for.
type awaited struct {
	name     Range         // what must be bound
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
func (n *localNode) awaitName(w *write, now time.Duration) {
	if w.waiting {
		return
	}
	if n.awaited == nil {
		n.awaited = awaiting{}
	}
	name := w.dest.name()
	w.name, w.waiting = name, true
	if w.from == 0 {
		w.from = now
	}
	n.awaited[name.Type] = append(n.awaited[name.Type], w)
}

// unawait takes a call out again. It is harmless for one that waits for no name.
func (n *localNode) unawait(w *write) {
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
func (n *localNode) callAwaiting(r Range) {
	for _, w := range n.awaited[r.Type] {
		if r.Overlaps(w.name) && !w.appeared {
			w.appeared = true
			n.loop.Rouse(w.waiter)
		}
	}
}

// awaits reports whether a message that met err may wait for its name: it was looked
// up here, and nobody has bound it.
func (s *writeHalf) awaits(d dest, err error) bool {
	return err == engine.ErrUnreachable && s.nameWait > 0 &&
		(d.kind == toRange || d.kind == toService && (d.service().Node == 0 || d.service().Node == s.local.Node))
}

// nameOver reports whether w has waited for its name for as long as it may.
func (s *writeHalf) nameOver(w *write, now time.Duration) bool { return now-w.from >= s.nameWait }

// nameBy is when that will be so.
func (s *writeHalf) nameBy(w *write, now time.Duration) time.Time {
	return time.Now().Add(w.from + s.nameWait - now)
}

// name is what must be bound for a message to a name to go anywhere.
func (d *dest) name() Range {
	if d.kind == toRange {
		return d.all()
	}
	return d.service().Range()
}

// spinPolicy is how long a socket's sends wait for names.
func (c SocketConfig) spinPolicy(node Config) time.Duration {
	if c.NameWait != 0 {
		return max(0, c.NameWait)
	}
	return node.NameWait
}

// unnamed is the error of a write that has waited for its name in vain.
func unnamed(name net.Addr, waited time.Duration) error {
	return fmt.Errorf("%w: nobody has bound %v for %v", ErrUnreachable, name, waited.Round(time.Microsecond))
}
