// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
)

// defaultTimeLimit is that of a handler.
const defaultTimeLimit = 100 * time.Microsecond

// A Handler answers the messages of an active port. It runs within the turn of the
// node's engine that took the message from the network, before anybody is woken and
// while all else of the node waits: it has to be short, and of the node it may use w
// alone. A call of anything else of its node panics; to wait for a goroutine that makes
// one is to wait for ever, and nothing finds that out.
//
// w and m are valid until it returns, and m.Data is not to be changed. It must not call
// runtime.Goexit.
type Handler interface {
	ServeMessage(w *Reply, m *Message)
}

// A HandlerFunc is a function as a Handler.
type HandlerFunc func(w *Reply, m *Message)

// ServeMessage calls f.
func (f HandlerFunc) ServeMessage(w *Reply, m *Message) { f(w, m) }

// A HandlerConfig is the options of an active port; its zero value means the defaults.
// Of the socket's options Importance, Scope and ReceiveLimit count.
type HandlerConfig struct {
	SocketConfig

	// TimeLimit is how long a call of the handler may take; 0: 100 µs. A longer one is
	// counted, and logged, at most once a second. See ActivePort on those that are too long
	// too often.
	TimeLimit time.Duration
}

// Handle makes an active port with default options; see HandlerConfig.Handle.
func (n *Node) Handle(ctx context.Context, svc net.Addr, h Handler) (*ActivePort, error) {
	return HandlerConfig{}.Handle(ctx, n, svc, h)
}

// Handle makes an active port and binds it to svc, a Service or a Range, or to nothing if
// svc is nil. Calls of h may begin before it returns. Errors, inside *net.OpError, as
// for SocketConfig.ListenPacket.
func (c HandlerConfig) Handle(ctx context.Context, n *Node, svc net.Addr, h Handler) (*ActivePort, error) {
	a, err := c.open(ctx, n, svc, h)
	if err != nil {
		return nil, backend.OpError("handle", "tipcrdm", nil, svc, err)
	}
	return a, nil
}

func (c HandlerConfig) open(ctx context.Context, n *Node, svc net.Addr, h Handler) (*ActivePort, error) {
	switch {
	case h == nil:
		return nil, fmt.Errorf("%w: no handler", ErrConfig)
	case c.TimeLimit < 0:
		return nil, fmt.Errorf("%w: a time limit of %v", ErrConfig, c.TimeLimit)
	}
	if c.TimeLimit == 0 {
		c.TimeLimit = defaultTimeLimit
	}
	var r Range
	if svc != nil {
		var err error
		if r, err = backend.Bindable(svc); err != nil {
			return nil, err
		}
	}
	c.ManualAck = false
	c.Returnable = false // an answer that comes back is nobody's request
	pc, err := c.listen(ctx, n, "tipcrdm", nil)
	if err != nil {
		return nil, err
	}
	a := &ActivePort{}
	a.reply.a = a
	a.p.Init(c.TimeLimit, func() { h.ServeMessage(&a.reply, &a.p.In) })
	if err := pc.b.Serve(ctx, &a.p, r, svc != nil); err != nil {
		return nil, err
	}
	return a, nil
}

// A Reply is the way from a Handler to whoever sent the message. It never waits, but on an
// attached node, whose handlers have goroutines of their own. It is the port's own: void after
// the handler has returned, and not for other goroutines.
type Reply struct{ a *ActivePort }

// Send sends b, which is copied, to the socket the message came from; from there it is a
// message of the active port. It may be called any number of times. On an attached node it
// waits for room between program and daemon until the port is closed, and what the daemon
// cannot send is lost, with SyncErrors too. Errors, of which each is counted: ErrNoRoom where a
// node of Open would have to wait, ErrUnreachable, ErrTooLong, ErrEmpty, net.ErrClosed after the
// handler has returned.
func (w *Reply) Send(b []byte) error {
	a := w.a
	if !a.p.Open {
		return net.ErrClosed
	}
	err := ErrEmpty
	if len(b) > 0 {
		err = a.p.B.Reply(a.p.To, b)
	}
	if err == nil {
		a.replies.Add(1)
		return nil
	}
	a.refused.Add(1)
	return err
}
