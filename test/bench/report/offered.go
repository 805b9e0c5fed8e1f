// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"
	"math"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/station"
)

var offered = Kind{
	Name: "offered", Title: "Latency against offered load", Ends: true, Measure: measureOffered,
	How: `Messages of 64 B one way, each due at its time, at a fixed rate, whether the one before has arrived or not: how
late they come, from when they were due until the program has read them. A message that cannot be sent in time is sent
later and counts as late: what a closed loop of questions and answers would hide. The sender watches the clock busily,
whatever the receiver does. Both ends read one clock: this kind is for two ends on one machine.

A rate that a system cannot carry has no steady latency; its point is what a fraction of a second of that rate made
of it. UDP loses instead, and what is lost is not late.`,
}

// offeredRates are messages a second.
var offeredRates = []float64{1e3, 1e4, 5e4, 1e5, 2e5, 4e5, 8e5, 1.6e6}

func measureOffered(b *Bench) (s figure.Section, err error) {
	var all []station.Exchange
	for _, rate := range some(b.Plan, offeredRates) {
		x := station.Exchange{OneWay: true, Size: small, Offered: rate, Timed: true, For: b.Plan.For}
		if least := 200 / rate; x.For.Seconds() < least {
			x.For = x.For * 3
		}
		all = append(all, x)
	}
	t := b.Take("offered", named(mtu, messagesSpin, messagesAdaptive, messagesSleep, streamAdaptive, tcpSpin, tcpBlock, tcpGo, udpSpin, udpBlock), all)
	s.Errors = t.Errors
	which := func(x station.Exchange) (float64, bool) { return x.Offered, true }
	for _, q := range []struct {
		id, title string
		value     Value
	}{{"median", "Median delay", delay}, {"p99", "Delay that 99 of 100 do not reach", delay99}} {
		s.Figures = append(s.Figures, figure.Figure{
			ID: "offered-" + q.id, Title: q.title + " against offered load, 64 B",
			X: figure.Axis{Label: "offered", Unit: figure.PerSecond, Log: true}, Y: figure.Axis{Label: "delay", Unit: figure.Seconds, Log: true},
			Series: t.All(which, q.value),
		})
	}
	return s, nil
}

var overload = Kind{
	Name: "overload", Title: "Overload: delivered against offered", Ends: true, Measure: measureOverload,
	How: `Messages of 64 B one way. First each system's peak, one sender that sends when it can; then a share of that peak
and a multiple are offered, each message due at its time: does what arrives stay at the peak when more is offered, or does
it fall? One loop offers them, which cannot offer more than it can send; so beyond the peak 8 goroutines offer utipc's, of
which some wait, and a message for which none is free within a millisecond is lost. UDP's loop never waits: what it cannot
deliver it drops. Delivered and offered are in parts of the peak.`,
}

// overloads are offered rates in parts of the peak.
var overloads = []float64{0.25, 0.5, 0.75, 1, 1.5, 2, 4}

func measureOverload(b *Bench) (s figure.Section, err error) {
	datagrams := loads[messagesSpin]
	datagrams.Datagram = true
	ours := named(mtu, messagesSpin)[0]
	ours.Name, ours.Ends[0], ours.Ends[1] = "utipc datagrams, spinning", datagrams, datagrams
	subjects := append([]Subject{ours}, named(mtu, udpSpin)...)
	f := figure.Figure{
		ID: "overload", Title: "Delivered against offered, in parts of the peak, 64 B",
		X: figure.Axis{Label: "offered / peak", Unit: figure.Ratio}, Y: figure.Axis{Label: "delivered / peak", Unit: figure.Ratio},
	}
	table := figure.Table{ID: "overload", Title: "Overload", Heads: []string{"", "peak", "delivered at twice the peak", "of the peak"}}
	for _, subject := range subjects {
		peaks := b.Take("overload, the peak of "+subject.Name, []Subject{subject}, []station.Exchange{{OneWay: true, Size: small}})
		s.Errors = append(s.Errors, peaks.Errors...)
		peak := figure.CellOf(figure.PerSecond, peaks.Values(subject.Name, 0, messages))
		if peak.Value == 0 {
			continue
		}
		var all []station.Exchange
		for _, x := range overloads {
			// An Offered that is not Timed is from as many goroutines as the load has.
			all = append(all, station.Exchange{OneWay: true, Size: small, Offered: x * peak.Value, Timed: x <= 1 || subject.Name == udpSpin})
		}
		t := b.Take("overload of "+subject.Name, []Subject{subject}, all)
		s.Errors = append(s.Errors, t.Errors...)
		share := func(r station.Run) float64 { return messages(r) / peak.Value }
		c := t.Series(subject, func(x station.Exchange) (float64, bool) { return math.Round(100*x.Offered/peak.Value) / 100, true }, share)
		if len(c.Points) == 0 {
			continue
		}
		f.Series = append(f.Series, c)
		for i, x := range overloads {
			if x == 2 {
				table.Rows = append(table.Rows, figure.Row{Name: subject.Name, Ours: subject.Ours, Cells: []figure.Cell{
					peak,
					figure.CellOf(figure.PerSecond, t.Values(subject.Name, i, messages)), figure.CellOf(figure.Ratio, t.Values(subject.Name, i, share)),
				}})
				s.Says = append(s.Says, fmt.Sprintf("%s: at twice the peak %.2f of the peak are delivered.", subject.Name, table.Rows[len(table.Rows)-1].Cells[2].Value))
			}
		}
	}
	s.Figures, s.Tables = []figure.Figure{f}, []figure.Table{table}
	return s, nil
}
