// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A caller is a socket of one call at a time.
type caller struct {
	*Packet
	done  <-chan struct{} // of the context that it watches, or nil
	stop  func() bool     // ends that
	spent bool            // answers may come still: it is not used again
}

// Call implements backend.Node.
func (n *Node) Call(ctx context.Context, o backend.CallOptions, d backend.Dest, addr net.Addr, req, resp []byte) (int, frame.SocketAddr, error) {
	deadline, _ := ctx.Deadline()
	n.loop.Lock()
	defer n.loop.Unlock()
	c, err := n.takeCaller(ctx)
	if err != nil {
		return 0, frame.SocketAddr{}, err
	}
	defer n.giveCaller(c)
	c.spent = true // unless the one answer comes
	if err := ctx.Err(); err != nil {
		return 0, frame.SocketAddr{}, &socket.CallError{To: addr, Waited: 0, Err: err}
	}
	c.readBy, c.writeBy = deadline, deadline
	c.port.PreferIdle = o.PreferIdle
	began := n.loop.Now()
	if err := n.request(ctx, c, d, req, began); err != nil {
		return 0, frame.SocketAddr{}, overdue(err, addr, n.loop.Now()-began)
	}
	w := poll.Wait{List: &c.readers, Closed: &c.closed, By: &c.readBy, Ctx: ctx, Heeded: true}
	defer n.loop.Leave(&w)
	var k int
	var from frame.SocketAddr
	over := n.loop.Await(&w, func() (done bool) {
		k, from, done, err = c.answer(d, resp)
		return done
	})
	if over == os.ErrDeadlineExceeded {
		over = context.DeadlineExceeded
	}
	callee := c.port.Callee()
	if err == backend.ErrNoCallee {
		over, callee = engine.ErrUnreachable, from
	}
	if over != nil {
		return 0, frame.SocketAddr{}, &socket.CallError{To: addr, Callee: callee, Waited: n.loop.Now() - began, Err: over}
	}
	return k, from, err
}

// overdue is the error of a request, with the context's word for a deadline that is over: the
// write may have found that before the context did.
func overdue(err error, addr net.Addr, waited time.Duration) error {
	var blocked *socket.BlockedError
	switch {
	case err == os.ErrDeadlineExceeded:
		return &socket.CallError{To: addr, Waited: waited, Err: context.DeadlineExceeded}
	case errors.As(err, &blocked) && blocked.Cause == nil:
		blocked.Cause = context.DeadlineExceeded
	}
	return err
}

// request sends a call's request at once, with what waits for others.
func (n *Node) request(ctx context.Context, c *caller, d backend.Dest, req []byte, now time.Duration) error {
	n.latest = now
	n.eng.Hold(false)
	err := n.send(now, c.Packet, d, req)
	if err == nil {
		n.poll(now, false, true)
		return nil
	}
	if !c.waits(d, err) {
		return err
	}
	wait, w := n.beginWrite(ctx, c.Packet, d, len(req))
	wait.Heeded = true
	defer n.endWrite(c.Packet, &wait, w)
	return n.persist(&wait, w, c.Packet, req, err)
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
	p := &Packet{writeHalf: writeHalf{n: n, network: "tipcrdm", nameWait: n.nameWait(0)}}
	p.port = n.eng.OpenPort(engine.PortConfig{Returnable: true, Requests: true, Owner: p})
	if p.port == nil {
		return nil, engine.ErrSockets
	}
	p.local = p.port.Addr()
	n.sockets[p] = struct{}{}
	c := &caller{Packet: p}
	c.watch(ctx)
	return c, nil
}

// giveCaller keeps the socket of a call that is over for another, unless a message may
// come for the old one.
func (n *Node) giveCaller(c *caller) {
	if c.spent || c.closed || len(n.callers) >= backend.MaxIdleCallers {
		n.dismiss(c)
		n.pollOnce(n.loop.Now(), false) // what it says to those who wrote to it
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

// answer takes the answer to a call out of the messages that wait, if it is there.
func (c *caller) answer(d backend.Dest, resp []byte) (k int, from frame.SocketAddr, done bool, err error) {
	for c.port.Pending() > 0 {
		k, r, _ := c.port.Read(resp)
		switch {
		case r.Error != frame.OK:
			m := c.message(&r, k)
			return k, r.From, true, m.Unanswered(k)
		case d.Kind == backend.ToSocket && !backend.IsFrom(r.From, d.Socket(), c.local):
			continue
		}
		c.spent = d.Kind == backend.ToRange || c.port.Pending() > 0
		if k < r.Len {
			err = io.ErrShortBuffer
		}
		return k, r.From, true, err
	}
	return 0, frame.SocketAddr{}, false, nil
}

// watch makes the call look when ctx is done.
func (c *caller) watch(ctx context.Context) {
	if c.done = ctx.Done(); c.done == nil {
		return
	}
	n := c.n
	c.stop = context.AfterFunc(ctx, func() {
		n.loop.Lock()
		n.loop.RouseAll(c.readers)
		n.loop.RouseAll(c.writing)
		n.loop.Unlock()
	})
}

func (c *caller) unwatch() {
	if c.stop != nil {
		c.stop()
	}
	c.done, c.stop = nil, nil
}
