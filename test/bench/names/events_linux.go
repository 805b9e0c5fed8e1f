// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"errors"
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

// watch subscribes on a node to the names of typ that are bound from now on.
func watch(ctx context.Context, n *stack.Node) (*watcher, error) {
	sub, err := stack.SubscriptionConfig{Changes: true}.Subscribe(ctx, n, stack.Range{Type: typ, Upper: 1<<32 - 1})
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

// eventRows measure how long after Bind subscribers know, on the same node and on another.
func eventRows(ctx context.Context, p Plan, driver xdp.Config) []Row {
	here, there, err := events(ctx, p.Names, driver)
	return append(spread("event-here", "from Bind until a subscriber on the same node knows", here, err),
		spread("event-there", "from Bind until a subscriber on another node knows", there, err)...)
}

func events(ctx context.Context, names int, driver xdp.Config) (here, there []time.Duration, err error) {
	s, err := openSegment(ctx, driver)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	c, err := s.nodes[1].ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	own, err := watch(ctx, s.nodes[1])
	if err != nil {
		return nil, nil, err
	}
	defer own.close()
	other, err := watch(ctx, s.nodes[0])
	if err != nil {
		return nil, nil, err
	}
	defer other.close()
	for i := range names {
		name := stack.Service{Type: typ, Instance: uint32(i)}
		begin := time.Now()
		if err := c.Bind(name); err != nil {
			return nil, nil, err
		}
		a, err := own.next(ctx, name, false)
		b, err2 := other.next(ctx, name, false)
		if err := errors.Join(err, err2); err != nil {
			return nil, nil, err
		}
		here, there = append(here, a.Sub(begin)), append(there, b.Sub(begin))
		if err := c.Unbind(name); err != nil {
			return nil, nil, err
		}
		_, err = own.next(ctx, name, true)
		_, err2 = other.next(ctx, name, true)
		if err := errors.Join(err, err2); err != nil {
			return nil, nil, err
		}
	}
	return here, there, nil
}
