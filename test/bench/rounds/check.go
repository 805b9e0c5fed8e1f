// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"errors"
	"fmt"
	"strings"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// Check returns what is wrong with a table: rows that name variants there are not, or that do
// not take turns, or that measure another thing; names given twice, and variants of no row.
func (t *Table) Check() error {
	c := checker{known: map[string]station.Variant{}, used: map[string]bool{}}
	for _, s := range t.Sets {
		c.set(s)
	}
	t.List(func(id, _ string) {
		if c.used["row "+id] {
			c.add("two rows are called %s", id)
		}
		c.used["row "+id] = true
	})
	for i := range t.Rows {
		c.row(&t.Rows[i])
	}
	for name := range c.known {
		if !c.used[name] {
			c.add("no row needs %s", name)
		}
	}
	return errors.Join(c.errs...)
}

type checker struct {
	known map[string]station.Variant // by "set/variant"
	used  map[string]bool            // those, and rows
	errs  []error
}

func (c *checker) add(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) set(s Set) {
	for _, v := range s.Variants {
		name := s.Name + "/" + v.Name
		if _, again := c.known[name]; again {
			c.add("two variants are called %s", name)
		}
		c.known[name] = v
		if v.Ends[0].Load == "" || v.MTU <= 0 || v.Size <= 0 && !v.Ends[0].Dials {
			c.add("%s: got %+v", name, v)
		}
		if _, ok := c.known[s.Name+"/"+s.Twice[1]]; s.Twice[0] == v.Name && !ok {
			c.add("%s offers twice %q, which does not come before it", name, s.Twice[1])
		}
	}
}

func (c *checker) row(r *Comparison) {
	ours := c.known[r.Ours]
	for _, name := range r.variants() {
		c.used[name] = true
		v, ok := c.known[name]
		if !ok {
			c.add("row %s: there is no %s", r.ID, name)
		}
		if r.Count == nil && v.OneWay != ours.OneWay {
			c.add("row %s: one way beside round trips", r.ID)
		}
	}
	if r.Count == nil {
		if set, _, _ := strings.Cut(r.Ours, "/"); !strings.HasPrefix(r.Beside, set+"/") {
			c.add("row %s: %s and %s do not take turns", r.ID, r.Ours, r.Beside)
		}
		if oneWay := r.Metric == Messages || r.Metric == Bits; oneWay != ours.OneWay {
			c.add("row %s: its metric is not what %s measures", r.ID, r.Ours)
		}
	}
	if (r.Target == 0) != (r.goal() == sheet.Printed) {
		c.add("row %s: target %v", r.ID, r.Target)
	}
}
