// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// A Pair is two subjects of a Take that are compared, like with like: both spin, or both
// sleep; by their names.
type Pair struct{ Ours, Theirs string }

// A Contest is what pairs are compared by.
type Contest struct {
	Section string
	What    string // latency, throughput: the beginning of a loss
	Value   Value
	Less    bool // is better
	Unit    figure.Unit
	Pairs   []Pair
	// Reason says why theirs is better at an Exchange, and what would change it.
	Reason func(p Pair, x station.Exchange) string
}

// Ratios are the normalised curves: how many times as good ours is, by pair. Where that is
// below 1 it is a loss, which b keeps.
func (b *Bench) Ratios(t *Take, c Contest, which Which, where string) (all []figure.Series) {
	for _, p := range c.Pairs {
		s := figure.Series{Name: p.Ours + " : " + p.Theirs, Ours: true}
		var run []loss
		for i, x := range t.Exchanges {
			at, ok := which(x)
			if !ok {
				continue
			}
			v := t.ratios(p, i, c.Value, c.Less)
			if len(v) == 0 {
				continue
			}
			point := figure.PointOf(at, v)
			s.Points = append(s.Points, point)
			l := loss{
				x: at, times: 1 / point.Y, sure: point.High < 1,
				ours: sheet.Median(t.Values(p.Ours, i, c.Value)), theirs: sheet.Median(t.Values(p.Theirs, i, c.Value)), reason: c.Reason(p, x),
			}
			if point.Y < 1 {
				if len(run) > 0 && run[0].reason != l.reason {
					b.lose(c, p, where, run)
					run = nil
				}
				run = append(run, l)
				continue
			}
			b.lose(c, p, where, run)
			run = nil
		}
		b.lose(c, p, where, run)
		if len(s.Points) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// A loss is a cell in which theirs is better.
type loss struct {
	x            float64
	ours, theirs float64
	times        float64
	sure         bool // in every round
	reason       string
}

// lose keeps a run of neighbouring cells as one loss: the worst of them, and how far it
// reaches.
func (b *Bench) lose(c Contest, p Pair, where string, run []loss) {
	if len(run) == 0 {
		return
	}
	worst, sure := run[0], false
	for _, l := range run {
		sure = sure || l.sure
		if l.times > worst.times {
			worst = l
		}
	}
	span := figure.Bytes.Text(run[0].x)
	if last := run[len(run)-1].x; last != run[0].x {
		span += " to " + figure.Bytes.Text(last) + ", the worst at " + figure.Bytes.Text(worst.x)
	}
	if !sure {
		span += "; not in every round"
	}
	b.Losses = append(b.Losses, figure.Loss{
		Section: c.Section, Where: fmt.Sprintf("%s, %s, %s", c.What, where, span),
		Ours:   p.Ours + ": " + c.Unit.Text(worst.ours),
		Theirs: p.Theirs + ": " + c.Unit.Text(worst.theirs),
		Times:  worst.times, Reason: worst.reason,
	})
}
