// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// retry waits for whatever the message of s met to give way, and sends it then; ctx
// ends that too.
func (n *localNode) retry(ctx context.Context, s sender, d dest, b []byte, err error) error {
	if !s.waits(d, err) {
		return err
	}
	n.mu.Lock()
	defer n.unlock()
	c := n.beginWrite(ctx, s, d, len(b))
	defer n.endWrite(s, &c)
	return n.persist(&c, s, b, err)
}

// beginWrite returns the wait of a call that sends, which is not among those who wait yet.
// The call stays among them, once it is, until all is sent: one that has the leader's role
// must turn the engine before it hands the role on.
func (n *localNode) beginWrite(ctx context.Context, s sender, d dest, size int) wait {
	own := s.writes()
	c := wait{list: &own.writing, closed: &own.closed, by: &own.writeBy, ctx: ctx, w: n.newWaiter()}
	c.w.write = write{dest: d, size: size, began: n.now()}
	c.w.awaited = awaited{}
	return c
}

func (n *localNode) endWrite(s sender, c *wait) {
	own, entered := s.writes(), c.w.entered
	if entered {
		n.eng.Waited(own.local.Port, n.latest-c.w.began)
	}
	n.leave(c)
	if entered && own.inTurn {
		n.rouseFirst(own.writing)
	}
}

// persist tries to send until it is not for want of what passes that it fails. met is
// what the message met already.
func (n *localNode) persist(c *wait, s sender, b []byte, met error) error {
	own, w := s.writes(), c.w
	over := n.await(c, func() bool {
		now := n.now()
		if w.waiting && !w.appeared && !own.nameOver(w, now) {
			c.lookBy(own.nameBy(w, now))
			n.tellOnce(c, own, now)
			return false
		}
		w.appeared = false
		n.eng.Hold(n.inBatch(now, len(b)))
		met = n.attempt(w, now, func() error { return n.send(now, s, w.dest, b) })
		if !s.waits(w.dest, met) {
			n.afterSend(now, len(b))
			return true
		}
		w.met = met
		n.enter(c)
		if n.leadership.leader != w && met != engine.ErrUnreachable && (n.eng.Output() || n.eng.WantsMemory()) {
			n.pollOnce(now, false) // who leads sleeps, and knows neither of what the try has sent nor of the wait
		}
		if met != engine.ErrUnreachable {
			n.unawait(w)
		} else if n.awaitName(w, now); own.nameOver(w, now) {
			met = unnamed(w.dest.addr(own.network), now-w.from)
			return true
		} else {
			c.lookBy(own.nameBy(w, now))
		}
		n.tellOnce(c, own, now)
		return false
	})
	switch over {
	case nil:
		return met
	case net.ErrClosed:
		return over
	}
	e := n.blockedWrite(own, w, met, n.now())
	if over != os.ErrDeadlineExceeded {
		e.Cause = over
	}
	return e
}

// callWriters makes the writes look for which there is room now.
func (n *localNode) callWriters() {
	n.called = n.eng.TakeCalled(n.called[:0])
	for i, t := range n.called {
		n.rouse(t.Owner.(*waiter))
		n.called[i] = nil
	}
}

// blockedWrite tells what a write of s waits for at now; err is what it met last. Who
// waits for another write of its socket waits for what that waits for.
func (n *localNode) blockedWrite(s *writeHalf, w *waiter, err error, now time.Duration) *BlockedError {
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

// tellOnce logs a write that has waited for long, or has it look when it will have.
func (n *localNode) tellOnce(c *wait, s *writeHalf, now time.Duration) {
	w := c.w
	if w.told || n.logs.entries == nil {
		return
	}
	if left := w.began + worthAWord - now; left > 0 {
		c.lookBy(time.Now().Add(left))
		return
	}
	w.told = true
	if n.waitTold == 0 || now-n.waitTold >= oneWait {
		n.waitTold = now
		e := n.blockedWrite(s, w, w.met, now)
		if e.Name != nil {
			n.logs.add(slog.LevelWarn, "write waits", slog.String("service", e.Name.String()), slog.Duration("for", e.Blocked))
			return
		}
		n.logs.add(slog.LevelWarn, "write waits", slog.String("peer", e.Node.String()), slog.String("bearer", e.Bearer),
			slog.String("link", e.Link), slog.String("importance", e.Importance.String()), slog.Duration("for", e.Blocked),
			slog.Int("unacknowledged", e.Unacked), slog.Int("window", e.Window),
			slog.Int("waiting", e.Waiting), slog.Int("limit", e.Limit), slog.Int("ahead", e.Ahead))
	}
}

// Waits implements nodeBackend.
func (n *localNode) Waits() []Wait {
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

// A write is what is known of a call that sends and waits.
type write struct {
	ticket engine.Ticket
	dest   dest
	size   int
	began  time.Duration
	met    error // last
	told   bool  // it was logged
}

// Limits of what is logged of writes that wait.
const (
	worthAWord = time.Second // after which one is worth a word
	oneWait    = time.Second // between two of them
)

// blocks reports whether a send that failed so may succeed later.
func blocks(err error) bool {
	_, ok := err.(*engine.Blocked)
	return ok || err == engine.ErrMemory
}
