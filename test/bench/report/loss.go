// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/sim"
)

var lossy = Kind{
	Name: "loss", Title: "Goodput under loss", Measure: measureLossy,
	How: `How fast messages of 1400 B arrive, once and in order, while a share of the frames is lost each way,
acknowledgements too. Go-back-N is what is left where one of two nodes does not know gap-ack blocks: then whatever
was sent behind a lost packet is sent again.

Simulated: a link of 1 Gbit/s and 100 us there and back, on a virtual clock: the same on every machine. Nothing else
costs time there.

On a veth cable: both ends in this process, for TCP as for ours, and needs root. The kernel here may have no netem, so
frames are lost by an XDP program in generic mode at both ends, before TCP and before AF_PACKET, over which ours go here.
TCP is Go's net with cubic and 64 KiB a write; TSO, GSO and GRO are off, so that a frame lost is one packet there too. A round
trip on this cable takes some ten microseconds, so that a sender hears of a loss at once: on a longer way all lose
more, those with a fixed window most. In each round every system has new ends, and its turn with every share.`,
}

// lossShares are the shares of frames lost.
var lossShares = []float64{0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1}

var lossAxis = figure.Axis{Label: "frames lost, each way", Unit: figure.Percent}

func measureLossy(b *Bench) (s figure.Section, err error) {
	shares := some(b.Plan, lossShares)
	s.Figures = append(s.Figures, b.simulatedLoss(shares, &s))
	real := figure.Figure{
		ID: "loss-veth", Title: "Goodput under loss, veth cable, MTU 1500", X: lossAxis,
		Y: figure.Axis{Label: "goodput", Unit: figure.BitsPerSecond, Log: true},
	}
	beside := figure.Figure{
		ID: "loss-beside", Title: "Goodput beside none lost, veth cable, MTU 1500", X: lossAxis,
		Y: figure.Axis{Label: "goodput / without loss", Unit: figure.Ratio},
	}
	rates := make([][][]float64, len(link.Lossies)) // by system and share, of each round
	failed := make([]bool, len(link.Lossies))
	for i := range rates {
		rates[i] = make([][]float64, len(shares))
	}
	for round := 1; round <= b.Plan.Rounds; round++ {
		b.say("loss: round %d of %d", round, b.Plan.Rounds)
		for i, system := range link.Lossies {
			if failed[i] {
				continue
			}
			got, err := system.Goodput(b.Context, shares, 2*b.Plan.For)
			if b.Context.Err() != nil {
				return s, nil
			}
			if err != nil {
				failed[i] = true
				s.Errors = append(s.Errors, fmt.Sprintf("%s: %v", system.Name, err))
				continue
			}
			for k, r := range got {
				rates[i][k] = append(rates[i][k], 8*r)
			}
		}
	}
	for i, system := range link.Lossies {
		a, r := figure.Series{Name: system.Name, Ours: system.Ours}, figure.Series{Name: system.Name, Ours: system.Ours}
		for k, share := range shares {
			if len(rates[i][k]) == 0 {
				continue
			}
			a.Points = append(a.Points, figure.PointOf(100*share, rates[i][k]))
			var ratios []float64
			for n, y := range rates[i][k] {
				ratios = append(ratios, y/rates[i][0][n])
			}
			r.Points = append(r.Points, figure.PointOf(100*share, ratios))
		}
		if len(a.Points) > 0 {
			real.Series, beside.Series = append(real.Series, a), append(beside.Series, r)
			s.Says = append(s.Says, kept("On the veth cable", r))
		}
	}
	s.Figures = append(s.Figures, real, beside)
	return s, nil
}

// kept says how much of the goodput is left at the largest share.
func kept(where string, c figure.Series) string {
	last := c.Points[len(c.Points)-1]
	return fmt.Sprintf("%s %s keeps %s of its goodput at %s lost.", where, c.Name, figure.Percent.Text(100*last.Y), figure.Percent.Text(last.X))
}

// simulatedLoss is goodput on the simulated link.
func (b *Bench) simulatedLoss(shares []float64, s *figure.Section) figure.Figure {
	f := figure.Figure{
		ID: "loss-simulated", Title: "Goodput under loss, simulated link of 1 Gbit/s and 100 us there and back", X: lossAxis,
		Y: figure.Axis{Label: "goodput", Unit: figure.BitsPerSecond},
	}
	messages := 300_000
	if b.Plan.Few {
		messages = 30_000
	}
	if b.Plan.Name == Tiny.Name {
		messages = 3000
	}
	for k, w := range sim.Windows { // the first of Lossies are the same windows: a name is a colour
		b.say("loss: simulated, %s", w.Name)
		c, r := figure.Series{Name: link.Lossies[k].Name, Ours: true}, figure.Series{Name: link.Lossies[k].Name}
		for _, share := range shares {
			if b.Context.Err() != nil {
				break
			}
			flow := sim.Flow{Seed: 1, Messages: messages, NoBlocks: w.NoBlocks}
			flow.Faults.Window, flow.Faults.MaxWindow = w.Least, w.Most
			flow.Faults.Everywhere(sim.NetworkFaults{Loss: share, Wire: sim.Gigabit})
			report := flow.Run()
			if n := report.Violations() + report.Resets; n > 0 {
				s.Errors = append(s.Errors, fmt.Sprintf("simulated, %s, %g %%: %d messages lost, doubled or reordered, %d resets", w.Name, 100*share, report.Violations(), report.Resets))
				continue
			}
			c.Points = append(c.Points, figure.Point{X: 100 * share, Y: 8 * report.Goodput()})
			r.Points = append(r.Points, figure.Point{X: 100 * share, Y: report.Goodput() * 8 / c.Points[0].Y})
		}
		f.Series = append(f.Series, c)
		if len(r.Points) > 0 {
			s.Says = append(s.Says, kept("On the simulated link", r))
		}
	}
	return f
}
