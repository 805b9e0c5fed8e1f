// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"errors"
	"fmt"
	"slices"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/load"
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
	Infos     map[string][2]load.Info // by the subject's name
	Errors    []string                // what could not be measured

	runs   map[cell][]station.Run
	failed map[string]bool // subjects, by name: they are not opened again
}

// A cell is one subject and one exchange.
type cell struct {
	subject  string
	exchange int
}

// Take opens all subjects, has them take turns through all exchanges, and closes them.
// Where they share interfaces, each is opened for its turn.
// A length of an Exchange of 0 is that of the Plan.
func (b *Bench) Take(what string, subjects []Subject, exchanges []station.Exchange) *Take {
	if b.Systems != nil {
		subjects = slices.DeleteFunc(slices.Clone(subjects), func(s Subject) bool { return !b.Systems.MatchString(s.Name) })
	}
	t := &Take{Subjects: subjects, Exchanges: exchanges, Infos: map[string][2]load.Info{}, runs: map[cell][]station.Run{}, failed: map[string]bool{}}
	open := stations{}
	defer open.close()
	if !b.Site.Shared() {
		for _, s := range subjects {
			b.open(t, what, open, s)
		}
	}
	for round := 1; round <= b.Plan.Rounds && b.Context.Err() == nil; round++ {
		b.say("%s: round %d of %d", what, round, b.Plan.Rounds)
		if !b.Site.Shared() {
			for i := range exchanges {
				for _, s := range subjects {
					b.turn(t, open, s, i, round)
				}
			}
			continue
		}
		for _, s := range subjects { // one at a time has the interfaces
			b.open(t, what, open, s)
			for i := range exchanges {
				b.turn(t, open, s, i, round)
			}
			open.close()
		}
	}
	return t
}

// stations are those that are open, by the subject's name.
type stations map[string]*station.Station

func (o stations) close() {
	for name, st := range o {
		st.Close()
		delete(o, name)
	}
}

// open opens a subject, unless that has failed before.
func (b *Bench) open(t *Take, what string, open stations, s Subject) {
	if b.Context.Err() != nil || t.failed[s.Name] {
		return
	}
	b.say("%s: opening %s", what, s.Name)
	st, err := b.Site.Open(s.Variant)
	switch {
	case errors.Is(err, station.ErrNotHere):
		b.say("%s: %v", s.Name, err)
		t.failed[s.Name] = true
	case err != nil:
		t.fail(b, s.Name, s.Name, err)
	default:
		open[s.Name], t.Infos[s.Name] = st, st.Infos
	}
}

// turn measures a cell once, if it is one. A subject that fails is closed, and measured no
// more.
func (b *Bench) turn(t *Take, open stations, s Subject, exchange, round int) {
	x, st := t.Exchanges[exchange], open[s.Name]
	if st == nil || b.Context.Err() != nil || !s.can(x) || x.Burners && round > b.Plan.LoadedRounds {
		return
	}
	if x.For == 0 {
		x.For = b.Plan.For
		if x.Burners {
			x.For = b.Plan.Loaded
		}
	}
	run, err := st.Turn(x, func(error) {})
	run.Round = round
	switch c := (cell{s.Name, exchange}); {
	case b.Context.Err() != nil || errors.Is(err, station.ErrNotHere):
	case err != nil:
		t.fail(b, s.Name, fmt.Sprintf("%s, %s", s.Name, describe(x)), err)
		st.Close()
		delete(open, s.Name)
	default:
		t.runs[c] = append(t.runs[c], run)
	}
}

// describe says in words what an exchange is.
func describe(x station.Exchange) string {
	s := figure.Bytes.Text(float64(x.Size))
	if x.Offered > 0 {
		s += fmt.Sprintf(", %s offered", figure.PerSecond.Text(x.Offered))
	}
	if x.Burners {
		s += ", beside burners"
	}
	return s
}

// fail notes what could not be measured of a subject.
func (t *Take) fail(b *Bench, subject, what string, err error) {
	t.failed[subject] = true
	t.Errors = append(t.Errors, fmt.Sprintf("%s: %v", what, err))
	b.say("%s: %v", what, err)
}

// counted are the runs of a cell that count: those in which others left the cores alone,
// unless that leaves fewer than half.
func (t *Take) counted(c cell) []station.Run {
	all := t.runs[c]
	var quiet []station.Run
	for _, r := range all {
		if r.Others <= station.Busy {
			quiet = append(quiet, r)
		}
	}
	if 2*len(quiet) < len(all) {
		return all
	}
	return quiet
}

// Values are the figures of a cell, one for each round that counts.
func (t *Take) Values(subject string, exchange int, value Value) (v []float64) {
	for _, r := range t.counted(cell{subject, exchange}) {
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
	other := map[int]float64{}
	for _, r := range t.counted(cell{p.Theirs, exchange}) {
		other[r.Round] = value(r)
	}
	for _, r := range t.counted(cell{p.Ours, exchange}) {
		a, b := value(r), other[r.Round]
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
