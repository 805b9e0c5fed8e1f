// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"
	"math"

	"github.com/utipc/utipc/test/bench/figure"
)

var throughput = Kind{
	Name: "throughput", Title: "Throughput against size", Ends: true, Measure: measureThroughput,
	How: `One process sends as fast as it can, the other counts what arrives: bits and messages a second, by the size
of a write. Streams and TCP may put several small writes into one packet, and so do our messages (bundles).
UDP loses what the receiver has no room for; what is counted arrived.

The half-power point is the size at which half of the highest rate is reached, between two sizes by a line
through their logarithms.

Beside burners a busy process of the same priority runs on each core meanwhile.`,
}

var efficiency = Kind{
	Name: "efficiency", Title: "Efficiency: bytes per second of processor time", Ends: true, Measure: measureEfficiency,
	How: `The same measurement as throughput: the bytes that arrived, divided by the processor time that both ends took,
user and system. The kernel counts the work of its network stack in the process on whose processor it ran. Who
spins takes all of a core, whatever it does: compare those that sleep.`,
}

var throughputPairs = []Pair{
	{messagesSpin, tcpSpin},
	{messagesSpin, tcpSpinPlain},
	{messagesAdaptive, tcpBlock},
	{messagesAdaptive, tcpPlain},
	{messagesAdaptive, tcpNagle},
	{messagesAdaptive, udpBlock},
	{streamAdaptive, tcpBlock},
	{streamAdaptive, tcpPlain},
	{streamAdaptive, tcpGo},
}

var efficiencyPairs = []Pair{
	{messagesSleep, tcpBlock}, {messagesSleep, tcpPlain}, {streamSleep, tcpBlock}, {streamSleep, tcpPlain}, {messagesSleep, udpBlock},
}

// throughputMTUs are those of the cables, in bytes.
var throughputMTUs = []int{mtu, 9000, 65000}

// flows is the take that throughput and efficiency are read off, measured once.
func (b *Bench) flows(mtu int) *Take {
	key := fmt.Sprint("flows ", mtu)
	if t := b.takes[key]; t != nil {
		return t
	}
	subjects := named(mtu, messagesSpin, messagesAdaptive, messagesSleep, streamAdaptive, streamSleep,
		tcpSpin, tcpSpinPlain, tcpBlock, tcpPlain, tcpNagle, tcpGo, udpBlock)
	idle, loaded := some(b.Plan, allSizes), some(b.Plan, loadedSizes)
	if mtu == b.mtus(throughputMTUs)[0] {
		subjects = append(subjects, named(mtu, unixBlock)...)
	} else {
		subjects = named(mtu, messagesAdaptive, messagesSleep, streamAdaptive, streamSleep, tcpBlock, tcpPlain, tcpGo)
		idle, loaded = []int{64, 1400, 16 << 10, 64 << 10, 256 << 10}, nil
		if b.Plan.Few {
			idle = []int{64, 64 << 10}
		}
	}
	t := b.Take(fmt.Sprintf("throughput, MTU %d", mtu), subjects, exchanges(true, idle, loaded))
	if b.takes == nil {
		b.takes = map[string]*Take{}
	}
	b.takes[key] = t
	return t
}

