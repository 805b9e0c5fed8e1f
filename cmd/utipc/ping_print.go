// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/stack"
)

// A pingTrip is what --json prints of a message.
type pingTrip struct {
	Seq   int     `json:"seq"` // from 1
	Bytes int     `json:"bytes,omitempty"`
	From  string  `json:"from,omitempty"`
	Time  float64 `json:"time_us,omitempty"`
	Error string  `json:"error,omitempty"` // why there is no answer
}

// A pingSummary is what it prints in the end.
type pingSummary struct {
	Node     string  `json:"node"`
	To       string  `json:"to"`
	Network  string  `json:"network"`
	Bytes    int     `json:"bytes"` // of a message
	Sent     int     `json:"sent"`
	Answered int     `json:"answered"`
	Lost     int     `json:"lost"`
	Min      float64 `json:"min_us,omitempty"`
	P50      float64 `json:"p50_us,omitempty"`
	P99      float64 `json:"p99_us,omitempty"`
	Max      float64 `json:"max_us,omitempty"`
	Rate     float64 `json:"per_second,omitempty"` // with --interval 0
}

// line prints an answer.
func (p *pinger) line(out io.Writer, from net.Addr, k int, took time.Duration) {
	if p.json {
		newEncoder(out).Encode(pingTrip{Seq: p.sent, Bytes: k, From: from.String(), Time: microseconds(took)})
		return
	}
	fmt.Fprintf(out, "%d bytes from %v: seq=%d time=%s\n", k, from, p.sent, micro(took))
}

// missing prints why there is none.
func (p *pinger) missing(out io.Writer, why string) {
	if p.json {
		newEncoder(out).Encode(pingTrip{Seq: p.sent, Error: why})
		return
	}
	fmt.Fprintln(out, why)
}

// sum prints the summary; an answer that did not come is an error.
func (p *pinger) sum(out io.Writer, node stack.NodeAddr, total time.Duration) error {
	slices.Sort(p.trips)
	at := func(q float64) time.Duration { return quantile.Of(p.trips, q) }
	rate := 0.0
	if p.interval == 0 && len(p.trips) > 0 {
		rate = float64(len(p.trips)) / total.Seconds()
	}
	if p.json {
		newEncoder(out).Encode(pingSummary{
			Node: node.String(), To: p.to.String(), Network: p.kind.network, Bytes: p.size, Sent: p.sent, Answered: len(p.trips), Lost: p.misses,
			Min: microseconds(at(0)), P50: microseconds(at(0.5)), P99: microseconds(at(0.99)), Max: microseconds(at(1)), Rate: rate,
		})
	} else {
		fmt.Fprintf(out, "ping: %d sent, %d answered, %d lost", p.sent, len(p.trips), p.misses)
		if len(p.trips) > 0 {
			fmt.Fprintf(out, "; min/p50/p99/max %s/%s/%s/%s", micro(at(0)), micro(at(0.5)), micro(at(0.99)), micro(at(1)))
		}
		if rate > 0 {
			fmt.Fprintf(out, ", %.0f/s", rate)
		}
		fmt.Fprintln(out)
	}
	if p.misses > 0 {
		return fmt.Errorf("%d of %d messages were not answered", p.misses, p.sent)
	}
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d) / 1e3 }
