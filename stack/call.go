// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// maxIdleCallers is how many sockets of calls are kept for the next ones.
const maxIdleCallers = 64

// A caller is a socket of one call at a time.
type caller struct {
	*localPacket
	done  <-chan struct{} // of the context that it watches, or nil
	stop  func() bool     // ends that
	spent bool            // answers may come still: it is not used again
}

// A CallError is why a call ended without an answer.
type CallError struct {
	To     net.Addr
	Waited time.Duration // since the request was sent
	Err    error         // of the context, net.ErrClosed, or ErrUnreachable, see Call
}

func (e *CallError) Error() string {
	return fmt.Sprintf("no answer from %v for %v: %v", e.To, e.Waited.Round(time.Microsecond), e.Err)
}

// Unwrap returns why the call did not wait longer.
func (e *CallError) Unwrap() error { return e.Err }

// Timeout reports whether that was a deadline.
func (e *CallError) Timeout() bool { return e.Err == context.DeadlineExceeded }

// Call sends req to addr, a Service, a Range or a SocketAddr, waits for the answer and
// copies it into resp; k is how much of that is filled, from the socket that answered.
// The way from the request to the answer is as short as there is: one turn of the lock,
// and one kick.
//
// The answer to a call of a socket is the first message of that socket, to a call of a
// service or a range the first of anybody. Each call has a socket to itself. That of a
// call that got no answer, or of one of a range, is closed, so that what is late is never
// taken for the answer to another call; who answers one request twice, later than at
// once, may be.
//
// A request that nobody takes comes back: then the error is a *RejectError. When the socket
// that took it closes without an answer, as that of a program does that ends, or contact with
// its node is lost, the error is a *CallError with ErrUnreachable: what was asked for may have
// been done. What tells of that is that the socket's names are withdrawn; a socket without a
// name on another node, or of a Service with a Node other than this one, is waited for as long
// as there is contact. One that takes its name back may answer still. Requests to a range are
// waited for until ctx is done. While others have the service as well the call ends a second
// later, as one of them may have the request.
//
// The errors, inside *net.OpError, are these; *CallError when ctx is done; io.ErrShortBuffer when resp
// was too short, what does not fit is lost; ErrEmpty of an empty request; and those of
// PacketConn.WriteTo.
//
// A context that was used for the last call too costs no allocation.
func (n *Node) Call(ctx context.Context, addr net.Addr, req, resp []byte) (k int, from SocketAddr, err error) {
	d, err := destOf(addr)
	if err == nil && len(req) == 0 {
		err = ErrEmpty
	}
	if err == nil {
		k, from, err = n.call(ctx, d, addr, req, resp)
	}
	if err != nil {
		return k, from, opError("call", "tipcrdm", nil, addr, err)
	}
	return k, from, nil
}

func (n *Node) call(ctx context.Context, d dest, addr net.Addr, req, resp []byte) (int, SocketAddr, error) {
	if n.far != nil {
		return n.far.ask(ctx, d, addr, req, resp)
	}
	deadline, _ := ctx.Deadline()
	n.mu.Lock()
	defer n.unlock()
	c, err := n.takeCaller(ctx)
	if err != nil {
		return 0, SocketAddr{}, err
	}
	defer n.giveCaller(c)
	c.spent = true // unless the one answer comes
	if err := ctx.Err(); err != nil {
		return 0, SocketAddr{}, &CallError{addr, 0, err}
	}
	c.readBy, c.writeBy = deadline, deadline
	began := n.now()
	if err := n.request(ctx, c, d, req, began); err != nil {
		return 0, SocketAddr{}, err
	}
	w := wait{list: &c.readers, closed: &c.closed, by: &c.readBy, ctx: ctx, heeded: true}
	defer n.leave(&w)
	var k int
	var from SocketAddr
	over := n.await(&w, func() (done bool) {
		k, from, done, err = c.answer(d, resp)
		return done
	})
	if over == os.ErrDeadlineExceeded {
		over = context.DeadlineExceeded
	}
	if err == errNoCallee {
		over = ErrUnreachable
	}
	if over != nil {
		return 0, SocketAddr{}, &CallError{addr, n.now() - began, over}
	}
	return k, from, err
}

