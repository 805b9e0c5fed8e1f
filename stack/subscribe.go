// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A Binding is a socket bound to a range: Range, Scope, Socket and Key.
type Binding = naming.Binding

// A SubscriptionConfig is a subscription's options; its zero value means the defaults.
type SubscriptionConfig struct {
	// At is the node whose binding table it is; zero: this one. At another node it is
	// that node's topology service, ours or a kernel's, that tells, over a connection:
	// see Subscription.
	At NodeAddr
	// Ranges tells of the first and the last binding to exactly a range, not of those
	// between: of whether there is anybody.
	Ranges bool
	// Scope tells of bindings of this scope alone; zero: of both. With Ranges a range
	// is not told of when its first binding was of the other scope.
	Scope Scope
	// Changes leaves out the bindings that exist already.
	Changes bool
	// Complete asks for an event with Event.Complete once all bindings that existed were told:
	// at once where there were none, and with Changes. What came meanwhile may be told before
	// it. Of an attached node another follows each time that it has attached again. At another
	// node it must be false.
	Complete bool
	// Timeout ends the subscription so long after it was made; zero: never.
	Timeout time.Duration
	// Limit is how many events may wait, beside the bindings that existed; zero: 4096.
	// At another node it must be zero.
	Limit int
}

// A Subscription gives the changes of the bindings that overlap a range, first
// those that exist. A subscriber that leaves more than 4096 events unread, or
// SubscriptionConfig.Limit, is cut off. It is safe for concurrent use.
//
// At another node some hundred events wait in the connection to it; from there on that
// node keeps them, a kernel without limit, one of ours at most 4096 more than the
// bindings that existed. Then it closes the connection: a *TopologyError that is io.EOF
// comes behind what was told before. The scope and the key of a binding are not told
// there; they are zero.
type Subscription struct {
	b backend.Subscription
	r Range
}

// Subscribe watches the bindings that overlap r, with default options; see
// SubscriptionConfig.Subscribe.
func (n *Node) Subscribe(ctx context.Context, r Range) (*Subscription, error) {
	return SubscriptionConfig{}.Subscribe(ctx, n, r)
}

// Subscribe watches the bindings that overlap r. Reserved types may be watched:
// AllNodes tells of nodes that come and go, AllLinks of links. Errors, inside
// *net.OpError: ErrRange, ErrConfig, ErrTooManySubscriptions beyond 65535 in a node,
// net.ErrClosed, the context's. At another node it waits, 8 seconds at most, until that
// node has answered; errors there: ErrUnreachable, *TopologyError.
func (c SubscriptionConfig) Subscribe(ctx context.Context, n *Node, r Range) (*Subscription, error) {
	s, err := c.subscribe(ctx, n, r)
	if err != nil {
		return nil, backend.OpError("subscribe", "tipc", nil, r, err)
	}
	return s, nil
}

func (c SubscriptionConfig) subscribe(ctx context.Context, n *Node, r Range) (*Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := c.filter()
	if err != nil {
		return nil, err
	}
	b, err := n.b.Subscribe(ctx, backend.SubscriptionOptions(c), r, f)
	if err != nil {
		return nil, err
	}
	return &Subscription{b, r}, nil
}

// filter is the options as the topology service knows them. Errors: ErrConfig.
func (c SubscriptionConfig) filter() (f frame.Filter, err error) {
	f = frame.FilterPorts
	if c.Ranges {
		f = frame.FilterService
	}
	switch c.Scope {
	case 0:
	case ClusterScope:
		f |= frame.FilterClusterScope
	case NodeScope:
		f |= frame.FilterNodeScope
	default:
		return 0, fmt.Errorf("%w: scope %d", ErrConfig, c.Scope)
	}
	if c.Changes {
		f |= frame.FilterNoStatus
	}
	switch {
	case c.Timeout < 0:
		return 0, fmt.Errorf("%w: a timeout of %v", ErrConfig, c.Timeout)
	case c.Limit < 0:
		return 0, fmt.Errorf("%w: a limit of %d events", ErrConfig, c.Limit)
	}
	return f, nil
}

// Next waits for the next event. A subscriber that was cut off, or whose time is
// over, gets the events that were kept, then ErrSlow or os.ErrDeadlineExceeded; at
// another node *TopologyError when that tells no more.
// Errors, inside *net.OpError: these, net.ErrClosed, the context's.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	ev, err := s.b.Next(ctx)
	if err != nil {
		return Event{}, backend.OpError("subscribe", "tipc", nil, s.r, err)
	}
	return ev, nil
}

// TryNext is Next that does not wait. Errors as for Next, and syscall.EAGAIN itself.
func (s *Subscription) TryNext() (Event, error) {
	ev, err := s.b.TryNext()
	if err != nil && err != backend.ErrAgain {
		return Event{}, backend.OpError("subscribe", "tipc", nil, s.r, err)
	}
	return ev, err
}

// Pending is the number of events that wait to be read: at first one for each binding that
// existed. Of an attached node's it is 0: they wait at the daemon.
func (s *Subscription) Pending() int { return s.b.Pending() }

// Events yields events until ctx is done or the subscription has ended; Next then
// tells why.
func (s *Subscription) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			ev, err := s.Next(ctx)
			if err != nil || !yield(ev) {
				return
			}
		}
	}
}

// Close ends the subscription and drops what waits. Closing twice is harmless.
func (s *Subscription) Close() error {
	s.b.Close()
	return nil
}
