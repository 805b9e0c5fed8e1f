// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// Dial implements backend.Node.
func (n *Node) Dial(ctx context.Context, c backend.SocketOptions, network string, stream bool, _ net.Addr, d backend.Dest, first []byte) (backend.Conn, error) {
	began := n.loop.Now()
	limit := cmp.Or(c.DialTimeout, engine.DefaultConnTimeout)
	s := &Conn{writeHalf: writeHalf{n: n, network: network, nameWait: n.nameWait(c.NameWait), inTurn: true}, stream: stream, dialing: true}
	s.writeBy = time.Now().Add(limit)
	from := hosting.OriginOf(ctx)
	s.cfg = &dialConfig{limit, from, engine.ConnConfig{
		Importance: c.Importance, Stream: stream, ReceiveLimit: c.ReceiveLimit, NoDelay: c.NoDelay, AnyKind: hosting.IsAnyKind(ctx), Account: hosting.AccountOf(ctx).Engine(), Owner: s,
	}}
	if err := n.enroll(s); err != nil {
		return nil, err
	}
	err := n.submit(s, d, first)
	if err != nil {
		err = n.retry(ctx, s, d, first, err)
	}
	if err == nil {
		if from != nil {
			from.Begun()
		}
		err = s.answer(ctx, began)
	}
	if err != nil {
		s.Abort()
		return nil, err
	}
	return s, nil
}

// enroll makes a Conn known to its node. Errors: net.ErrClosed.
func (n *Node) enroll(s *Conn) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return err
	}
	s.local.Node = n.eng.Address()
	n.addSocket(s, "connection")
	return nil
}

// A dialConfig is what Dial asks for. Until it has it, its limit is the socket's write
// deadline.
type dialConfig struct {
	limit time.Duration   // of all of Dial, but for the time in which nobody has bound the name
	from  *hosting.Origin // whose number the connection takes, or nil
	engine.ConnConfig
}

// request asks for the connection, which has what is left of the time. The node's lock is held.
func (c *Conn) request(now time.Duration, d backend.Dest, first []byte) (err error) {
	if c.writeBy.IsZero() { // the name has appeared, perhaps
		c.writeBy = time.Now().Add(c.cfg.limit)
	}
	c.cfg.Timeout = max(1, time.Until(c.writeBy))
	var idle *Listener
	var from *engine.Listener
	if c.cfg.from != nil {
		idle = c.cfg.from.Listener.(*Listener)
		from = idle.l
	}
	if d.Kind == backend.ToService {
		c.c, err = c.n.eng.DialServiceFrom(now, from, c.cfg.ConnConfig, d.Service(), first)
	} else {
		c.c, err = c.n.eng.DialFrom(now, from, c.cfg.ConnConfig, d.Socket(), first)
	}
	switch {
	case err == nil:
		if idle != nil && !idle.closed {
			idle.shut()
		}
		c.local = c.c.Addr()
	case c.awaits(d, err): // so long as NameWait says
		c.writeBy = time.Time{}
	}
	return err
}

// answer waits until the peer has answered, or the engine's own time for that is over.
// Errors: *ConnError, net.ErrClosed.
func (c *Conn) answer(ctx context.Context, began time.Duration) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	w := poll.Wait{List: &c.readers, Closed: &c.closed, Ctx: ctx}
	over := n.loop.Await(&w, func() bool { return c.c.State() != engine.Connecting })
	n.loop.Leave(&w)
	waited := (n.loop.Now() - began).Round(time.Microsecond)
	switch {
	case over == net.ErrClosed:
		return over
	case over != nil && c.c.State() == engine.Connecting:
		return &socket.ConnError{Peer: c.c.Peer(), Reason: fmt.Sprintf("no answer for %v", waited), Err: over}
	}
	if end, ok := c.c.Err().(*engine.ConnError); ok && end.Why.NoAnswer() {
		err := connError(end, true).(*socket.ConnError)
		switch end.Why {
		case engine.EndTimeout:
			err.Reason = fmt.Sprintf("no answer for %v", waited)
		case engine.EndStreams, engine.EndMessages: // Err says it
			err.Reason = engine.EndRefused.String()
		}
		return err
	} // who closes as soon as he has accepted has accepted
	c.dialing, c.cfg, c.writeBy = false, nil, time.Time{}
	c.remote = c.c.Peer()
	return nil
}
