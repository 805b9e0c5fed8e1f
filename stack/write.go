// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A write is what is known of a call that sends and waits.
type write struct {
	ticket engine.Ticket
	dest   dest
	size   int
	began  time.Duration
	told   bool // it was logged
}

// Limits of what is logged of writes that wait.
const (
	worthAWord = time.Second // after which one is worth a word
	oneWait    = time.Second // between two of them
)

// retry waits for whatever the message met to give way, and sends it then. It
// stays entered among the waiting calls until that is done: a call that has the
// driver's role must turn the engine before it hands the role on.
func (c *PacketConn) retry(d dest, b []byte, err error) error {
	if !blocks(err) && !c.awaits(d, err) {
		return err
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	w := n.newWaiter()
	began := n.now()
	w.write = write{dest: d, size: len(b), began: began}
	w.ticket.Owner = w
	w.awaited = awaited{}
	entered := false
	defer func() {
		n.eng.Quit(n.latest, &w.ticket)
		n.callWriters()
		n.unawait(w)
		if entered {
			n.end(&c.writing, w)
		} else {
			n.idleWaiters = append(n.idleWaiters, w)
		}
	}()
	for now := began; ; now = n.now() {
		n.latest = now
		if past(c.writeBy) {
			return n.blockedWrite(w, err, now)
		}
		n.eng.Hold(n.inRun(now, len(b)))
		n.eng.SendAs(&w.ticket)
		err = n.send(now, c, d, b)
		n.eng.SendAs(nil)
		awaits := c.awaits(d, err)
		if !blocks(err) && !awaits {
			n.afterSend(now, len(b))
			return err
		}
		if !entered {
			entered = true
			n.enter(&c.writing, w)
		}
		if awaits {
			n.eng.Quit(now, &w.ticket) // of a link that the name was behind
			n.callWriters()
			n.await(w, d.name(), now)
			if waited := now - w.from; waited >= c.nameWait {
				return unnamed(d.addr(), waited)
			}
			c.sleepUntilNamed(w)
			continue
		}
		n.unawait(w)
		if n.callWriters(); !w.ticket.Invited() {
			n.block(w, n.tellBy(w, now, c.writeBy))
		}
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

// blockedWrite tells what a write waits for at now; err is what it met last.
func (n *Node) blockedWrite(w *waiter, err error, now time.Duration) *BlockedError {
	if why := n.eng.Why(&w.ticket); why != nil {
		err = why
	}
	e := blockedError(err, now-w.began)
	if w.waiting || err == engine.ErrUnreachable {
		e.Name = w.dest.addr()
	}
	return e
}

// tellBy logs a write that has waited for long, and returns until when it may sleep:
// its deadline, or when it will have.
func (n *Node) tellBy(w *waiter, now time.Duration, deadline time.Time) time.Time {
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
		e := n.blockedWrite(w, engine.ErrMemory, now)
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
	n.mu.Lock()
	defer n.unlock()
	now := n.now()
	var all []Wait
	for c := range n.conns {
		for _, w := range c.writing {
			x := Wait{Socket: c.local, Bytes: w.size, Since: n.start.Add(w.began), To: w.dest.addr(),
				BlockedError: *n.blockedWrite(w, engine.ErrMemory, now)}
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b Wait) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Socket.Port, b.Socket.Port))
	})
	return all
}

// addr is where a message goes.
func (d *dest) addr() net.Addr {
	switch d.kind {
	case toService:
		return d.service
	case toRange:
		return d.all
	}
	return d.socket
}
