// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// deadNames is how many names the node has that dies.
const deadNames = 100

// promise is how long after a node fell silent its names may be known.
const promise = flowctl.DefaultTolerance + 2*(flowctl.DefaultTolerance/4) + time.Second

// deadRows measure how long the others know the names of a node that fell silent.
func deadRows(ctx context.Context, p Plan, driver xdp.Config) []Row {
	r := Row{ID: "dead", What: "from silence until no node has a name of the dead, the worst", Unit: "ms", Goal: sheet.AtMost, Target: float64(promise) / 1e6}
	took, err := deaths(ctx, p.Deaths, driver)
	if err != nil {
		r.Error = err.Error()
		return []Row{r}
	}
	slices.Sort(took)
	r.Value = float64(took[len(took)-1]) / 1e6
	r.Notes = fmt.Sprintf("%d deaths of a node with %d names, the quickest %.1f ms; the target is tolerance, two intervals and a second",
		len(took), deadNames, float64(took[0])/1e6)
	return []Row{r}
}

func deaths(ctx context.Context, n int, driver xdp.Config) (took []time.Duration, err error) {
	s, err := openSegment(ctx, driver)
	if err != nil {
		return nil, err
	}
	defer s.close()
	const last = members - 1
	c, err := s.nodes[last].ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for i := range deadNames {
		if err := c.Bind(stack.Service{Type: typ, Instance: uint32(i)}); err != nil {
			return nil, err
		}
	}
	for range n {
		d, err := s.die(ctx, last)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

// die cuts node i off, and returns how long after that the last of the others forgot its
// names; then it is back.
func (s *segment) die(ctx context.Context, i int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*meeting)
	defer cancel()
	var subs []*stack.Subscription
	for k, n := range s.nodes {
		if k == i {
			continue
		}
		sub, err := n.Subscribe(ctx, stack.Range{Type: typ, Upper: 1<<32 - 1})
		if err != nil {
			return 0, err
		}
		defer sub.Close()
		subs = append(subs, sub)
	}
	if _, err := count(ctx, subs, false); err != nil {
		return 0, fmt.Errorf("names that all know: %w", err)
	}
	begin := time.Now()
	if err := s.bed.Plug(i, false); err != nil {
		return 0, err
	}
	if err := s.suspect(i, flowctl.DefaultTolerance); err != nil {
		return 0, err
	}
	end, err := count(ctx, subs, true)
	if err != nil {
		return 0, fmt.Errorf("names of the dead: %w", err)
	}
	for k, n := range s.nodes {
		for _, b := range must.Get(n.Admin().Names(context.Background())) {
			if k != i && b.Socket.Node == address(i) {
				return 0, fmt.Errorf("%v still has %v", n.Addr(), b)
			}
		}
	}
	if err := s.suspect(i, tolerance); err != nil {
		return 0, err
	}
	if err := s.bed.Plug(i, true); err != nil {
		return 0, err
	}
	if _, err := count(ctx, subs, false); err != nil {
		return 0, fmt.Errorf("names of who came back: %w", err)
	}
	return end.Sub(begin), nil
}

// count waits until each subscriber was told of all names, or that all were withdrawn, and
// returns when the last was.
func count(ctx context.Context, subs []*stack.Subscription, withdrawn bool) (last time.Time, err error) {
	type end struct {
		at  time.Time
		err error
	}
	ends := make(chan end, len(subs))
	for _, sub := range subs {
		go func() {
			for n := range deadNames {
				ev, err := sub.Next(ctx)
				if err == nil && ev.Withdrawn != withdrawn {
					err = fmt.Errorf("%v", ev)
				}
				if err != nil {
					ends <- end{err: fmt.Errorf("after %d of %d: %w", n, deadNames, err)}
					return
				}
			}
			ends <- end{at: time.Now()}
		}()
	}
	for range subs {
		x := <-ends
		if x.err != nil {
			err = x.err
		}
		if x.at.After(last) {
			last = x.at
		}
	}
	return last, err
}
