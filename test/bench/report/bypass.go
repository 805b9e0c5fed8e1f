// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"slices"
	"strings"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

var bypass = Kind{
	Name: "bypass", Title: "Around the kernel, or through it",
	How: `One engine, one program, one cable with an MTU of 1500 bytes; only the way its frames take to the network differs. AF_PACKET is a socket that the kernel copies frames through. AF_XDP takes them out behind the driver (generic) or in it (native), with a copy into the program's memory or, if the driver can, without one (zero copy). UDP is the carrier that needs no rights, and runs over IP; with offloads the kernel cuts up and joins runs of datagrams.

In memory there is no network at all: two nodes in one process exchange frames, asleep, on one core; what is left is what the protocol itself costs.

A round trip is an RDM message of 64 bytes by name, and its answer. One way, messages of 64 bytes go as many in a frame as there are, or each in a frame of its own; those of 1400 bytes fill one. Processor time is of both ends, user and system: a receiver that spins uses all of its core, so read the time of one message beside the rate.`,
	Ends: true, Measure: measureBypass,
}

// A path is a way that frames take.
type path struct {
	name   string
	driver string // empty: in memory
	note   string
}

var paths = []path{
	{"AF_PACKET", worker.Packet, ""},
	{"AF_XDP generic", worker.Generic, ""},
	{"AF_XDP native", worker.Native, ""},
	{"AF_XDP native, zero copy", worker.Zero, ""},
	{"UDP with offloads", worker.UDP, ""},
	{"UDP without offloads", worker.Whole, ""},
	{"in memory", "", "two nodes in one process on one core, asleep"},
}

// The sizes of messages of bypass, in bytes: a small one, and one that fills a frame.
const (
	smallSize = 64
	fullSize  = 1400
)

// on is the subject of a path with nodes that wait so, and bundle or not.
func (p path) on(wait string, single bool) Subject {
	o := worker.Open{Load: worker.TIPC, Driver: p.driver, Wait: wait, Single: single}
	if p.driver == "" {
		o = worker.Open{Load: worker.Memory, MTU: 1500, Single: single}
	}
	return Subject{Ours: true, Variant: station.Variant{
		Name: p.name, MTU: 1500, Ends: [2]worker.Open{o, o}, Offloads: true, OneCore: p.driver == "",
	}}
}

// on makes subjects of all paths but those that are left out.
func on(wait string, single bool, without []string) (all []Subject) {
	for _, p := range paths {
		if !slices.Contains(without, p.name) {
			all = append(all, p.on(wait, single))
		}
	}
	return all
}

// measureBypass takes a path that cannot be opened once alone.
func measureBypass(b *Bench) (s figure.Section, err error) {
	roundTrip, oneWay, full := station.Exchange{Size: smallSize}, station.Exchange{OneWay: true, Size: smallSize}, station.Exchange{OneWay: true, Size: fullSize}
	spinning := b.Take("bypass, spinning", on("spin", false, nil), []station.Exchange{roundTrip, oneWay, full})
	var absent []string
	for _, p := range paths {
		if !spinning.Outcome(p.name).Opened {
			absent = append(absent, p.name)
		}
	}
	single := b.Take("bypass, a frame each", on("spin", true, absent), []station.Exchange{oneWay})
	asleep := b.Take("bypass, asleep", on("sleep", false, absent), []station.Exchange{roundTrip})
	s.Errors = slices.Concat(spinning.Errors, single.Errors, asleep.Errors)
	t := figure.Table{ID: "bypass", Title: "One engine over each way to the network", Heads: []string{
		"frames go over", "64 B round trip, spinning", "asleep",
		"64 B one way, bundled", "CPU of one", "64 B, a frame each", "CPU of one", "1400 B one way", "CPU of one",
	}}
	for _, p := range paths {
		if slices.Contains(absent, p.name) {
			r := figure.Row{Name: p.name, Ours: true, Cells: words(len(t.Heads)-1, "-"), Note: "cannot be opened here"}
			if p.driver == worker.Zero { // few interfaces have it: that is what the row says, and no failure
				s.Errors, r.Note = taken(s.Errors, p.name+": ")
			}
			t.Rows = append(t.Rows, r)
			continue
		}
		spins := figure.CellOf(figure.Seconds, spinning.Values(p.name, 0, tripTime))
		if p.driver == "" {
			spins = figure.Cell{Word: "-"} // two nodes on one core cannot both spin
		}
		t.Rows = append(t.Rows, figure.Row{Name: p.name, Ours: true, Note: p.note, Cells: []figure.Cell{
			spins, figure.CellOf(figure.Seconds, asleep.Values(p.name, 0, tripTime)),
			figure.CellOf(figure.PerSecond, spinning.Values(p.name, 1, messages)), figure.CellOf(figure.Seconds, spinning.Values(p.name, 1, processorTime)),
			figure.CellOf(figure.PerSecond, single.Values(p.name, 0, messages)), figure.CellOf(figure.Seconds, single.Values(p.name, 0, processorTime)),
			figure.CellOf(figure.PerSecond, spinning.Values(p.name, 2, messages)), figure.CellOf(figure.Seconds, spinning.Values(p.name, 2, processorTime)),
		}})
	}
	s.Tables = []figure.Table{t}
	s.Figures = []figure.Figure{
		bars("bypass-trip", "64 B round trip", figure.Axis{Label: "round trip", Unit: figure.Seconds},
			bar{"spinning", without(spinning, "in memory"), 0, tripTime}, bar{"asleep", asleep, 0, tripTime}),
		bars("bypass-cpu", "Processor time of a message one way, both ends", figure.Axis{Label: "of a message", Unit: figure.Seconds},
			bar{"64 B, bundled", spinning, 1, processorTime}, bar{"64 B, a frame each", single, 0, processorTime}, bar{"1400 B", spinning, 2, processorTime}),
	}
	return s, nil
}

// taken are the lines without the first that begins so, and the rest of that.
func taken(lines []string, begin string) (others []string, rest string) {
	i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, begin) })
	if i < 0 {
		return lines, ""
	}
	return slices.Delete(slices.Clone(lines), i, i+1), strings.TrimPrefix(lines[i], begin)
}

// processorTime is that of a message, or of a round trip, at both ends together.
var processorTime Value = func(r station.Run) float64 { return r.CPU().Seconds() }

// words are n cells that say the same.
func words(n int, word string) []figure.Cell {
	return slices.Repeat([]figure.Cell{{Word: word}}, n)
}

// without is a Take without a subject.
func without(t *Take, name string) *Take {
	c := *t
	c.Subjects = slices.DeleteFunc(slices.Clone(t.Subjects), func(s Subject) bool { return s.Name == name })
	return &c
}

// A bar is what stands at each subject of a bar chart.
type bar struct {
	name     string
	take     *Take
	exchange int
	value    Value
}

// bars are a chart with a group of bars for each subject that has any.
func bars(id, title string, y figure.Axis, all ...bar) figure.Figure {
	f := figure.Figure{ID: id, Title: title, Y: y}
	at := map[string]float64{}
	for _, b := range all {
		c := figure.Series{Name: b.name, Ours: true}
		for _, s := range b.take.Subjects {
			v := b.take.Values(s.Name, b.exchange, b.value)
			if len(v) == 0 {
				continue
			}
			x, ok := at[s.Name]
			if !ok {
				x = float64(len(f.Ticks))
				at[s.Name], f.Ticks = x, append(f.Ticks, s.Name)
			}
			c.Points = append(c.Points, figure.PointOf(x, v))
		}
		f.Series = append(f.Series, c)
	}
	return f
}
