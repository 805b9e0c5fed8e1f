// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// A Set is rows that are measured together; O is what says how.
type Set[O any] struct {
	Name    string
	World   bool // it needs namespaces
	Measure func(ctx context.Context, o O) []Row
}

// Names lists the names of sets.
func Names[O any](sets []Set[O]) (names []string) {
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return names
}

// Choose returns the sets whose name matches, all if only is nil, and whether one of them
// needs namespaces. The error says that there is none.
func Choose[O any](sets []Set[O], only *regexp.Regexp) (chosen []Set[O], world bool, err error) {
	for _, s := range sets {
		if only == nil || only.MatchString(s.Name) {
			chosen, world = append(chosen, s), world || s.World
		}
	}
	if len(chosen) == 0 {
		return nil, false, errors.New("nothing has such a name")
	}
	return chosen, world, nil
}

// Run measures the sets one after the other until ctx is done.
func Run[O any](ctx context.Context, sets []Set[O], o O, progress io.Writer) (rows Rows) {
	for _, s := range sets {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(progress, "%s\n", s.Name)
		rows = append(rows, s.Measure(ctx, o)...)
	}
	return rows
}
