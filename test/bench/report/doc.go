// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package report measures what this stack is worth beside the systems that people would
// otherwise use, one kind of measurement after the other, and says where it loses.
//
//	Kind     a kind of measurement: utipc-lab bench NAME; measured it is a figure.Section
//	Plan     how much is measured: rounds, their length, how many sizes
//	Bench    what a Kind measures with
//	Subject  a system that is measured: a station.Variant
//	Take     Subjects that take turns through all Exchanges, by package rounds
//	Pair     what is compared, like with like; its cells below 1 are the losses
//
// All figures of a Take come from one run: in each round every Subject has its turn with
// every Exchange, so that what the machine does meanwhile hits all of them. What is
// compared is the median of the rounds' own ratios.
//
// To add a kind, write a file with its Measure and name it in Kinds.
package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/station"
)

// A Kind is a kind of measurement.
type Kind struct {
	Name  string // utipc-lab bench NAME
	Title string
	How   string // it is measured: paragraphs, parted by empty lines
	// Ends means that two ends have to be placed; a Bench without a Site has none.
	Ends    bool
	Measure func(b *Bench) (figure.Section, error)
}

// Kinds are all kinds, in the order of the report.
var Kinds = []Kind{
	latency, throughput, efficiency, distribution, offered, overload, peers, fabrics, judges, bypass, copied, local,
	lossy, failover, scale,
	applications,
}

// Find is the kind of a name.
func Find(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// A Plan says how much is measured.
type Plan struct {
	Name   string
	Rounds int
	For    time.Duration // of one measurement, warming up not counted
	// Loaded is as For, beside busy processes; LoadedRounds as Rounds.
	Loaded       time.Duration
	LoadedRounds int
	Wait         time.Duration // for others to leave the cores alone, in all
	Few          bool          // fewer sizes, rates and MTUs
}

// Plans of the command.
var (
	Tiny  = Plan{Name: "tiny", Rounds: 1, For: 10 * time.Millisecond, Loaded: 10 * time.Millisecond, LoadedRounds: 1, Few: true}
	Short = Plan{Name: "short", Rounds: 3, For: 80 * time.Millisecond, Loaded: 150 * time.Millisecond, LoadedRounds: 2, Wait: 20 * time.Second, Few: true}
	Full  = Plan{Name: "full", Rounds: 5, For: 200 * time.Millisecond, Loaded: 300 * time.Millisecond, LoadedRounds: 3, Wait: 2 * time.Minute}
)

// String tells of the plan in words.
func (p Plan) String() string {
	return fmt.Sprintf("%s: %d rounds of %v in turn; with a CPU burner on each core %d of %v", p.Name, p.Rounds, p.For, p.LoadedRounds, p.Loaded)
}

// some is all of v, or every second of it, and the last, in a Plan with Few.
func some[T any](p Plan, v []T) []T {
	if !p.Few {
		return v
	}
	var s []T
	for i, x := range v {
		if i%2 == 0 || i == len(v)-1 {
			s = append(s, x)
		}
	}
	return s
}

// A Bench is what kinds measure with. Kinds are measured one at a time.
type Bench struct {
	Context  context.Context
	Plan     Plan
	Site     *station.Site  // nil: there is nowhere to place two ends
	Program  []string       // serves as a worker; that of Site
	Peers    string         // the program that has the loads of other systems; empty: it is looked for
	Systems  *regexp.Regexp // of subjects: those that are measured; nil: all
	Progress io.Writer

	Losses []figure.Loss // found so far
	takes  map[string]*Take
}

// ErrNoEnds is of a kind that needs two ends, and a Bench that has nowhere to place them.
var ErrNoEnds = errors.New("there is nowhere to place two ends")

// Measure measures a kind. What of it could not be measured stands in the Section's
// Errors; the error is of the Context, or ErrNoEnds.
func (b *Bench) Measure(k Kind) (figure.Section, error) {
	s := figure.Section{}
	if k.Ends && b.Site == nil {
		return s, ErrNoEnds
	}
	s, err := k.Measure(b)
	s.ID, s.Title, s.How = k.Name, k.Title, k.How
	if e := b.Context.Err(); e != nil {
		return s, e
	}
	if err != nil {
		s.Errors = append(s.Errors, err.Error())
	}
	return s, nil
}

// say tells what goes on.
func (b *Bench) say(format string, args ...any) { fmt.Fprintf(b.Progress, format+"\n", args...) }
