// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"io"
	"regexp"
	"time"

	"github.com/utipc/utipc/test/bench/station"
)

// Options say what is measured and how.
type Options struct {
	Sheet   Sheet
	Plan    Plan
	Rows    *regexp.Regexp // of those to measure; nil: all
	Driver  string         // worker.Auto or another
	Nice    int            // priority of all workers, -20 (first) to 19
	Profile string         // directory for CPU profiles; empty: none
	// Program is the command that serves as a worker: it calls worker.Serve.
	Program  []string
	Progress io.Writer // what goes on, for a terminal
}

// A Report is all that a run has found.
type Report struct {
	Machine  station.Machine `json:"machine"`
	Plan     Plan            `json:"plan"`
	Nice     int             `json:"nice"`
	Began    time.Time       `json:"began"`
	Took     time.Duration   `json:"took"`
	Others   float64         `json:"others"` // share of all cores that others used
	Lines    []Line          `json:"lines"`
	Outcomes []*Outcome      `json:"outcomes"`
}
