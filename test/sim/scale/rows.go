// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"fmt"
	"math"
	"time"
)

// A Size says how much to simulate.
type Size struct {
	Seed  uint64
	Nodes []int // of clusters with a kill of each of Kills, where so many survive
	Kills []int
	Lossy []int     // of clusters that lose frames
	Loss  []float64 // each at each of these
	Parts []int     // of clusters that fall into halves
}

// Short is under two minutes, Full has a thousand nodes.
var (
	Short = Size{Seed: 1, Nodes: []int{16, 64, 256}, Kills: []int{1, 10, 100}, Lossy: []int{64}, Loss: []float64{0.001, 0.01}, Parts: []int{64}}
	Full  = Size{Seed: 1, Nodes: []int{16, 64, 256, 1000}, Kills: []int{1, 10, 100}, Lossy: []int{16, 64, 256}, Loss: []float64{0.001, 0.01}, Parts: []int{64}}
)

// Configs are the runs of a size, in the order of its rows.
func (s Size) Configs() (all []Config) {
	for _, n := range s.Nodes {
		var kills []int
		for _, k := range s.Kills {
			if 2*k <= n {
				kills = append(kills, k)
			}
		}
		all = append(all, Config{Nodes: n, Seed: s.Seed, Kills: kills})
	}
	for _, n := range s.Lossy {
		for _, p := range s.Loss {
			all = append(all, Config{Nodes: n, Seed: s.Seed, Kills: []int{1, max(1, n/8)}, Loss: p})
		}
	}
	for _, n := range s.Parts {
		all = append(all, Config{Nodes: n, Seed: s.Seed, Part: true})
	}
	for _, n := range s.Nodes {
		all = append(all, Config{Nodes: n, Seed: s.Seed, NoMonitor: true, Idle: 3 * time.Second})
	}
	return all
}

// slack is how much faster than the square root idle traffic may grow.
const slack = 1.3

// monitored is the smallest cluster in which the growth of traffic is judged: smaller
// ones have no monitor, or nothing but neighbours.
const monitored = 64

// Growth is how the traffic of idle nodes grew from one size of cluster to the next.
type Growth struct {
	From, To int     // nodes
	By       float64 // times the messages
	Root     float64 // of the times the nodes
}

// Missed reports whether it is more than it may be.
func (g Growth) Missed() bool { return g.By > slack*g.Root }

func (g Growth) String() string {
	s := fmt.Sprintf("from %d to %d nodes an idle node sends %.2f times the messages; the square root of the nodes grows to %.2f times",
		g.From, g.To, g.By, g.Root)
	if g.Missed() {
		return s + fmt.Sprintf(", and %g times that is MISSED", slack)
	}
	return s
}

// Grown compares clusters that have a monitor and lose nothing, each with the next
// larger one.
func Grown(all []Report) (g []Growth) {
	var last *Report
	for i := range all {
		r := &all[i]
		if r.Config.NoMonitor || r.Config.Loss > 0 || r.Config.Part || r.Nodes < monitored {
			continue
		}
		if last != nil && last.Nodes < r.Nodes && last.Idle.Messages > 0 {
			g = append(g, Growth{last.Nodes, r.Nodes, r.Idle.Messages / last.Idle.Messages, math.Sqrt(float64(r.Nodes) / float64(last.Nodes))})
		}
		last = r
	}
	return g
}
