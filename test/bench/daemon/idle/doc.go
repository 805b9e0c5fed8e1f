// SPDX-License-Identifier: Apache-2.0

// Package idle measures how often a node wakes while its programs do nothing, over each
// carrier: alone, and with one peer to which it has an idle link.
//
// An idle node wakes for its timers and for what other nodes send. Alone, these are
// discovery messages. A peer adds the probes of the link in both directions and their
// answers: at the default tolerance of 1.5 s each end sends a probe every 375 ms.
// Source: docs/spec/02-link.md §4.
package idle

import (
	"time"

	"github.com/utipc/utipc/test/bench/sheet"
)

// Wake-ups a second that an idle node may have.
const (
	AloneLimit = 20
	PeerLimit  = 10 // more, for a peer: two probes and an answer each 375 ms, and the ring of monitors
)

// Options say how long a measurement takes.
type Options struct {
	Settle time.Duration // from the start of the nodes to the first count
	For    time.Duration // from there to the second
}

// A Sample is what one node did.
type Sample struct {
	Carrier string
	Daemon  bool // the node is a daemon's, which sleeps in Go's poller; else a program's own
	Peers   int
	WakeUps float64 // a second
	Err     error   // why the node could not be opened
}

// Limit is how many wake-ups a second the node may have.
func (s *Sample) Limit() float64 { return float64(AloneLimit + PeerLimit*s.Peers) }

// Rows are the samples as a table.
func Rows(samples []Sample) (rows sheet.Rows) {
	for _, s := range samples {
		kind, company := "program's own node", "alone"
		if s.Daemon {
			kind = "daemon"
		}
		if s.Peers > 0 {
			company = "one peer"
		}
		r := sheet.Row{ID: "idle", What: s.Carrier + ", " + kind + ", " + company, Value: s.WakeUps, Unit: "/s", Goal: sheet.AtMost, Target: s.Limit()}
		if s.Err != nil {
			r.Error = s.Err.Error()
		}
		rows = append(rows, r)
	}
	return rows
}
