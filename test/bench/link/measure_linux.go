// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"time"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/bench/datapath"
	"github.com/utipc/utipc/xdp"
)

// Options say what is measured and how.
type Options struct {
	Plan     Plan
	Sets     *regexp.Regexp // of those to measure; nil: all
	Driver   xdp.Config     // of interfaces
	Progress io.Writer
}

// A set is rows that are measured together.
type set struct {
	name    string
	world   bool // it needs namespaces
	measure func(ctx context.Context, o Options) []Row
}

var sets = []set{
	{"core", false, func(_ context.Context, o Options) []Row { return coreRows(o.Plan) }},
	{"loss", true, func(ctx context.Context, o Options) []Row { return lossRows(ctx, o.Plan, o.Driver) }},
	{"virtual", false, func(_ context.Context, o Options) []Row { return virtualRows(o.Plan) }},
	{"failover", true, func(ctx context.Context, o Options) []Row { return failoverRows(ctx, o.Plan, o.Driver) }},
	{"long", true, func(ctx context.Context, o Options) []Row { return longRows(ctx, o.Plan, o.Driver) }},
}

// Sets lists the names of what can be measured.
func Sets() (names []string) {
	for _, s := range sets {
		names = append(names, s.name)
	}
	return names
}

// Measure measures the sets. Interrupted, it reports what it has, with ctx's error.
// Nothing is left behind: no namespace, no interface.
func Measure(ctx context.Context, o Options) (*Report, error) {
	var chosen []set
	world := false
	for _, s := range sets {
		if o.Sets == nil || o.Sets.MatchString(s.name) {
			chosen, world = append(chosen, s), world || s.world
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("nothing has such a name")
	}
	if world { // so that a missing right is said once, and at once
		n, err := bed.NewNamespace()
		if err != nil {
			return nil, err
		}
		n.Close()
	}
	m := datapath.ThisMachine([2]int{})
	r := &Report{Plan: o.Plan, Began: time.Now(),
		Machine: fmt.Sprintf("%s, %d cores, %s, %s; both nodes in one process, GOMAXPROCS %d", m.CPU, m.Cores, m.Kernel, m.Go, runtime.GOMAXPROCS(0))}
	for _, s := range chosen {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(o.Progress, "%s\n", s.name)
		r.Rows = append(r.Rows, s.measure(ctx, o)...)
	}
	r.Took = time.Since(r.Began)
	return r, ctx.Err()
}
