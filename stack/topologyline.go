// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// A TopologyError is why the topology service of another node tells nothing, or no
// more. It unwraps to
//
//	ErrUnreachable          contact with the node is lost
//	syscall.ECONNREFUSED    the node has no topology service
//	os.ErrDeadlineExceeded  the node did not answer
//	io.EOF                  the service has closed: it was asked what it does not take, or was told to wait for too long
//	syscall.ECONNRESET      the service broke the connection off
//	ErrTopology             the service broke the protocol
type TopologyError struct {
	Node   NodeAddr
	Reason string
	Err    error
}

// ErrTopology means a topology service that said what is no answer.
var ErrTopology = naming.ErrEvent

func (e *TopologyError) Error() string {
	return fmt.Sprintf("topology service of %v: %s", e.Node, e.Reason)
}

// Unwrap returns what the error means.
func (e *TopologyError) Unwrap() error { return e.Err }

// Timeout reports whether the node did not answer.
func (e *TopologyError) Timeout() bool { return errors.Is(e.Err, os.ErrDeadlineExceeded) }

// Temporary is as Timeout.
func (e *TopologyError) Temporary() bool { return e.Timeout() }

// A topologyLine is a connection to the topology service of another node. The lap lock
// guards it, and all of its methods are called with that held.
type topologyLine struct {
	n      *Node
	at     NodeAddr
	c      *engine.Conn
	wait   *waitList // its owner's calls
	closed bool
}

// dialTopology connects to the topology service of a node; the request has a record
// with it. It waits for the answer, so long (0: 8 seconds). Errors: ErrUnreachable,
// *TopologyError, net.ErrClosed, the context's.
func (n *Node) dialTopology(ctx context.Context, at NodeAddr, record []byte, timeout time.Duration, wait *waitList) (*topologyLine, error) {
	l := &topologyLine{n: n, at: at, wait: wait}
	to := frame.Service{Type: naming.TopologyType, Instance: 1, Node: at}
	return l, l.dial(ctx, func(now time.Duration, c engine.ConnConfig) (*engine.Conn, error) {
		c.Timeout = timeout
		return n.eng.DialService(now, c, to, record)
	})
}

// dial makes the connection; without one the line is closed. Errors as of dialTopology.
func (l *topologyLine) dial(ctx context.Context, how func(time.Duration, engine.ConnConfig) (*engine.Conn, error)) error {
	n := l.n
	if err := n.running(); err != nil {
		l.closed = true
		return err
	}
	n.lines[l] = struct{}{}
	err := l.send(ctx, func(now time.Duration) (err error) {
		l.c, err = how(now, engine.ConnConfig{ReceiveLimit: engine.MinConnReceiveLimit, Owner: l})
		return err
	})
	if err == nil {
		err = l.await(ctx, time.Time{}, func(*waiter) bool { return l.c.State() != engine.Connecting })
	}
	if err == nil && l.c.Pending() == 0 {
		err = l.ended()
	}
	if err != nil {
		l.close()
	}
	return err
}

// write sends one more record. Errors: those of ended, the context's.
func (l *topologyLine) write(ctx context.Context, record []byte) error {
	err := l.send(ctx, func(now time.Duration) error { return l.c.Write(now, record) })
	if err != nil {
		if why := l.ended(); why != nil {
			return why
		}
	}
	return err
}

// send tries to send until it is not for want of room that it fails.
func (l *topologyLine) send(ctx context.Context, try func(now time.Duration) error) error {
	n := l.n
	var failed error
	err := l.await(ctx, time.Time{}, func(w *waiter) bool {
		now := n.now()
		n.latest = now
		w.ticket.Owner = w
		n.eng.SendAs(&w.ticket)
		failed = try(now)
		n.eng.SendAs(nil)
		return failed != engine.ErrMemory && !errors.Is(failed, engine.ErrWindow) && !errors.Is(failed, flowctl.ErrCongested)
	})
	if err != nil {
		return err
	}
	n.lap(n.now(), false)
	return failed
}

// await waits until done. Errors: net.ErrClosed when the line, or the node, is closed
// before; os.ErrDeadlineExceeded (a zero by is none), *SilentError when ctx is done.
func (l *topologyLine) await(ctx context.Context, by time.Time, done func(w *waiter) bool) error {
	n := l.n
	began := n.now()
	w := n.begin(l.wait)
	defer n.end(l.wait, w)
	defer n.rouseWhen(ctx, l.wait)()
	defer func() {
		n.eng.Quit(n.latest, &w.ticket)
		n.callWriters()
	}()
	for {
		switch err := ctx.Err(); {
		case l.closed:
			return net.ErrClosed
		case err != nil:
			return &SilentError{l.at, n.eng.LinkName(l.at), n.now() - began, err}
		case done(w):
			return nil
		case past(by):
			return os.ErrDeadlineExceeded
		}
		if n.callWriters(); !w.ticket.Invited() {
			n.block(w, by)
		}
	}
}

// moved is called by a lap after which there is more to read, room, or another state.
func (l *topologyLine) moved() {
	if l.c == nil || l.c.State() != engine.Established {
		l.n.rouseAll(*l.wait)
	} else {
		l.n.rouseFirst(*l.wait)
	}
}

// read takes a message, of which b may hold too little, as size tells.
func (l *topologyLine) read(b []byte) (size int, ok bool) {
	n := l.n
	_, size, ok = l.c.Read(n.now(), b)
	if ok && (n.eng.Output() || n.eng.Holding()) {
		n.lap(n.now(), false) // the peer waits to hear that there is room
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
	e := &TopologyError{Node: l.at, Reason: why.Why.String(), Err: meaning(why.Why)}
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
		now := n.now()
		l.c.Close(now)
		n.lap(now, false)
	}
	n.rouseAll(*l.wait)
}
