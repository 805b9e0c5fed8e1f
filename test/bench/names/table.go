// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/test/bench/names/bindings"
	"github.com/utipc/utipc/test/bench/sheet"
)

const (
	bindTarget = 10_000 // ns to bind one more of those
	noAllocs   = 0.0001 // what is called none: the run time itself allocates now and then
)

// tableRows measure look-ups beside a map, and one binding more.
func tableRows(ctx context.Context, p Plan) (rows []Row) {
	worst := Row{ID: "lookup-allocs", What: "allocations per look-up, the most of these", Goal: sheet.AtMost, Target: noAllocs}
	for _, s := range bindings.Shapes() {
		r := Row{ID: "lookup-" + s.Name, What: "look-up, " + s.What + ", beside a map"}
		if s.Beside > 0 {
			r.Goal, r.Target = sheet.AtMost, s.Beside
		}
		f, err := lookUp(ctx, s, p)
		if err != nil {
			r.Error, worst.Error = err.Error(), err.Error()
		} else {
			r.Value = f.Table / f.Map
			r.Notes = fmt.Sprintf("%.0f ns beside %.0f ns; in the fastest rounds %.0f beside %.0f", f.Table, f.Map, f.BestTable, f.BestMap)
			worst.Value = max(worst.Value, f.Mallocs)
		}
		rows = append(rows, r)
	}
	rows = append(rows, worst)
	for _, s := range bindings.Shapes() {
		if s.Around() {
			rows = append(rows, bindRows(ctx, s, p)...)
		}
	}
	return rows
}

func lookUp(ctx context.Context, s bindings.Shape, p Plan) (f bindings.LookupFigures, err error) {
	l, err := bindings.NewLookups(s, p.Bound)
	if err != nil {
		return f, err
	}
	for range p.Lookups {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		if err := l.Round(); err != nil {
			return f, err
		}
	}
	return l.Figures(), nil
}

func bindRows(ctx context.Context, s bindings.Shape, p Plan) []Row {
	rows := []Row{
		{ID: "bind-more-" + s.Name, What: "one more of " + s.What + ", median", Unit: "ns", Goal: sheet.AtMost, Target: bindTarget},
		{ID: "bind-more-p99-" + s.Name, What: "the same, 99 of 100", Unit: "ns", Goal: sheet.AtMost, Target: bindTarget},
	}
	b, err := bindings.NewBinds(s, p.Bound)
	for i := 0; err == nil && i < p.Binds; i++ {
		if err = ctx.Err(); err == nil {
			err = b.Round()
		}
	}
	if err != nil {
		return sheet.Rows(rows).Break(err)
	}
	f := b.Figures()
	rows[0].Value, rows[0].Notes = f.Bind, fmt.Sprintf("to unbind %.0f ns", f.Unbind)
	rows[1].Value, rows[1].Notes = f.BindP99, fmt.Sprintf("to unbind %.0f ns", f.UnbindP99)
	return rows
}

// millionRows measure tables of a million bindings.
func millionRows(ctx context.Context, p Plan) (rows []Row) {
	for _, m := range bindings.Millions()[:p.Millions] {
		x := []Row{
			{ID: "million-bytes-" + m.Name, What: fmt.Sprintf("%d bindings, %s, memory each", 100*p.Each, m.What), Unit: "B"},
			{ID: "million-insert-" + m.Name, What: "the same, to bind one", Unit: "ns"},
			{ID: "million-purge-" + m.Name, What: "the same, to lose a node of 65535", Unit: "ms"},
		}
		f, err := bindings.MillionFigures{}, ctx.Err()
		if err == nil {
			f, err = m.Measure(p.Each)
		}
		if err != nil {
			sheet.Rows(x).Break(err)
		}
		x[0].Value, x[1].Value, x[2].Value = f.Bytes, f.Insert, float64(f.Purge)/1e6
		rows = append(rows, x...)
	}
	return rows
}
