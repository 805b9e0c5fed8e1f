// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net"
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
// lap lock guards it.
type awaiting map[uint32]waitList

// await enters a call, which is entered among those that wait already, for a name.
func (n *Node) await(w *waiter, name Range, now time.Duration) {
	if w.waiting {
		return
	}
	if n.awaited == nil {
		n.awaited = awaiting{}
	}
	w.name, w.waiting = name, true
	if w.from == 0 {
		w.from = now
	}
	n.awaited[name.Type] = append(n.awaited[name.Type], w)
}

// unawait takes a call out again. It is harmless for one that waits for no name.
func (n *Node) unawait(w *waiter) {
	if !w.waiting {
		return
	}
	w.waiting = false
	l := n.awaited[w.name.Type]
	if l.remove(w); len(l) == 0 {
		delete(n.awaited, w.name.Type)
	} else {
		n.awaited[w.name.Type] = l
	}
}

// callAwaiting wakes the calls that wait for a name in a range that was bound.
func (n *Node) callAwaiting(r Range) {
	for _, w := range n.awaited[r.Type] {
		if r.Overlaps(w.name) && !w.appeared {
			w.appeared = true
			n.rouse(w)
		}
	}
}

// awaits reports whether a message that met err may wait for its name: it was looked
// up here, and nobody has bound it.
func (s *writeHalf) awaits(d dest, err error) bool {
	return err == engine.ErrUnreachable && s.nameWait > 0 &&
		(d.kind == toRange || d.kind == toService && (d.service().Node == 0 || d.service().Node == s.local.Node))
}

// sleepForName waits for the name of w's message. Errors: ErrUnreachable when that has
// been long enough.
func (s *writeHalf) sleepForName(w *waiter) error {
	n := s.n
	now := n.latest
	n.eng.Quit(now, &w.ticket) // of a link that the name was behind
	n.callWriters()
	n.await(w, w.dest.name(), now)
	if waited := now - w.from; waited >= s.nameWait {
		return unnamed(w.dest.addr(s.network), waited)
	}
	s.sleepUntilNamed(w)
	return nil
}

// name is what must be bound for a message to a name to go anywhere.
func (d *dest) name() Range {
	if d.kind == toRange {
		return d.all()
	}
	return d.service().Range()
}

// patience is how long a socket's sends wait for names.
func (c SocketConfig) patience(node Config) time.Duration {
	if c.NameWait != 0 {
		return max(0, c.NameWait)
	}
	return node.NameWait
}

// sleepUntilNamed waits until the name of a write has appeared, which it reports, or
// the time for that or the write's own is over, or its socket is closed.
func (s *writeHalf) sleepUntilNamed(w *waiter) {
	n := s.n
	for w.appeared = false; !w.appeared && !s.closed && !past(s.writeBy); {
		now := n.now()
		left := w.from + s.nameWait - now
		if left <= 0 {
			return
		}
		by := time.Now().Add(left)
		if told := n.tellBy(s, w, now, s.writeBy); !told.IsZero() && told.Before(by) {
			by = told
		}
		n.block(w, by)
	}
}

// unnamed is the error of a write that has waited for its name in vain.
func unnamed(name net.Addr, waited time.Duration) error {
	return fmt.Errorf("%w: nobody has bound %v for %v", ErrUnreachable, name, waited.Round(time.Microsecond))
}
