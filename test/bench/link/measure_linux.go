// SPDX-License-Identifier: Apache-2.0

package link

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
	{Name: "core", Measure: func(_ context.Context, o Options) []Row { return coreRows(o.Plan) }},
	{Name: "loss", World: true, Measure: func(ctx context.Context, o Options) []Row { return lossRows(ctx, o.Plan, o.Driver) }},
	{Name: "virtual", Measure: func(_ context.Context, o Options) []Row { return virtualRows(o.Plan) }},
	{Name: "failover", World: true, Measure: func(ctx context.Context, o Options) []Row { return failoverRows(ctx, o.Plan, o.Driver) }},
	{Name: "long", World: true, Measure: func(ctx context.Context, o Options) []Row { return longRows(ctx, o.Plan, o.Driver) }},
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
		Machine: fmt.Sprintf("%s, %d cores, %s, %s; both nodes in one process, GOMAXPROCS %d", m.CPU, m.Cores, m.Kernel, m.Go, runtime.GOMAXPROCS(0)),
	}
	r.Rows = sheet.Run(ctx, chosen, o, o.Progress)
	r.Took = time.Since(r.Began)
	return r, ctx.Err()
}
