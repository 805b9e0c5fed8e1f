// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// A Set is rows that are measured together; O is what says how.
type Set[O any] struct {
	Name string
	What string
	// Ready returns why the set cannot be measured here; nil: it always can.
	Ready   func() error
	Measure func(ctx context.Context, o O) []Row
}

// ErrNone is of an expression that nothing matches.
var ErrNone = errors.New("nothing has such a name")

// choose returns the sets whose name matches, all if only is nil. The error says that there
// is none, or why the first of them that cannot be measured here cannot.
func choose[O any](sets []Set[O], only *regexp.Regexp) (chosen []Set[O], err error) {
	for _, s := range sets {
		if only == nil || only.MatchString(s.Name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, ErrNone
	}
	for _, s := range chosen {
		if s.Ready == nil {
			continue
		}
		if err := s.Ready(); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// Measure measures the sets whose name matches, one after the other, and puts their rows into
// the report. Interrupted, it has those that were measured, and the error is ctx's. Any other
// error is of a measurement that did not begin.
func Measure[O any](ctx context.Context, r *Report, sets []Set[O], only *regexp.Regexp, o O, progress io.Writer) error {
	chosen, err := choose(sets, only)
	if err != nil {
		return err
	}
	r.Began = time.Now()
	for _, s := range chosen {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(progress, "%s\n", s.Name)
		r.Rows = append(r.Rows, s.Measure(ctx, o)...)
	}
	r.Took = time.Since(r.Began)
	return ctx.Err()
}
