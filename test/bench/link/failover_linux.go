// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// A parting is a way to lose one of two bearers, or the link on it.
type parting struct {
	id, name    string
	target      time.Duration // without a message
	cut, repair func(p *pair, cable int) error
}

const (
	quick    = 50 * time.Millisecond
	interval = flowctl.DefaultTolerance / 4
)

var partings = [...]parting{
	{
		"carrier", "carrier lost", quick,
		func(p *pair, i int) error { return p.plug(i, false) },
		func(p *pair, i int) error { return p.plug(i, true) },
	},
	{
		"reset", "link reset, by a new priority", quick,
		func(p *pair, i int) error {
			return p.nodes[0].Admin().SetLink(context.Background(), p.nodes[1].Addr(), p.names[0][i], stack.LinkConfig{Priority: 20})
		},
		func(*pair, int) error { return nil },
	},
	{
		"silent", "frames vanish, both ways", flowctl.DefaultTolerance + 2*interval + quick,
		func(p *pair, i int) error {
			p.lose(i, 1, 0)
			return p.tolerate(i, p.silent)
		},
		func(p *pair, i int) error {
			err := p.tolerate(i, p.tolerance)
			p.lose(i, 0, 0)
			return err
		},
	},
}

// Times of a round.
const (
	before = 300 * time.Millisecond // of traffic over both links
	after  = 300 * time.Millisecond // of traffic over what is left
	back   = time.Minute            // a link may take to come back
)

// A gap is what a round has found.
type gap struct {
	usual, cut, mended time.Duration // the longest time in which one of the streams brought nothing
	wrong              uint64
}

// failoverRows measure the longest time for which a stream brings nothing when one of two
// bearers is lost, and what becomes of the messages then and as it returns.
func failoverRows(ctx context.Context, p Plan, driver xdp.Config) (rows []Row) {
	var wrong uint64
	var errs error
	for _, x := range partings {
		r := Row{
			ID: "failover-" + x.id, What: fmt.Sprintf("failover gap, two bearers under load, %s", x.name),
			Unit: "ms", Goal: AtMost, Target: float64(x.target) / 1e6,
		}
		var cut []float64
		var usual, mended time.Duration
		for round := range p.Failovers {
			g, err := measureGap(ctx, x, round%2, driver)
			if err != nil {
				r.Error = err.Error()
				errs = errors.Join(errs, err)
				break
			}
			cut = append(cut, float64(g.cut)/1e6)
			usual, mended = max(usual, g.usual), max(mended, g.mended)
			wrong += g.wrong
		}
		if len(cut) > 0 {
			r.Value = slices.Max(cut)
			r.Notes = fmt.Sprintf("the worst of %d rounds, median %.1f ms; without any loss %.1f ms, as the link came back %.1f ms",
				len(cut), sheet.Median(cut), float64(usual)/1e6, float64(mended)/1e6)
		}
		rows = append(rows, r)
	}
	r := Row{ID: "failover-wrong", What: "messages lost, doubled or reordered in all these", Value: float64(wrong), Goal: AtMost}
	if errs != nil {
		r.Error = errs.Error()
	}
	return append(rows, r)
}

// measureGap loses a cable once and gets it back, with new nodes: a link that came and
// went lately is kept waiting.
func measureGap(ctx context.Context, x parting, cable int, driver xdp.Config) (g gap, err error) {
	p, err := openPair(ctx, config{cables: 2, mtu: 1500, driver: driver})
	if err != nil {
		return g, err
	}
	defer p.close()
	var streams []*stream
	end := func() (err error) {
		for _, s := range streams {
			wrong, err2 := s.end()
			g.wrong += wrong
			err = errors.Join(err, err2)
		}
		streams = nil
		return err
	}
	defer end()
	for parity := range 2 {
		s, err := p.stream(lossSize, parity)
		if err != nil {
			return g, err
		}
		streams = append(streams, s)
	}
	mark := func() (longest time.Duration) {
		for _, s := range streams {
			longest = max(longest, s.mark())
		}
		return longest
	}
	pause(ctx, settling)
	mark()
	pause(ctx, before)
	g.usual = mark()
	resets := p.resets()
	if err := x.cut(p, cable); err != nil {
		return g, err
	}
	if err := until(ctx, func() bool { return p.resets() >= resets+2 }); err != nil {
		return g, fmt.Errorf("%s: the link did not go down: %w", x.name, err)
	}
	pause(ctx, after)
	g.cut = mark()
	if err := x.repair(p, cable); err != nil {
		return g, err
	}
	ctx2, cancel := context.WithTimeout(ctx, back)
	defer cancel()
	if err := p.await(ctx2, 2); err != nil {
		return g, fmt.Errorf("%s: the link did not come back: %w", x.name, err)
	}
	pause(ctx, after)
	g.mended = mark()
	if err := end(); err != nil {
		return g, fmt.Errorf("%s: %w", x.name, err)
	}
	return g, ctx.Err()
}

// until waits for something that is to happen soon.
func until(ctx context.Context, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	for !cond() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause(ctx, time.Millisecond)
	}
	return nil
}
