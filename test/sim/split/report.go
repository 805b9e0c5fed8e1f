// SPDX-License-Identifier: Apache-2.0

package split

import (
	"fmt"
	"time"
)

// A Report is what came of a run.
type Report struct {
	Config     Config
	Violations int
	Findings   []string // the first of them

	Sent      [kinds]int // messages, a multicast as often as it has receivers
	Read      int
	Names     int // bound and withdrawn
	Dials     int
	Frames    int // that the node sent, group frames once for each peer of the engine
	Simulated time.Duration

	Served   int    // engines that have a peer
	Most     int    // peers of the engine that has the most
	Engines  []Cost // of each engine, repeated work included
	Repeated []Cost // of that, what every engine does
	Shared   Cost   // of the directory
}

// sum takes the costs over.
func (w *world) sum() {
	r := &w.report
	has := make([]int, len(w.parts))
	for i := range w.peers {
		has[w.engineOf(i)]++
	}
	for i, h := range w.parts {
		all := h.alone
		all.add(h.repeated)
		r.Engines, r.Repeated = append(r.Engines, all), append(r.Repeated, h.repeated)
		if has[i] > 0 {
			r.Served++
		}
		r.Most = max(r.Most, has[i])
	}
	r.Shared = w.shared
}

// least takes the lesser time of each engine, in this run or another, which must have done the
// same.
func (r *Report) least(o Report) {
	less := func(a *Cost, b Cost) {
		a.Time = min(a.Time, b.Time)
		if a.Units != b.Units {
			r.Violations++
			r.Findings = append(r.Findings, fmt.Sprintf("%d engines, seed %d: one engine did %d units, and %d when that was repeated", r.Config.Engines, r.Config.Seed, a.Units, b.Units))
		}
	}
	for i := range r.Engines {
		less(&r.Engines[i], o.Engines[i])
		less(&r.Repeated[i], o.Repeated[i])
	}
	less(&r.Shared, o.Shared)
}

// A Gain is what comes of a node's engines, by one way to count work.
type Gain struct {
	Total   float64 // work of all engines and the directory
	Largest float64 // of the busiest engine
	Shared  float64 // of the directory
	Bound   float64 // of the speedup over a node of one engine
	Common  float64 // the share of Total that is the directory's, or repeated in engines beyond the first
}

// Units is the gain over the report of a node of one engine, by units of work.
func (r *Report) Units(one *Report) Gain {
	return r.gain(one, func(c Cost) float64 { return float64(c.Units) })
}

// Times is the gain by processor time, in seconds.
func (r *Report) Times(one *Report) Gain {
	return r.gain(one, func(c Cost) float64 { return c.Time.Seconds() })
}

func (r *Report) gain(one *Report, of func(Cost) float64) (g Gain) {
	g.Shared = of(r.Shared)
	g.Total = g.Shared
	common := g.Shared
	for i, c := range r.Engines {
		g.Total += of(c)
		g.Largest = max(g.Largest, of(c))
		if i > 0 {
			common += of(r.Repeated[i])
		}
	}
	before := 0.0
	for _, c := range one.Engines {
		before += of(c)
	}
	g.Bound, g.Common = before/(g.Largest+g.Shared), common/g.Total
	return g
}