func measureThroughput(b *Bench) (s figure.Section, err error) {
	half := figure.Table{ID: "half-power", Title: "Half-power points", Heads: []string{"", "highest", "at", "half of it at"}}
	for _, mtu := range b.mtus(throughputMTUs) {
		t := b.flows(mtu)
		s.Errors = append(s.Errors, t.Errors...)
		for _, burners := range []bool{false, true} {
			which, id, where := sizes(true, burners), fmt.Sprintf("%d-idle", mtu), fmt.Sprintf("MTU %d, cores idle", mtu)
			if burners {
				id, where = fmt.Sprintf("%d-loaded", mtu), fmt.Sprintf("MTU %d, a CPU burner on each core", mtu)
			}
			rates := t.All(which, bits)
			if len(rates) == 0 {
				continue
			}
			c := Contest{Section: "throughput", What: "one way", Value: bits, Unit: figure.BitsPerSecond, Pairs: throughputPairs, Reason: throughputReason}
			s.Figures = append(s.Figures, figure.Figure{
				ID: "throughput-" + id, Title: "Throughput against size, " + where,
				X: sizeAxis, Y: figure.Axis{Label: "throughput", Unit: figure.BitsPerSecond, Log: true}, Series: rates,
			})
			if mtu == b.mtus(throughputMTUs)[0] {
				s.Figures = append(s.Figures, figure.Figure{
					ID: "messages-" + id, Title: "Messages a second against size, " + where,
					X: sizeAxis, Y: figure.Axis{Label: "messages", Unit: figure.PerSecond, Log: true}, Series: t.All(which, messages),
				})
			}
			ratios := figure.Figure{
				ID: "throughput-ratio-" + id, Title: "How many times the throughput ours has, " + where,
				X: sizeAxis, Y: figure.Axis{Label: "ours / other", Unit: figure.Ratio, Log: true}, Series: b.Ratios(t, c, which, where),
			}
			s.Figures = append(s.Figures, ratios)
			s.Says = append(s.Says, best(ratios, "Throughput, "+where))
			if !burners {
				half.Rows = append(half.Rows, halfPower(rates, mtu)...)
			}
		}
	}
	s.Tables = []figure.Table{half}
	return s, nil
}

// halfPower are the rows of curves of throughput.
func halfPower(all []figure.Series, mtu int) (rows []figure.Row) {
	for _, c := range all {
		peak := c.Points[0]
		for _, p := range c.Points {
			if p.Y > peak.Y {
				peak = p
			}
		}
		cell := figure.Cell{Word: "below " + figure.Bytes.Text(c.Points[0].X)}
		for i := 1; i < len(c.Points); i++ {
			a, z := c.Points[i-1], c.Points[i]
			if a.Y < peak.Y/2 && z.Y >= peak.Y/2 {
				share := math.Log(peak.Y/2/a.Y) / math.Log(z.Y/a.Y)
				cell = figure.Cell{Unit: figure.Bytes, Value: math.Round(a.X * math.Pow(z.X/a.X, share))}
				break
			}
		}
		rows = append(rows, figure.Row{Name: fmt.Sprintf("MTU %d: %s", mtu, c.Name), Ours: c.Ours, Cells: []figure.Cell{
			{Unit: figure.BitsPerSecond, Value: peak.Y, Low: peak.Low, High: peak.High}, {Unit: figure.Bytes, Value: peak.X}, cell,
		}})
	}
	return rows
}

func measureEfficiency(b *Bench) (s figure.Section, err error) {
	for _, mtu := range b.mtus(throughputMTUs) {
		t := b.flows(mtu)
		for _, burners := range []bool{false, true} {
			which, id, where := sizes(true, burners), fmt.Sprintf("%d-idle", mtu), fmt.Sprintf("MTU %d, cores idle", mtu)
			if burners {
				id, where = fmt.Sprintf("%d-loaded", mtu), fmt.Sprintf("MTU %d, a CPU burner on each core", mtu)
			}
			curves := t.All(which, perCPU)
			if len(curves) == 0 {
				continue
			}
			c := Contest{Section: "efficiency", What: "bytes per CPU second", Value: perCPU, Unit: figure.BytesPerSecond, Pairs: efficiencyPairs, Reason: throughputReason}
			s.Figures = append(s.Figures,
				figure.Figure{
					ID: "efficiency-" + id, Title: "Bytes per second of processor time, " + where,
					X: sizeAxis, Y: figure.Axis{Label: "bytes per CPU second", Unit: figure.BytesPerSecond, Log: true}, Series: curves,
				},
				figure.Figure{
					ID: "efficiency-ratio-" + id, Title: "How many times the bytes per CPU second ours has, " + where,
					X: sizeAxis, Y: figure.Axis{Label: "ours / other", Unit: figure.Ratio, Log: true}, Series: b.Ratios(t, c, which, where),
				})
			s.Says = append(s.Says, best(s.Figures[len(s.Figures)-1], "Efficiency, "+where))
		}
	}
	return s, nil
}
