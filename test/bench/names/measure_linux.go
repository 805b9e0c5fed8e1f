// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/xdp"
)

// Options say what is measured and how.
type Options struct {
	Plan     Plan
	Only     *regexp.Regexp // of sets, those to measure; nil: all
	Driver   xdp.Config     // of interfaces
	Progress io.Writer
}

// Sets are what can be measured.
var Sets = []sheet.Set[Options]{
	{Name: "table", What: "look-ups beside a Go map, one binding more", Measure: func(ctx context.Context, o Options) []Row { return tableRows(ctx, o.Plan) }},
	{Name: "million", What: "a million bindings: memory, time", Measure: func(ctx context.Context, o Options) []Row { return millionRows(ctx, o.Plan) }},
	{Name: "multicast", What: "broadcast, copies and unicasts to three nodes", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return multicastRows(ctx, o.Plan, o.Driver) }},
	{Name: "bind", What: "from Bind until another node can send there", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return usableRows(ctx, o.Plan, o.Driver) }},
	{Name: "events", What: "from Bind until subscribers know", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return eventRows(ctx, o.Plan, o.Driver) }},
	{Name: "dead", What: "from silence until the names of a node are gone", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return deadRows(ctx, o.Plan, o.Driver) }},
}

// Measure measures the sets. Interrupted, it reports what it has, with ctx's error.
// Nothing is left behind: no namespace, no interface.
func Measure(ctx context.Context, o Options) (*sheet.Report, error) {
	r := &sheet.Report{Name: "names", Title: "Names", Plan: o.Plan, Head: []string{
		fmt.Sprintf("%v; all nodes in one process, GOMAXPROCS %d", station.ThisMachine([2]int{}), runtime.GOMAXPROCS(0)),
		fmt.Sprintf("%d rounds of look-ups, %d of %v of multicast, %d names, %d deaths of a node", o.Plan.Lookups, o.Plan.Rounds, o.Plan.For, o.Plan.Names, o.Plan.Deaths),
	}}
	return r, sheet.Measure(ctx, r, Sets, o.Only, o, o.Progress)
}
