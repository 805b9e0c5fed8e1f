// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

var copied = Kind{
	Name: "copy", Title: "With a copy, or without",
	How: `WriteTo and Write copy a message from the program's memory into frames, ReadFrom and Read out of them. NewBuffer, WriteBuffer and ReadBuffer hand out the memory of the frames themselves. Both move the same messages one way, spinning: RDM messages by address, and a stream.

Nobody reads or writes the payload, but for its first bytes: what is compared is the calls alone. A program whose data lies somewhere already has to copy it into a Buffer itself, and has gained nothing there; one that makes its data in place, or looks at what it got and throws it away, gains what is shown.

Over AF_PACKET, which long frames take here, the kernel copies each frame too, both ways; AF_XDP copies it once more on a cable of this kind.`,
	Ends: true, Measure: measureCopied,
}

// copiedSizes are those of the messages, in bytes, up to the longest there is.
var copiedSizes = []int{64, 256, 1024, 2048, 4096, 16 << 10, 32 << 10, 66000}

// copiedMTUs are those of the cables.
var copiedMTUs = []int{1500, 65000}

func measureCopied(b *Bench) (s figure.Section, err error) {
	var exchanges []station.Exchange
	for _, size := range some(b.Plan, copiedSizes) {
		exchanges = append(exchanges, station.Exchange{OneWay: true, Size: size})
	}
	for _, mtu := range copiedMTUs {
		t := b.Take(fmt.Sprintf("copy, MTU %d", mtu), copiedSubjects(mtu), exchanges)
		s.Errors = append(s.Errors, t.Errors...)
		name := func(what string) (id, title string) {
			return fmt.Sprintf("copy-%s-%d", what, mtu), fmt.Sprintf("MTU %d", mtu)
		}
		id, of := name("rate")
		s.Figures = append(s.Figures, figure.Figure{
			ID: id, Title: "Throughput with and without a copy, " + of, X: sizeAxis,
			Y: figure.Axis{Label: "payload", Unit: figure.BitsPerSecond, Log: true}, Series: t.All(sizes(true, false), bits),
		})
		id, of = name("cpu")
		s.Figures = append(s.Figures, figure.Figure{
			ID: id, Title: "Processor time of a kilobyte, both ends, " + of, X: sizeAxis,
			Y: figure.Axis{Label: "of 1000 bytes", Unit: figure.Seconds, Log: true}, Series: t.All(sizes(true, false), perKilobyte),
		})
		id, of = name("ratio")
		gain := figure.Figure{ID: id, Title: "Without a copy : with one, " + of, X: sizeAxis, Y: figure.Axis{Label: "times as good", Unit: figure.Ratio}}
		for _, p := range copiedPairs {
			for _, c := range []struct {
				what  string
				value Value
			}{{"throughput", bits}, {"bytes of a CPU second", perCPU}} {
				if r := t.ratioSeries(p, sizes(true, false), c.value, p.Ours+": "+c.what); len(r.Points) > 0 {
					gain.Series = append(gain.Series, r)
				}
			}
		}
		s.Figures = append(s.Figures, gain)
		s.Says = append(s.Says, t.gains(mtu)...)
	}
	return s, nil
}

// copiedPairs are what goes without a copy beside what goes with one.
var copiedPairs = []Pair{{"messages, Buffers", "messages, Read and Write"}, {"stream, Buffers", "stream, Read and Write"}}

func copiedSubjects(mtu int) (all []Subject) {
	messages := worker.Open{Load: worker.TIPC, Wait: "spin"}
	stream := worker.Open{Load: worker.Conns, Socket: "tipc", Wait: "spin"}
	for i, p := range copiedPairs {
		with := []worker.Open{messages, stream}[i]
		without := with
		if i == 0 {
			without.Socket = "buffers"
		} else {
			without.Buffers = true
		}
		for _, s := range []struct {
			name string
			open worker.Open
		}{{p.Theirs, with}, {p.Ours, without}} {
			all = append(all, Subject{Ours: true, Variant: station.Variant{Name: s.name, MTU: mtu, Ends: [2]worker.Open{s.open, s.open}}})
		}
	}
	return all
}

// perKilobyte is the processor time of 1000 bytes, at both ends together.
var perKilobyte Value = func(r station.Run) float64 {
	if y := perCPU(r); y > 0 {
		return 1000 / y
	}
	return 0
}

// ratioSeries is how many times as good the first of a pair is, without calling anything a
// loss: both are ours.
func (t *Take) ratioSeries(p Pair, which Which, value Value, name string) figure.Series {
	s := figure.Series{Name: name, Ours: true}
	for i, x := range t.Exchanges {
		if at, ok := which(x); ok {
			if v := t.ratios(p, i, value, false); len(v) > 0 {
				s.Points = append(s.Points, figure.PointOf(at, v))
			}
		}
	}
	return s
}

// gains are sentences on where going without a copy pays most, and from which size on it
// always does.
func (t *Take) gains(mtu int) (says []string) {
	for _, p := range copiedPairs {
		points := t.ratioSeries(p, sizes(true, false), bits, "").Points
		if len(points) == 0 {
			continue
		}
		best := slices.MaxFunc(points, func(a, b figure.Point) int { return cmp.Compare(a.Y, b.Y) })
		line := fmt.Sprintf("MTU %d, %s: at best %s the throughput of %s, at %s", mtu, p.Ours, figure.Ratio.Text(best.Y), p.Theirs, figure.Bytes.Text(best.X))
		from := len(points)
		for from > 0 && points[from-1].Y > 1 {
			from--
		}
		switch {
		case from == len(points):
			line += "; at the longest messages not more."
		case from == 0:
			line += "; more at every size."
		default:
			line += fmt.Sprintf("; more from %s on.", figure.Bytes.Text(points[from].X))
		}
		says = append(says, line)
	}
	return says
}
