// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/xdp"
)

// A watcher is a subscriber that says when it heard of each name.
type watcher struct {
	sub   *stack.Subscription
	heard chan sighting
}

type sighting struct {
	ev stack.Event
	at time.Time
}

// watch subscribes on a node to the names of typ, of which there are none yet, in the table
// of node at; 0: its own.
func watch(ctx context.Context, n *stack.Node, at stack.NodeAddr) (*watcher, error) {
	sub, err := stack.SubscriptionConfig{At: at}.Subscribe(ctx, n, stack.Range{Type: typ, Upper: 1<<32 - 1})
	if err != nil {
		return nil, err
	}
	w := &watcher{sub, make(chan sighting, 64)}
	go func() {
		defer close(w.heard)
		for ev := range sub.Events(ctx) {
			w.heard <- sighting{ev, time.Now()}
		}
	}()
	return w, nil
}

// close ends the subscription and waits for its goroutine.
func (w *watcher) close() {
	w.sub.Close()
	for range w.heard {
	}
}

// next waits for the event of a name.
func (w *watcher) next(ctx context.Context, name stack.Service, withdrawn bool) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	select {
	case x, ok := <-w.heard:
		if !ok || x.ev.Range != name.Range() || x.ev.Withdrawn != withdrawn {
			return at, fmt.Errorf("event %v, %v, want of %v", x.ev, ok, name)
		}
		return x.at, nil
	case <-ctx.Done():
		return at, fmt.Errorf("no event of %v: %w", name, ctx.Err())
	}
}

// The subscribers that are told of a name of node 1: where they are, and whose table they
// watch.
var subscribers = []struct {
	id, what string
	node     int
	at       stack.NodeAddr
}{
	{"event-here", "from Bind until a subscriber on the same node knows", 1, 0},
	{"event-there", "from Bind until a subscriber on another node knows", 0, 0},
	{"event-asked", "from Bind until a subscriber of this node on another knows", 0, address(1)},
}

// eventRows measure how long after Bind subscribers know.
func eventRows(ctx context.Context, p Plan, driver xdp.Config) (rows []Row) {
	took, err := events(ctx, p.Names, driver)
	for i, x := range subscribers {
		rows = append(rows, spread(x.id, x.what, took[i], err)...)
	}
	return rows
}

// events binds names one after the other, and returns how long each subscriber, by its
// place in subscribers, took to know.
func events(ctx context.Context, names int, driver xdp.Config) (took [][]time.Duration, err error) {
	took = make([][]time.Duration, len(subscribers))
	s, err := openSegment(ctx, driver)
	if err != nil {
		return took, err
	}
	defer s.close()
	c, err := s.nodes[1].ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		return took, err
	}
	defer c.Close()
	var all []*watcher
	for _, x := range subscribers {
		w, err := watch(ctx, s.nodes[x.node], x.at)
		if err != nil {
			return took, fmt.Errorf("%s: %w", x.id, err)
		}
		defer w.close()
		all = append(all, w)
	}
	for i := range names {
		name := stack.Service{Type: typ, Instance: uint32(i)}
		begin := time.Now()
		if err := c.Bind(name); err != nil {
			return took, err
		}
		for k, w := range all {
			at, err := w.next(ctx, name, false)
			if err != nil {
				return took, fmt.Errorf("%s: %w", subscribers[k].id, err)
			}
			took[k] = append(took[k], at.Sub(begin))
		}
		if err := c.Unbind(name); err != nil {
			return took, err
		}
		for k, w := range all {
			if _, err := w.next(ctx, name, true); err != nil {
				return took, fmt.Errorf("%s: %w", subscribers[k].id, err)
			}
		}
	}
	return took, nil
}
