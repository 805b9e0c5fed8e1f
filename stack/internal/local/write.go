// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// retry waits for whatever the message of s met to give way, and sends it then; ctx
// ends that too.
func (n *Node) retry(ctx context.Context, s sender, d backend.Dest, b []byte, err error) error {
	if !s.waits(d, err) {
		return err
	}
	n.loop.Lock()
	defer n.loop.Unlock()
	c, w := n.beginWrite(ctx, s, d, len(b))
	defer n.endWrite(s, &c, w)
	return n.persist(&c, w, s, b, err)
}

// beginWrite returns the wait of a call that sends, which is not among those who wait yet.
// The call stays among them, once it is, until all is sent: one that has the leader's role
// must turn the engine before it hands the role on.
func (n *Node) beginWrite(ctx context.Context, s sender, d backend.Dest, size int) (poll.Wait, *write) {
	own := s.writes()
	c := poll.Wait{List: &own.writing, Closed: &own.closed, By: &own.writeBy, Ctx: ctx, Waiter: n.loop.NewWaiter()}
	w := writeOf(c.Waiter)
	*w = write{waiter: c.Waiter, dest: d, size: size, began: n.loop.Now()}
	return c, w
}

// writeOf is what is known of a call that sends.
func writeOf(w *poll.Waiter) *write {
	x, ok := w.Owner.(*write)
	if !ok {
		x = &write{waiter: w}
		w.Owner = x
	}
	return x
}

func (n *Node) endWrite(s sender, c *poll.Wait, w *write) {
	own, entered := s.writes(), c.Waiter.Entered()
	if entered {
		n.eng.Waited(own.local.Port, n.latest-w.began)
	}
	n.quit(w)
	n.loop.Leave(c)
	if entered && own.inTurn {
		n.loop.RouseFirst(own.writing)
	}
}

// quit takes a call that sends out of the line it stands in, and of those that wait for a name.
func (n *Node) quit(w *write) {
	if w.ticket.Owner == nil {
		return
	}
	n.eng.Quit(n.latest, &w.ticket)
	w.ticket.Owner = nil
	n.callWriters()
	n.unawait(w)
}

// attempt is an attempt of w's call to send, of which send is the engine's part. When that
// finds no room w stands in line for it until there is, or until another attempt meets
// something else.
func (n *Node) attempt(w *write, now time.Duration, send func() error) error {
	n.latest = now
	w.ticket.Owner = w
	n.eng.SendAs(&w.ticket)
	n.trying = w.waiter
	n.loop.Did(engine.WorkSends, 1)
	err := send()
	n.trying = nil
	n.eng.Tried(now)
	n.callWriters() // for who left a line has left room
	return err
}

// persist tries to send until it is not for want of what passes that it fails. w is the call's
// own, met what the message met already.
func (n *Node) persist(c *poll.Wait, w *write, s sender, b []byte, met error) error {
	own := s.writes()
	over := n.loop.Await(c, func() (done bool) {
		done, met = n.tryWrite(c, w, s, b, met)
		if !done && w.ticket.Invited() { // there is room
			c.TryAgain()
		}
		return done
	})
	switch over {
	case nil:
		return met
	case net.ErrClosed:
		return over
	}
	e := n.blockedWrite(own, w, met, n.loop.Now())
	if over != os.ErrDeadlineExceeded {
		e.Cause = over
	}
	return e
}

// tryWrite is one attempt of persist, after one that has met the given error. It reports
// whether the call is over, and with what.
func (n *Node) tryWrite(c *poll.Wait, w *write, s sender, b []byte, met error) (done bool, err error) {
	own, now := s.writes(), n.loop.Now()
	if w.waiting && !w.appeared && !own.nameOver(w, now) {
		c.LookBy(own.nameBy(w, now))
		n.tellOnce(c, own, w, now)
		return false, met
	}
	w.appeared = false
	n.eng.Hold(n.loop.InBatch(now, len(b)))
	met = n.attempt(w, now, func() error { return n.send(now, s, w.dest, b) })
	if !s.waits(w.dest, met) {
		n.afterSend(now, len(b))
		return true, met
	}
	w.met = met
	n.loop.Enter(c)
	if !n.loop.Leads(w.waiter) && !engine.Unreachable(met) && (n.eng.Output() || n.eng.WantsMemory()) {
		n.pollOnce(now, false) // who leads sleeps, and knows neither of what the try has sent nor of the wait
	}
	if !engine.Unreachable(met) {
		n.unawait(w)
	} else if n.awaitName(w, now); own.nameOver(w, now) {
		return true, unnamed(w.dest.Addr(), met, now-w.from)
	} else {
		c.LookBy(own.nameBy(w, now))
	}
	n.tellOnce(c, own, w, now)
	return false, met
}

// callWriters makes the writes look for which there is room now.
func (n *Node) callWriters() {
	n.called = n.eng.TakeCalled(n.called[:0])
	for i, t := range n.called {
		n.loop.Rouse(t.Owner.(*write).waiter)
		n.called[i] = nil
	}
}

// blockedWrite tells what a write of s waits for at now; err is what it met last. Who
// waits for another write of its socket waits for what that waits for.
func (n *Node) blockedWrite(s *writeHalf, w *write, err error, now time.Duration) *socket.BlockedError {
	ahead := 0
	if err == errTurn {
		if ahead = max(0, slices.Index(s.writing, w.waiter)); ahead > 0 {
			first := writeOf(s.writing[0])
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
	if w.waiting || engine.Unreachable(err) {
		e.Name = w.dest.Addr()
	}
	return e
}

// tellOnce logs a write that has waited for long, or has it look when it will have.
func (n *Node) tellOnce(c *poll.Wait, s *writeHalf, w *write, now time.Duration) {
	if w.told || n.logs.entries == nil {
		return
	}
	if left := w.began + worthAWord - now; left > 0 {
		c.LookBy(time.Now().Add(left))
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

// Waits implements backend.Node.
func (n *Node) Waits() []socket.Wait {
	n.loop.Lock()
	defer n.loop.Unlock()
	now := n.loop.Now()
	var all []socket.Wait
	for c := range n.sockets {
		s := c.writes()
		for _, x := range s.writing {
			w := writeOf(x)
			all = append(all, socket.Wait{
				Socket: s.local, Bytes: w.size, Since: n.loop.Time(w.began), To: w.dest.Addr(),
				BlockedError: *n.blockedWrite(s, w, w.met, now),
			})
		}
	}
	slices.SortFunc(all, func(a, b socket.Wait) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Socket.Port, b.Socket.Port))
	})
	return all
}

// A write is what is known of a call that sends and waits.
type write struct {
	waiter *poll.Waiter // whose Owner it is
	ticket engine.Ticket
	dest   backend.Dest
	size   int
	began  time.Duration
	met    error // last
	told   bool  // it was logged
	awaited
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
