// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
)

// A Metric is what a row compares. Times are better when smaller, rates when larger.
type Metric uint8

const (
	TripTime Metric = iota // the median round trip
	TripRate               // round trips a second, so that long ones count as what they last
	Messages               // messages received, a second
	Bits                   // bits of messages received, a second
)

// of returns the figure of a run: ns, or a number a second.
func (m Metric) of(r station.Run) float64 {
	switch m {
	case TripTime:
		return float64(r.Ends[0].P50)
	case TripRate:
		return r.Ends[0].Rate()
	case Messages:
		return r.Ends[1].Rate()
	}
	return r.Ends[1].BitRate()
}

// times is how many times as good u is as v.
func (m Metric) times(u, v float64) float64 {
	if m == TripTime {
		return v / u
	}
	return u / v
}

// text prints a figure with its unit.
func (m Metric) text(v float64) string {
	switch m {
	case TripTime:
		return fmt.Sprintf("%.2f us", v/1e3)
	case TripRate:
		return fmt.Sprintf("%.1f k/s", v/1e3)
	case Messages:
		return fmt.Sprintf("%.3f M/s", v/1e6)
	}
	return fmt.Sprintf("%.2f Gbit/s", v/1e9)
}

// Allocations is the most that either end made for a message.
func Allocations(r station.Run) float64 {
	per := func(e load.Result) float64 {
		if e.Messages == 0 {
			return 1 // nothing was counted: no proof of none
		}
		return float64(e.Mallocs) / float64(e.Messages)
	}
	return max(per(r.Ends[0]), per(r.Ends[1]))
}