// answer takes the answer to a call out of the messages that wait, if it is there.
func (c *caller) answer(d dest, resp []byte) (k int, from SocketAddr, done bool, err error) {
	for c.port.Pending() > 0 {
		k, r, _ := c.port.Read(resp)
		r.From.Net = c.network
		switch {
		case r.Error != frame.OK:
			m := c.message(&r, k)
			return k, r.From, true, m.unanswered(k)
		case d.kind == toSocket && !isFrom(r.From, d.socket(), c.local):
			continue
		}
		c.spent = d.kind == toRange || c.port.Pending() > 0
		if k < r.Len {
			err = io.ErrShortBuffer
		}
		return k, r.From, true, err
	}
	return 0, SocketAddr{}, false, nil
}

// errNoCallee means that the socket which took a request is gone.
var errNoCallee = errors.New("stack: nobody is there to answer")

// unanswered is the error of a request that came back, or that has ended: what comes back
// has data, of which k bytes were read.
func (m *Message) unanswered(k int) error {
	if k == 0 && !m.Truncated {
		return errNoCallee
	}
	return m.reject()
}

// isFrom reports whether a message came from the socket that was called.
func isFrom(from, called, own SocketAddr) bool {
	if called.Node == 0 {
		called.Node = own.Node
	}
	return from.Port == called.Port && from.Node == called.Node
}

// request sends a call's request at once, with what waits for others.
func (n *Node) request(ctx context.Context, c *caller, d dest, req []byte, now time.Duration) error {
	n.latest = now
	n.eng.Hold(false)
	err := n.send(now, c.localPacket, d, req)
	if err == nil {
		n.turn(now, false, true)
		return nil
	}
	if !c.waits(d, err) {
		return err
	}
	w := n.beginWrite(ctx, c.localPacket, d, len(req))
	w.heeded = true
	defer n.endWrite(c.localPacket, &w)
	return n.persist(&w, c.localPacket, req, err)
}

// takeCaller returns a socket for a call.
func (n *Node) takeCaller(ctx context.Context) (*caller, error) {
	done := ctx.Done()
	if last := len(n.callers) - 1; last >= 0 {
		c := n.callers[last]
		n.callers[last] = nil
		n.callers = n.callers[:last]
		if c.port.Pending() > 0 { // somebody answered twice
			n.dismiss(c)
			return n.takeCaller(ctx)
		}
		if c.done != done {
			c.unwatch()
			c.watch(ctx)
		}
		return c, nil
	}
	if err := n.running(); err != nil {
		return nil, err
	}
	p := &localPacket{writeHalf: writeHalf{n: n, network: "tipcrdm", nameWait: SocketConfig{}.patience(n.cfg)}}
	p.port = n.eng.OpenPort(engine.PortConfig{Returnable: true, Requests: true, Owner: p})
	if p.port == nil {
		return nil, ErrTooManySockets
	}
	p.local = p.port.Addr()
	p.local.Net = p.network
	n.sockets[p] = struct{}{}
	c := &caller{localPacket: p}
	c.watch(ctx)
	return c, nil
}

// watch makes the call look when ctx is done.
func (c *caller) watch(ctx context.Context) {
	if c.done = ctx.Done(); c.done == nil {
		return
	}
	n := c.n
	c.stop = context.AfterFunc(ctx, func() {
		n.mu.Lock()
		n.rouseAll(c.readers)
		n.rouseAll(c.writing)
		n.unlock()
	})
}

func (c *caller) unwatch() {
	if c.stop != nil {
		c.stop()
	}
	c.done, c.stop = nil, nil
}

// giveCaller keeps the socket of a call that is over for another, unless a message may
// come for the old one.
func (n *Node) giveCaller(c *caller) {
	if c.spent || c.closed || len(n.callers) >= maxIdleCallers {
		n.dismiss(c)
		n.lap(n.now(), false) // what it says to those who wrote to it
		return
	}
	n.callers = append(n.callers, c)
}

// dismissCallers closes the sockets of all calls that are over, with the node.
func (n *Node) dismissCallers() {
	for _, c := range n.callers {
		n.dismiss(c)
	}
	n.callers = nil
}

// dismiss closes the socket of a call.
func (n *Node) dismiss(c *caller) {
	c.unwatch()
	if !c.closed {
		c.shut()
	}
}
