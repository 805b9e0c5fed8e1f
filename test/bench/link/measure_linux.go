// SPDX-License-Identifier: Apache-2.0

package link

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
	{Name: "core", What: "two engines in memory: time to send and to receive", Measure: func(_ context.Context, o Options) []Row { return coreRows(o.Plan) }},
	{Name: "loss", What: "goodput at frames lost, over a veth pair", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return lossRows(ctx, o.Plan, o.Driver) }},
	{Name: "virtual", What: "the simulated link, on the virtual clock", Measure: func(_ context.Context, o Options) []Row { return virtualRows(o.Plan) }},
	{Name: "failover", What: "one of two cables is lost", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return failoverRows(ctx, o.Plan, o.Driver) }},
	{Name: "long", What: "messages of 66000 B over several MTUs", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []Row { return longRows(ctx, o.Plan, o.Driver) }},
}

// Measure measures the sets. Interrupted, it reports what it has, with ctx's error.
// Nothing is left behind: no namespace, no interface.
func Measure(ctx context.Context, o Options) (*sheet.Report, error) {
	r := &sheet.Report{Name: "link", Title: "The link", Plan: o.Plan, Head: []string{
		fmt.Sprintf("%v; both nodes in one process, GOMAXPROCS %d", station.ThisMachine([2]int{}), runtime.GOMAXPROCS(0)),
		fmt.Sprintf("%d rounds of %v, %d failovers of each kind, %d messages of each simulated flow", o.Plan.Rounds, o.Plan.For, o.Plan.Failovers, o.Plan.Flow),
		"what an idle endpoint takes and costs: " + idle,
	}}
	return r, sheet.Measure(ctx, r, Sets, o.Only, o, o.Progress)
}
