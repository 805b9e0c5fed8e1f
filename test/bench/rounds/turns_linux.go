// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"context"
	"errors"
	"fmt"

	"github.com/utipc/utipc/test/bench/station"
)

// Turns are variants that take turns.
type Turns struct {
	Name      string
	Variants  []station.Variant
	Rounds    int
	Exchanges int // that each variant has its turn with, in each round
	// Exchange returns what variant v does in its turn with number x; false: it has none. What
	// was measured so far is so, by variant.
	Exchange func(v, x, round int, so []*Outcome) (station.Exchange, bool, error)
	// Last is called with each variant that is open after the last round; nil: nothing is left to do.
	Last func(v int, st *station.Station) error
}

// Take opens all variants at a site, has them take turns through all exchanges, and closes
// them. Where they share interfaces, each is opened for its turn. A variant that fails is
// closed, and measured no more. It ends early when ctx is done. Progress is printed by say.
func (t Turns) Take(ctx context.Context, site *station.Site, say func(format string, args ...any)) []*Outcome {
	r := &taking{Turns: t, ctx: ctx, site: site, say: say, open: make([]*station.Station, len(t.Variants))}
	for _, v := range t.Variants {
		r.outcomes = append(r.outcomes, &Outcome{Set: t.Name, Variant: v.Name, MTU: v.MTU})
	}
	defer r.close()
	if !site.Shared() {
		for v := range t.Variants {
			r.openOne(v)
		}
	}
	for round := 1; round <= t.Rounds && ctx.Err() == nil; round++ {
		say("%s: round %d of %d", t.Name, round, t.Rounds)
		if !site.Shared() {
			for x := range t.Exchanges {
				for v := range t.Variants {
					r.turn(v, x, round)
				}
			}
			continue
		}
		for v := range t.Variants { // one at a time has the interfaces
			r.openOne(v)
			for x := range t.Exchanges {
				r.turn(v, x, round)
			}
			r.close()
		}
	}
	if t.Last != nil {
		for v, st := range r.open {
			if st != nil && ctx.Err() == nil {
				if err := t.Last(v, st); err != nil {
					r.fail(v, err)
				}
			}
		}
	}
	return r.outcomes
}

// A taking is Turns that are being taken.
type taking struct {
	Turns
	ctx      context.Context
	site     *station.Site
	say      func(format string, args ...any)
	open     []*station.Station // by variant; nil: it is not
	outcomes []*Outcome
}

func (r *taking) close() {
	for v, st := range r.open {
		if st != nil {
			st.Close()
			r.open[v] = nil
		}
	}
}

// openOne opens a variant, unless that has failed before.
func (r *taking) openOne(v int) {
	o := r.outcomes[v]
	if r.ctx.Err() != nil || o.Error != "" {
		return
	}
	r.say("%s: opening %s", r.Name, o.Variant)
	st, err := r.site.Open(r.Variants[v])
	if err != nil {
		r.fail(v, err)
		return
	}
	r.open[v], o.Opened, o.Infos = st, true, st.Infos
}

// turn has a variant take its turn with an exchange.
func (r *taking) turn(v, x, round int) {
	o, st := r.outcomes[v], r.open[v]
	if st == nil || r.ctx.Err() != nil {
		return
	}
	e, ok, err := r.Exchange(v, x, round, r.outcomes)
	if err != nil {
		r.fail(v, err)
	}
	if err != nil || !ok {
		return
	}
	run, err := st.Turn(e, func(err error) {
		r.say("%s: %s: round %d again, longer: %v", r.Name, o.Variant, round, err)
	})
	run.Round, run.Exchange = round, x
	switch {
	case r.ctx.Err() != nil || errors.Is(err, station.ErrNotHere):
	case err != nil:
		r.fail(v, fmt.Errorf("round %d, %v: %w", round, e, err))
	default:
		o.Runs = append(o.Runs, run)
	}
}

// fail notes why a variant is not measured any more, and closes it.
func (r *taking) fail(v int, err error) {
	o := r.outcomes[v]
	o.Error, o.Missing = err.Error(), errors.Is(err, station.ErrNoCgroup) || errors.Is(err, station.ErrNotHere)
	r.say("%s: %s: %v", o.Set, o.Variant, err)
	if r.open[v] != nil {
		r.open[v].Close()
		r.open[v] = nil
	}
}
