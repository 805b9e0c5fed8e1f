// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/xdp"
)

var failover = Kind{
	Name: "failover", Title: "Failover: a bearer is cut and returns", Measure: measureFailover,
	How: fmt.Sprintf(`Two nodes in this process with two veth cables between them, each with a stream of 1400-byte messages as
fast as they are taken; needs root. One cable is cut at time 0 and mended after %v. Either its interface loses its
carrier, of which the nodes hear at once, or its frames vanish, both ways, and nobody says so: then the link is given
up when its tolerance is over and two probes had no answer. What was on its way goes over the other cable; when the first one is
back its stream returns to it. Goodput is counted in steps of %v as messages are read.

The longest gap is that in which one of the two streams brought nothing. Rounds have new nodes; of each way to cut the
figure shows the round with the median gap. Messages lost, doubled or reordered make the measurement fail.`, link.Gone, link.Bucket),
}

func measureFailover(b *Bench) (s figure.Section, err error) {
	all := figure.Figure{ID: "failover", Title: "Goodput of both streams while a bearer is cut and returns"}
	each := figure.Figure{ID: "failover-streams", Title: "Each stream, while the carrier of one is lost and returns"}
	for _, f := range []*figure.Figure{&all, &each} {
		f.X, f.Y = figure.Axis{Label: "time since the cut", Unit: figure.Seconds}, figure.Axis{Label: "goodput", Unit: figure.BitsPerSecond}
	}
	table := figure.Table{ID: "failover-gaps", Title: "The longest time in which a stream brings nothing", Heads: []string{"", "before the cut", "as it is cut", "both links again after"}}
	ways := link.Failovers
	if b.Plan.Name == Tiny.Name {
		ways = ways[:1]
	}
	for _, way := range ways {
		lines, err := b.timelines(way)
		if err != nil {
			s.Errors = append(s.Errors, fmt.Sprintf("%s: %v", way.Name, err))
		}
		if len(lines) == 0 {
			continue
		}
		var usual, longest, back []float64
		for _, l := range lines {
			usual, longest = append(usual, l.Usual.Seconds()), append(longest, l.Longest.Seconds())
			if l.Back > 0 {
				back = append(back, l.Back.Seconds())
			}
			if l.Violations > 0 {
				s.Errors = append(s.Errors, fmt.Sprintf("%s: %d messages lost, doubled or reordered", way.Name, l.Violations))
			}
		}
		gap := figure.CellOf(figure.Seconds, longest)
		again := figure.CellOf(figure.Seconds, back)
		if len(back) < len(lines) {
			again.Word = fmt.Sprintf("not within the figure in %d of %d rounds", len(lines)-len(back), len(lines))
		}
		table.Rows = append(table.Rows, figure.Row{Name: way.Name, Ours: true, Cells: []figure.Cell{figure.CellOf(figure.Seconds, usual), gap, again}})
		s.Says = append(s.Says, fmt.Sprintf("%s: the longest gap of a stream is %s, in the worst of %d rounds %s.",
			way.Name, figure.Seconds.Text(gap.Value), len(lines), figure.Seconds.Text(gap.High)))
		l := middle(lines)
		all.Series = append(all.Series, curveOf(way.Name, l, 0, 1))
		if len(each.Series) == 0 && way.Tolerance == 0 {
			each.Series = append(each.Series, curveOf("on the cable that is cut", l, 0), curveOf("on the other", l, 1))
		}
	}
	s.Figures, s.Tables = []figure.Figure{all, each}, []figure.Table{table}
	return s, nil
}

// timelines are those of all rounds; with an error, of the rounds before it.
func (b *Bench) timelines(way link.Failover) (lines []link.Timeline, err error) {
	rounds := 3 // of four seconds each
	if b.Plan.Few {
		rounds = 1
	}
	for round := 1; round <= rounds; round++ {
		b.say("failover, %s: round %d of %d", way.Name, round, rounds)
		l, err := way.Timeline(b.Context, xdp.Config{})
		if err != nil {
			return lines, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// middle is the one with the median gap.
func middle(lines []link.Timeline) link.Timeline {
	for _, l := range lines {
		shorter, longer := 0, 0
		for _, m := range lines {
			if m.Longest < l.Longest {
				shorter++
			} else if m.Longest > l.Longest {
				longer++
			}
		}
		if 2*shorter <= len(lines) && 2*longer <= len(lines) {
			return l
		}
	}
	return lines[0]
}

// curveOf is the goodput of some of the streams together.
func curveOf(name string, l link.Timeline, streams ...int) figure.Series {
	c := figure.Series{Name: name, Ours: true}
	for k := range l.Rates[0] {
		sum := 0.0
		for _, i := range streams {
			sum += 8 * l.Rates[i][k]
		}
		at := float64(k)*link.Bucket.Seconds() - l.Cut.Seconds()
		c.Points = append(c.Points, figure.Point{X: at, Y: sum})
	}
	return c
}
