// SPDX-License-Identifier: Apache-2.0

// Package kernel is what the application kernels have in common: how they are told what to
// do, what they say of it, and how they take the time.
package kernel

import (
	"context"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/internal/ranks"
)

// A Config says how much there is to do.
type Config struct {
	Steps int `json:"steps"` // that are timed
	Size  int `json:"size"`  // what the kernel's SizeOf says
}

// A Kernel is a small program of the kind that clusters run. Run is one rank's part; all
// ranks are given the same Config.
type Kernel struct {
	Name     string
	What     string // it does, a sentence
	Value    string // that it reports: "time a step"
	Unit     string // of it: "s" or "/s"
	SizeOf   string // what Config.Size counts
	Ranks    int    // unless told otherwise, and at least
	Defaults Config
	// BothWays means that long messages go both ways at once: two goroutines of a rank wait,
	// and a node whose calls sleep in poll(2) would keep the only processor from the other.
	BothWays bool
	Run      func(ctx context.Context, p ranks.Place, c Config) (Result, error)
}

// A Result is what rank 0 says of a run; the other ranks' is empty but for Checked.
type Result struct {
	Value   float64       `json:"value"`
	P50     time.Duration `json:"p50"` // of a step, nanoseconds
	P99     time.Duration `json:"p99"`
	Max     time.Duration `json:"max"`
	Steps   int           `json:"steps"`
	Checked string        `json:"checked"` // what was compared with what, and agreed
	Moves   *Moves        `json:"moves,omitempty"`
}

// Moves are of objects that went from rank to rank.
type Moves struct {
	Count    int           `json:"count"`
	P50      time.Duration `json:"p50"` // without an answer at a move, nanoseconds
	Max      time.Duration `json:"max"`
	Repeated int           `json:"repeated"` // messages that were sent again
}

// A Meter takes the time of steps.
type Meter struct {
	took []time.Duration
	warm int // steps to come that do not count
	all  time.Duration
	last time.Time
}

// NewMeter is for a number of steps, and those before them that warm up.
func NewMeter(steps int) *Meter {
	return &Meter{took: make([]time.Duration, 0, steps), warm: Warm(steps)}
}

// Warm is how many steps there are before those that count.
func Warm(steps int) int { return max(steps/10, 3) }

// Begin begins a step.
func (m *Meter) Begin() { m.last = time.Now() }

// End ends it.
func (m *Meter) End() {
	d := time.Since(m.last)
	if m.warm > 0 {
		m.warm--
		return
	}
	m.all += d
	m.took = append(m.took, d)
}

// Result has the steps' number, and their time: Value is the mean in seconds.
func (m *Meter) Result(checked string) Result {
	if len(m.took) == 0 {
		return Result{Checked: checked}
	}
	slices.Sort(m.took)
	return Result{
		Value: m.all.Seconds() / float64(len(m.took)), Steps: len(m.took), Checked: checked,
		P50: quantile.Of(m.took, 0.5), P99: quantile.Of(m.took, 0.99), Max: m.took[len(m.took)-1],
	}
}

// Rate is Result with Value in steps a second.
func (m *Meter) Rate(checked string) Result {
	r := m.Result(checked)
	if r.Value > 0 {
		r.Value = 1 / r.Value
	}
	return r
}
