// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"time"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/xdp"
)

// Options say what is measured and how.
type Options struct {
	Plan     Plan
	Sets     *regexp.Regexp // of those to measure; nil: all
	Driver   xdp.Config     // of interfaces
	Progress io.Writer
}

var sets = []sheet.Set[Options]{
	{Name: "table", Measure: func(ctx context.Context, o Options) []Row { return tableRows(ctx, o.Plan) }},
	{Name: "million", Measure: func(ctx context.Context, o Options) []Row { return millionRows(ctx, o.Plan) }},
	{Name: "multicast", World: true, Measure: func(ctx context.Context, o Options) []Row { return multicastRows(ctx, o.Plan, o.Driver) }},
	{Name: "bind", World: true, Measure: func(ctx context.Context, o Options) []Row { return usableRows(ctx, o.Plan, o.Driver) }},
	{Name: "events", World: true, Measure: func(ctx context.Context, o Options) []Row { return eventRows(ctx, o.Plan, o.Driver) }},
	{Name: "dead", World: true, Measure: func(ctx context.Context, o Options) []Row { return deadRows(ctx, o.Plan, o.Driver) }},
}

// Sets lists the names of what can be measured.
func Sets() []string { return sheet.Names(sets) }

// Measure measures the sets. Interrupted, it reports what it has, with ctx's error.
// Nothing is left behind: no namespace, no interface.
func Measure(ctx context.Context, o Options) (*Report, error) {
	chosen, world, err := sheet.Choose(sets, o.Sets)
	if err != nil {
		return nil, err
	}
	if world { // so that a missing right is said once, and at once
		n, err := bed.NewNamespace()
		if err != nil {
			return nil, err
		}
		n.Close()
	}
	m := station.ThisMachine([2]int{})
	r := &Report{
		Plan: o.Plan, Began: time.Now(),
		Machine: fmt.Sprintf("%s, %d cores, %s, %s; all nodes in one process, GOMAXPROCS %d", m.CPU, m.Cores, m.Kernel, m.Go, runtime.GOMAXPROCS(0)),
	}
	r.Rows = sheet.Run(ctx, chosen, o, o.Progress)
	r.Took = time.Since(r.Began)
	return r, ctx.Err()
}
