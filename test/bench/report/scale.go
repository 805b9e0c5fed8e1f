// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/figure"
	simulation "github.com/utipc/utipc/test/sim/scale"
)

var scale = Kind{
	Name: "scale", Title: "Scale: clusters of up to a thousand nodes", Measure: measureScale,
	How: `Simulated clusters on one network segment, on a virtual clock: the engines are the real ones, the frames too.
Every node binds a name, all start within some milliseconds of each other, and nobody sends messages: what is on the wire is
discovery, the links' probes with the ring monitor's records, and names. From 33 nodes on a node watches only some of the others itself (ring
monitor), so that what it sends grows with the square root of their number.

Up: the time from the last start until every node has a link to every other. Idle: frames and bytes that a node sends a
second, then. Memory: the heap of all nodes, divided by their number; frames lie elsewhere. Known dead: one node falls silent; the time until
half of the others, and all, have noticed. These four but memory are the same on every machine, with a seed.

CPU time: of this process, while all idle, for a simulated second: of a node, with its share of the simulation itself, and
garbage collection.`,
}

// scaleNodes are the clusters' sizes: a thousand nodes take minutes, and gigabytes.
var scaleNodes = []int{10, 30, 100, 300, 1000}

func measureScale(b *Bench) (s figure.Section, err error) {
	sizes := scaleNodes
	if b.Plan.Few {
		sizes = []int{10, 100, 200}
		s.Says = append(s.Says, "A thousand nodes are for the whole report: they take minutes.")
	}
	if b.Plan.Name == Tiny.Name {
		sizes = []int{10}
	}
	table := figure.Table{ID: "scale", Title: "Clusters of idle nodes", Heads: []string{
		"nodes", "all links up", "frames of a node", "bytes of a node", "memory of a node",
		"CPU time of a node, a second", "dead node known to half", "known to all",
	}}
	traffic, cpu := figure.Series{Name: "frames a node sends a second", Ours: true}, figure.Series{Name: "CPU time of a node, a simulated second", Ours: true}
	half, all, up := figure.Series{Name: "a dead node is known to half", Ours: true}, figure.Series{Name: "a dead node is known to all", Ours: true}, figure.Series{Name: "all links are up", Ours: true}
	for _, n := range sizes {
		if b.Context.Err() != nil {
			break
		}
		b.say("scale: %d nodes", n)
		const idle = 3 * time.Second
		r := simulation.Config{Nodes: n, Seed: 1, Kills: []int{1}, Idle: idle, Settle: time.Second, StayDead: true, Clock: processTime}.Run()
		if r.Violations > 0 {
			s.Errors = append(s.Errors, fmt.Sprintf("%d nodes: %d violations: %v", n, r.Violations, r.Findings))
		}
		if len(r.Kills) == 0 {
			continue
		}
		k, x, busy := r.Kills[0], float64(n), r.IdleReal.Seconds()/idle.Seconds()/float64(n)
		for _, p := range []struct {
			c *figure.Series
			y float64
		}{{&traffic, r.Idle.Messages}, {&cpu, busy}, {&half, k.P50.Seconds()}, {&all, k.Max.Seconds()}, {&up, r.Booted.Seconds()}} {
			p.c.Points = append(p.c.Points, figure.Point{X: x, Y: p.y})
		}
		seconds := func(d time.Duration) figure.Cell {
			return figure.Cell{Value: d.Seconds(), Unit: figure.Seconds}
		}
		table.Rows = append(table.Rows, figure.Row{Name: fmt.Sprint(n), Ours: true, Cells: []figure.Cell{
			seconds(r.Booted),
			{Value: r.Idle.Messages, Unit: figure.PerSecond},
			{Value: r.Idle.Bytes, Unit: figure.BytesPerSecond},
			{Value: r.Memory.Node, Unit: figure.Bytes},
			{Value: busy, Unit: figure.Seconds},
			seconds(k.P50), seconds(k.Max),
		}})
		s.Says = append(s.Says, fmt.Sprintf("%d nodes: all links are up %s after the last start; an idle node sends %.0f frames a second, %s; a dead one is known to all after %s.",
			n, figure.Seconds.Text(r.Booted.Seconds()), r.Idle.Messages, figure.BytesPerSecond.Text(r.Idle.Bytes), figure.Seconds.Text(k.Max.Seconds())))
	}
	nodes := figure.Axis{Label: "nodes", Log: true}
	s.Figures = []figure.Figure{
		{ID: "scale-traffic", Title: "What an idle node sends", X: nodes, Y: figure.Axis{Label: "frames", Unit: figure.PerSecond}, Series: []figure.Series{traffic}},
		{ID: "scale-times", Title: "Until all know", X: nodes, Y: figure.Axis{Label: "time", Unit: figure.Seconds}, Series: []figure.Series{up, half, all}},
		{ID: "scale-cpu", Title: "CPU time of an idle node in a simulated second", X: nodes, Y: figure.Axis{Label: "CPU time", Unit: figure.Seconds, Log: true}, Series: []figure.Series{cpu}},
	}
	s.Tables = []figure.Table{table}
	return s, nil
}

// processTime is the processor time that this process has taken, user and system.
func processTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
