// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"

	"github.com/utipc/utipc/test/bench/figure"
)

var latency = Kind{
	Name: "latency", Title: "Latency against size", Ends: true, Measure: measureLatency,
	How: `The time of a round trip, the median of each round's, of messages of 1 B to 256 KiB there and back.
Two processes, one core each where no other is said. TCP: cubic, NODELAY and offloads (TSO, GSO, GRO) on
where no other is said. TIPC messages end at 66000 B, UDP's at 65507; longer ones are streams' alone.

Normalised is other / ours, like with like: both spin, or both sleep. Above 1 ours is faster. "Adaptive" is
how a node waits unless it is told: it spins for some microseconds as long as that pays, then sleeps.

Beside burners a busy process of the same priority runs on each core meanwhile.`,
}

// latencyPairs are compared like with like.
var latencyPairs = []Pair{
	{messagesSpin, tcpSpin},
	{messagesSpin, tcpSpinPlain},
	{messagesSpin, udpSpin},
	{streamSpin, tcpSpin},
	{messagesSleep, tcpBlock},
	{messagesOneCore, tcpOneCore},
	{messagesOneCore, tcpGoOneCore},
	{messagesAdaptive, tcpBlock},
	{streamSleep, tcpBlock},
	{streamAdaptive, tcpGo},
	{streamAdaptive, tcpNagle},
}

func measureLatency(b *Bench) (s figure.Section, err error) {
	t := b.Take("latency", named(mtu, messagesSpin, messagesAdaptive, messagesSleep, messagesOneCore, streamSpin, streamAdaptive, streamSleep,
		tcpSpin, tcpSpinPlain, tcpBlock, tcpOneCore, tcpNagle, tcpGo, tcpGoOneCore, udpSpin, udpBlock, unixSpin, unixBlock),
		exchanges(false, some(b.Plan, allSizes), some(b.Plan, loadedSizes)))
	s.Errors = t.Errors
	c := Contest{Section: "latency", What: "round trip, MTU 1500", Value: tripTime, Less: true, Unit: figure.Seconds, Pairs: latencyPairs, Reason: latencyReason}
	for _, burners := range []bool{false, true} {
		which, id, where := sizes(false, burners), "idle", "cores idle"
		if burners {
			id, where = "loaded", "a CPU burner on each core"
		}
		s.Figures = append(s.Figures,
			figure.Figure{
				ID: "latency-" + id, Title: "Round trip against size, " + where,
				X: sizeAxis, Y: figure.Axis{Label: "round trip", Unit: figure.Seconds, Log: true}, Series: t.All(which, tripTime),
			},
			figure.Figure{
				ID: "latency-ratio-" + id, Title: "How many times as fast ours is, " + where,
				X: sizeAxis, Y: figure.Axis{Label: "other / ours", Unit: figure.Ratio, Log: true}, Series: b.Ratios(t, c, which, where),
			})
	}
	s.Says = append(s.Says, best(s.Figures[1], "Round trips on idle cores"), best(s.Figures[3], "Round trips beside burners"))
	return s, nil
}

var sizeAxis = figure.Axis{Label: "message", Unit: figure.Bytes, Log: true}

// best says what the ratios of a figure span.
func best(f figure.Figure, what string) string {
	var low, high, n, below float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			if n == 0 || p.Y < low {
				low = p.Y
			}
			high = max(high, p.Y)
			n++
			if p.Y < 1 {
				below++
			}
		}
	}
	if n == 0 {
		return what + ": nothing was measured."
	}
	return fmt.Sprintf("%s: ours is %.2f to %.2f times as good; %.0f of %.0f cells are below 1.", what, low, high, below, n)
}
