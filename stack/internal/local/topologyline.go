// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A topologyLine is a connection to the topology service of another node. The node's lock
// guards it, and all of its methods are called with that held.
type topologyLine struct {
	n      *Node
	at     frame.NodeAddr
	c      *engine.Conn
	wait   *poll.List // its owner's calls
	closed bool
}

// dialTopology connects to the topology service of a node; the request has a record
// with it. All of that has so long (0: 8 seconds), from the call on. Errors:
// ErrUnreachable, *TopologyError, net.ErrClosed, the context's.
func (n *Node) dialTopology(ctx context.Context, at frame.NodeAddr, record []byte, timeout time.Duration, list *poll.List) (*topologyLine, error) {
	if timeout == 0 {
		timeout = engine.DefaultConnTimeout
	}
	l := &topologyLine{n: n, at: at, wait: list}
	to := frame.Service{Type: naming.TopologyType, Instance: 1, Node: at}
	return l, l.dial(ctx, timeout, func(now time.Duration, c engine.ConnConfig) (*engine.Conn, error) {
		return n.eng.DialService(now, c, to, record)
	})
}

// dial makes the connection; without one the line is closed. Errors as of dialTopology.
func (l *topologyLine) dial(ctx context.Context, timeout time.Duration, how func(time.Duration, engine.ConnConfig) (*engine.Conn, error)) error {
	n := l.n
	if err := n.running(); err != nil {
		l.closed = true
		return err
	}
	n.lines[l] = struct{}{}
	limit := n.loop.Now() + timeout
	by := time.Now().Add(timeout)
	err := l.send(ctx, by, func(now time.Duration) (err error) {
		l.c, err = how(now, engine.ConnConfig{Timeout: max(1, limit-now), ReceiveLimit: engine.MinConnReceiveLimit, Owner: l})
		return err
	})
	if err == nil { // it ends by itself when the time is over
		err = l.await(ctx, time.Time{}, func(*poll.Wait) bool { return l.c.State() != engine.Connecting })
	}
	if err == nil && l.c.Pending() == 0 {
		err = l.ended()
	}
	if err == os.ErrDeadlineExceeded {
		err = l.silent(timeout)
	}
	if err != nil {
		l.close()
	}
	return err
}

// silent is the error of a node that has not answered for so long, or taken what was asked.
func (l *topologyLine) silent(waited time.Duration) error {
	return &socket.TopologyError{Node: l.at, Reason: fmt.Sprintf("no answer within %v", waited), Err: os.ErrDeadlineExceeded}
}

// write sends one more record. Errors: those of ended, of await.
func (l *topologyLine) write(ctx context.Context, by time.Time, record []byte) error {
	err := l.send(ctx, by, func(now time.Duration) error { return l.c.Write(now, record) })
	if err != nil {
		if why := l.ended(); why != nil {
			return why
		}
	}
	return err
}

// send tries to send until it is not for want of room that it fails.
func (l *topologyLine) send(ctx context.Context, by time.Time, try func(now time.Duration) error) error {
	n := l.n
	var failed error
	err := l.await(ctx, by, func(c *poll.Wait) bool {
		if c.Waiter == nil {
			c.Waiter = n.loop.NewWaiter() // it has a place in line
		}
		now, w := n.loop.Now(), writeOf(c.Waiter)
		failed = n.attempt(w, now, func() error { return try(now) })
		if !blocks(failed) && !isFull(failed) {
			return true
		}
		if w.ticket.Invited() {
			c.TryAgain()
		}
		return false
	})
	if err != nil {
		return err
	}
	n.pollOnce(n.loop.Now(), false)
	return failed
}

// await is Node.await for the line's owner. Errors: net.ErrClosed when the line, or the
// node, is closed before; os.ErrDeadlineExceeded (a zero by is none), *SilentError when ctx
// is done.
func (l *topologyLine) await(ctx context.Context, by time.Time, try func(*poll.Wait) bool) error {
	n := l.n
	began := n.loop.Now()
	c := poll.Wait{List: l.wait, Closed: &l.closed, By: &by, Ctx: ctx}
	defer func() {
		if c.Waiter != nil {
			n.quit(writeOf(c.Waiter))
		}
		n.loop.Leave(&c)
	}()
	err := n.loop.Await(&c, func() bool { return try(&c) })
	if err != nil && err != net.ErrClosed && err != os.ErrDeadlineExceeded {
		return &socket.SilentError{Node: l.at, Link: n.eng.LinkName(l.at), Waited: n.loop.Now() - began, Err: err}
	}
	return err
}

// moved is called by a poll after which there is more to read, room, or another state.
func (l *topologyLine) moved() {
	if l.c == nil || l.c.State() != engine.Established {
		l.n.loop.RouseAll(*l.wait)
	} else {
		l.n.loop.RouseFirst(*l.wait)
	}
}

// read takes a message, of which b may hold too little, as size tells.
func (l *topologyLine) read(b []byte) (size int, ok bool) {
	n := l.n
	_, size, ok = l.c.Read(n.loop.Now(), b)
	if ok && (n.eng.Output() || n.eng.Holding()) {
		n.pollOnce(n.loop.Now(), false) // the peer waits to hear that there is room
	}
	return size, ok
}

// ended is why nothing more will come, or nil.
func (l *topologyLine) ended() error {
	switch {
	case l.closed:
		return net.ErrClosed
	case l.c == nil || l.c.State() != engine.Ended:
		return nil
	}
	why := l.c.Err().(*engine.ConnError)
	e := &socket.TopologyError{Node: l.at, Reason: why.Why.String(), Err: meaning(why.Why)}
	if why.Code != frame.OK && why.Why != engine.EndShutdown {
		e.Reason += ": " + why.Code.String()
	}
	return e
}

// close ends the connection, and all that wait for it. Closing twice is harmless.
func (l *topologyLine) close() {
	if l.closed {
		return
	}
	n := l.n
	l.closed = true
	delete(n.lines, l)
	if l.c != nil {
		now := n.loop.Now()
		l.c.Close(now)
		n.pollOnce(now, false)
	}
	n.loop.RouseAll(*l.wait)
}
