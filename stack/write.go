// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A write is what is known of a call that sends and waits.
type write struct {
	ticket  engine.Ticket
	dest    dest
	size    int
	began   time.Duration
	met     error // last
	entered bool  // among those who wait
	told    bool  // it was logged
}

// Limits of what is logged of writes that wait.
const (
	worthAWord = time.Second // after which one is worth a word
	oneWait    = time.Second // between two of them
)

// retry waits for whatever the message of s met to give way, and sends it then; ctx
// ends that too. It stays entered among the waiting calls until that is done: a
// call that has the driver's role must turn the engine before it hands the role on.
func (n *Node) retry(ctx context.Context, s sender, d dest, b []byte, err error) error {
	if !s.waits(d, err) {
		return err
	}
	n.mu.Lock()
	defer n.unlock()
	defer n.rouseWhen(ctx, &s.writes().writing)()
	w := n.beginWrite(d, len(b))
	defer n.endWrite(s.writes(), w)
	return n.persist(ctx, s, w, b, err)
}

// beginWrite returns a waiter for a call that sends, which has not been entered yet.
func (n *Node) beginWrite(d dest, size int) *waiter {
	w := n.newWaiter()
	w.write = write{dest: d, size: size, began: n.now()}
	w.ticket.Owner = w
	w.awaited = awaited{}
	return w
}

func (n *Node) endWrite(s *writeHalf, w *waiter) {
	n.eng.Quit(n.latest, &w.ticket)
	n.callWriters()
	n.unawait(w)
	if w.entered {
		n.eng.Waited(s.local.Port, n.latest-w.began)
		n.end(&s.writing, w)
		if s.inTurn {
			n.rouseFirst(s.writing)
		}
	} else {
		n.idleWaiters = append(n.idleWaiters, w)
	}
}

// persist tries to send until it is not for want of what passes that it fails. err is
// what the message met already.
func (n *Node) persist(ctx context.Context, s sender, w *waiter, b []byte, err error) error {
	own := s.writes()
	for {
		now := n.now()
		n.latest = now
		if past(own.writeBy) {
			return n.blockedWrite(own, w, err, now)
		}
		if ctx.Err() != nil {
			e := n.blockedWrite(own, w, err, now)
			e.Cause = ctx.Err()
			return e
		}
		n.eng.Hold(n.inRun(now, len(b)))
		n.eng.SendAs(&w.ticket)
		n.trying = w
		err = n.send(now, s, w.dest, b)
		n.trying = nil
		n.eng.SendAs(nil)
		if !s.waits(w.dest, err) {
			n.afterSend(now, len(b))
			return err
		}
		w.met = err
		if !w.entered {
			w.entered = true
			n.enter(&own.writing, w)
		}
		if n.hand.driver != w && err != engine.ErrUnreachable && (n.eng.Output() || n.eng.WantsMemory()) {
			n.lap(now, false) // who drives sleeps, and knows neither of what the try has sent nor of the wait
		}
		if err := s.sleep(w, w.dest, err); err != nil {
			return err
		}
	}
}

// sleepForRoom waits until w is told that there is room.
func (n *Node) sleepForRoom(s *writeHalf, w *waiter) {
	n.unawait(w)
	if n.callWriters(); !w.ticket.Invited() {
		n.block(w, n.tellBy(s, w, n.latest, s.writeBy))
	}
}

// blocks reports whether a send that failed so may succeed later.
func blocks(err error) bool {
	_, ok := err.(*engine.Blocked)
	return ok || err == engine.ErrMemory
}

// callWriters makes the writes look for which there is room now.
func (n *Node) callWriters() {
	n.called = n.eng.TakeCalled(n.called[:0])
	for i, t := range n.called {
		n.rouse(t.Owner.(*waiter))
		n.called[i] = nil
	}
}

// blockedWrite tells what a write of s waits for at now; err is what it met last. Who
// waits for another write of its socket waits for what that waits for.
func (n *Node) blockedWrite(s *writeHalf, w *waiter, err error, now time.Duration) *BlockedError {
	ahead := 0
	if err == errTurn {
		if ahead = max(0, slices.Index(s.writing, w)); ahead > 0 {
			first := s.writing[0]
			err = first.met
			if why := n.eng.Why(&first.ticket); why != nil {
				err = why
			}
		}
	} else if why := n.eng.Why(&w.ticket); why != nil {
		err = why
	}
	e := blockedError(err, now-w.began)
	e.Ahead += ahead
	if e.Peer.Port != 0 {
		e.Peer.Net = s.network
	}
	if w.waiting || err == engine.ErrUnreachable {
		e.Name = w.dest.addr(s.network)
	}
	return e
}

// tellBy logs a write that has waited for long, and returns until when it may sleep:
// its deadline, or when it will have.
func (n *Node) tellBy(s *writeHalf, w *waiter, now time.Duration, deadline time.Time) time.Time {
	if w.told || n.logs.entries == nil {
		return deadline
	}
	if left := w.began + worthAWord - now; left > 0 {
		if at := time.Now().Add(left); deadline.IsZero() || at.Before(deadline) {
			return at
		}
		return deadline
	}
	w.told = true
	if n.waitTold == 0 || now-n.waitTold >= oneWait {
		n.waitTold = now
		e := n.blockedWrite(s, w, w.met, now)
		if e.Name != nil {
			n.logs.add(slog.LevelWarn, "write waits", slog.String("service", e.Name.String()), slog.Duration("for", e.Blocked))
			return deadline
		}
		n.logs.add(slog.LevelWarn, "write waits", slog.String("peer", e.Node.String()), slog.String("bearer", e.Bearer),
			slog.String("link", e.Link), slog.String("importance", e.Importance.String()), slog.Duration("for", e.Blocked),
			slog.Int("unacknowledged", e.Unacked), slog.Int("window", e.Window),
			slog.Int("waiting", e.Waiting), slog.Int("limit", e.Limit), slog.Int("ahead", e.Ahead))
	}
	return deadline
}

// A Wait is a write that waits.
type Wait struct {
	Socket SocketAddr // that sends
	To     net.Addr
	Bytes  int
	Since  time.Time
	BlockedError
}

// Waits returns the writes that wait now, and what each waits for; who has waited
// longest comes first.
func (n *Node) Waits() []Wait {
	if n.far != nil {
		return showFar[[]Wait](n, "waits")
	}
	n.mu.Lock()
	defer n.unlock()
	now := n.now()
	var all []Wait
	for c := range n.sockets {
		s := c.writes()
		for _, w := range s.writing {
			all = append(all, Wait{Socket: s.local, Bytes: w.size, Since: n.start.Add(w.began), To: w.dest.addr(s.network),
				BlockedError: *n.blockedWrite(s, w, w.met, now)})
		}
	}
	slices.SortFunc(all, func(a, b Wait) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Socket.Port, b.Socket.Port))
	})
	return all
}
