// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"math"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
)

var distribution = Kind{
	Name: "distribution", Title: "Latency distribution", Ends: true, Measure: measureDistribution,
	How: `Round trips of 64 B, three times as long as others are measured: which share of them took how long. Each
point is the median over the rounds of that round's quantile. Without and with a CPU burner on each core.`,
}

const small = 64 // bytes of a small message

func measureDistribution(b *Bench) (s figure.Section, err error) {
	t := b.Take("distribution", named(mtu, messagesSpin, messagesAdaptive, messagesSleep, messagesOneCore, callSpin,
		tcpSpin, tcpBlock, tcpOneCore, tcpGo, udpSpin, udpBlock),
		[]station.Exchange{{Size: small, For: 3 * b.Plan.For}, {Size: small, For: 3 * b.Plan.Loaded, Burners: true}})
	s.Errors = t.Errors
	table := figure.Table{ID: "distribution", Title: "Round trips of 64 B", Heads: []string{"", "median", "p99", "p99.9", "median, burners", "p99, burners", "p99.9, burners"}}
	for i, where := range []string{"cores idle", "a CPU burner on each core"} {
		f := figure.Figure{
			ID: "distribution-" + []string{"idle", "loaded"}[i], Title: "Round trips of 64 B: how many took how long, " + where,
			X: figure.Axis{Label: "one round trip in so many takes longer", Log: true}, Y: figure.Axis{Label: "round trip", Unit: figure.Seconds, Log: true},
		}
		for _, subject := range t.Subjects {
			c := figure.Series{Name: subject.Name, Ours: subject.Ours}
			for k, share := range load.Fractions {
				if share < 0.5 || share > 0.999 { // of rarer ones a round has too few
					continue
				}
				if v := t.Values(subject.Name, i, quantile(k)); len(v) > 0 {
					c.Points = append(c.Points, figure.PointOf(math.Round(1/(1-share)), v))
				}
			}
			if len(c.Points) > 0 {
				f.Series = append(f.Series, c)
			}
		}
		s.Figures = append(s.Figures, f)
	}
	for _, subject := range t.Subjects {
		row := figure.Row{Name: subject.Name, Ours: subject.Ours}
		for i := range t.Exchanges {
			for _, k := range []int{4, 8, 9} {
				row.Cells = append(row.Cells, figure.CellOf(figure.Seconds, t.Values(subject.Name, i, quantile(k))))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	s.Tables = []figure.Table{table}
	return s, nil
}

// quantile is the k-th of load.Fractions of round trips.
func quantile(k int) Value {
	return func(r station.Run) float64 {
		if q := r.Ends[0].Quantiles; k < len(q) {
			return q[k].Seconds()
		}
		return 0
	}
}
