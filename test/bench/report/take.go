// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"slices"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/station"
)

// A Subject is a system that is measured.
type Subject struct {
	station.Variant
	Ours    bool
	Largest int  // bytes of a message; 0: any
	Trips   bool // it has round trips alone
}

// can reports whether the subject has such an exchange.
func (s Subject) can(x station.Exchange) bool {
	return (s.Largest == 0 || x.Size <= s.Largest) && !(s.Trips && x.OneWay)
}

// A Take is what was measured of Subjects that took turns.
type Take struct {
	Subjects  []Subject
	Exchanges []station.Exchange
	Errors    []string // what could not be measured

	outcomes map[string]*rounds.Outcome // by the subject's name
}

// Take has all subjects take turns through all exchanges. A length of an Exchange of 0 is that
// of the Plan.
func (b *Bench) Take(what string, subjects []Subject, exchanges []station.Exchange) *Take {
	if b.Systems != nil {
		subjects = slices.DeleteFunc(slices.Clone(subjects), func(s Subject) bool { return !b.Systems.MatchString(s.Name) })
	}
	t := &Take{Subjects: subjects, Exchanges: exchanges, outcomes: map[string]*rounds.Outcome{}}
	turns := rounds.Turns{Name: what, Rounds: b.Plan.Rounds, Exchanges: len(exchanges)}
	for _, s := range subjects {
		turns.Variants = append(turns.Variants, s.Variant)
	}
	turns.Exchange = func(v, x, round int, _ []*rounds.Outcome) (station.Exchange, bool, error) {
		e := exchanges[x]
		if e.For == 0 {
			e.For = b.Plan.For
			if e.Burners {
				e.For = b.Plan.Loaded
			}
		}
		return e, subjects[v].can(e) && !(e.Burners && round > b.Plan.LoadedRounds), nil
	}
	for _, o := range turns.Take(b.Context, b.Site, b.say) {
		t.outcomes[o.Variant] = o
		if o.Error != "" && !o.Missing {
			t.Errors = append(t.Errors, o.Variant+": "+o.Error)
		}
	}
	return t
}

// Outcome is what was measured of a subject; nothing, of one that is not of the Take.
func (t *Take) Outcome(subject string) *rounds.Outcome {
	if o := t.outcomes[subject]; o != nil {
		return o
	}
	return &rounds.Outcome{}
}

// counted are the runs of a subject with an exchange that count.
func (t *Take) counted(subject string, exchange int) (runs []station.Run) {
	o := t.Outcome(subject)
	quiet, _ := rounds.Quiet(exchange, o)
	for _, round := range quiet {
		r, _ := o.Run(exchange, round)
		runs = append(runs, r)
	}
	return runs
}

// Values are the figures of a cell, one for each round that counts.
func (t *Take) Values(subject string, exchange int, value Value) (v []float64) {
	for _, r := range t.counted(subject, exchange) {
		if y := value(r); y > 0 {
			v = append(v, y)
		}
	}
	return v
}

// A Value is a figure of a run; 0: it has none.
type Value func(station.Run) float64

// Values of runs.
var (
	tripTime Value = func(r station.Run) float64 { return r.Ends[0].P50.Seconds() }
	bits     Value = func(r station.Run) float64 { return r.Ends[1].BitRate() }
	messages Value = func(r station.Run) float64 { return r.Ends[1].Rate() }
	delay    Value = func(r station.Run) float64 { return r.Ends[1].P50.Seconds() }
	delay99  Value = func(r station.Run) float64 { return r.Ends[1].P99.Seconds() }
	// perCPU is bytes that arrive in a second of processor time, of both ends together.
	perCPU Value = func(r station.Run) float64 {
		cpu := (r.Ends[0].CPU + r.Ends[1].CPU).Seconds()
		if cpu == 0 || r.Ends[1].Count == 0 {
			return 0
		}
		each := float64(r.Ends[1].Bytes) / float64(r.Ends[1].Count)
		return each * float64(r.Ends[1].All) / cpu
	}
)

// Which picks exchanges and says at which x they stand.
type Which func(station.Exchange) (x float64, ok bool)

// sizes are exchanges by the size of the message, with or without burners, one way or not.
func sizes(oneWay, burners bool) Which {
	return func(x station.Exchange) (float64, bool) {
		return float64(x.Size), x.OneWay == oneWay && x.Burners == burners
	}
}

// Series is the curve of a subject; it may be empty.
func (t *Take) Series(s Subject, which Which, value Value) figure.Series {
	c := figure.Series{Name: s.Name, Ours: s.Ours}
	for i, x := range t.Exchanges {
		if at, ok := which(x); ok {
			if v := t.Values(s.Name, i, value); len(v) > 0 {
				c.Points = append(c.Points, figure.PointOf(at, v))
			}
		}
	}
	return c
}

// All are the curves of all subjects that have one.
func (t *Take) All(which Which, value Value) (all []figure.Series) {
	for _, s := range t.Subjects {
		if c := t.Series(s, which, value); len(c.Points) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// ratios are how many times as good ours is as theirs at an exchange, one for each round
// that both have; less says that less is better.
func (t *Take) ratios(p Pair, exchange int, value Value, less bool) (v []float64) {
	ours, theirs := t.Outcome(p.Ours), t.Outcome(p.Theirs)
	quiet, _ := rounds.Quiet(exchange, ours, theirs)
	for _, round := range quiet {
		x, _ := ours.Run(exchange, round)
		y, _ := theirs.Run(exchange, round)
		a, b := value(x), value(y)
		if a <= 0 || b <= 0 {
			continue
		}
		if less {
			a, b = b, a
		}
		v = append(v, a/b)
	}
	return v
}
