// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// Sets are what can be measured.
var Sets = []sheet.Set[Options]{
	{Name: "memory", What: "a network in memory: the node's own work", Measure: func(ctx context.Context, o Options) []sheet.Row {
		return rows(ctx, "memory", o.Plan, memory)
	}},
	{Name: "veth", What: "veth pairs to a bridge: with system calls", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []sheet.Row {
		return rows(ctx, "veth", o.Plan, func() (network, error) { return veth(o.Driver) })
	}},
}

// Measure measures the sets. Interrupted, it reports what it has, with ctx's error.
func Measure(ctx context.Context, o Options) (*sheet.Report, error) {
	r := &sheet.Report{Name: "cores", Title: "Cores", Plan: o.Plan, Head: []string{
		station.ThisMachine([2]int{}).String(),
		fmt.Sprintf("all nodes in one process, GOMAXPROCS %d: the curve ends there, as more goroutines share the cores, which the peers need as well", runtime.GOMAXPROCS(0)),
		fmt.Sprintf("%d rounds of %v for each point", o.Plan.Rounds, o.Plan.For),
	}}
	before := station.ReadUsage(nil)
	err := sheet.Measure(ctx, r, Sets, o.Only, o, o.Progress)
	r.Head = append(r.Head, fmt.Sprintf("others used %.0f %% of the cores meanwhile", 100*station.ReadUsage(nil).Others(before)))
	return r, err
}

// rows measure all points over one network. Rounds go through all points, so that a busy
// minute is not one point's.
func rows(ctx context.Context, set string, p Plan, open func() (network, error)) (rows sheet.Rows) {
	points := p.points()
	err := measure(ctx, p, points, open)
	for _, x := range points {
		r := sheet.Rows(x.rows(set))
		if err != nil {
			r = r.Break(err)
		}
		rows = append(rows, r...)
	}
	return rows
}

func measure(ctx context.Context, p Plan, points []*point, open func() (network, error)) (err error) {
	n, err := open()
	if err != nil {
		return err
	}
	c, err := openCluster(ctx, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var senders []*sender
	for i := range most {
		senders = append(senders, &sender{no: uint64(i), readers: c.readers})
	}
	for no := range mostRounds {
		for _, x := range points {
			if no >= p.Rounds && x.samples.sender >= p.Samples {
				continue
			}
			if err := x.round(ctx, c, senders, p.For); err != nil {
				return fmt.Errorf("%s: %w", x.what(x.goroutines), err)
			}
		}
	}
	return nil
}

// mostRounds are the most of a point.
const mostRounds = 100

// round measures the point once more.
func (p *point) round(ctx context.Context, c *cluster, senders []*sender, d time.Duration) error {
	var file bytes.Buffer
	if err := pprof.StartCPUProfile(&file); err != nil {
		return err
	}
	before := processTime()
	r, err := c.run(ctx, senders, p.shape, p.goroutines, d)
	used := processTime() - before
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	s, err := countSamples(file.Bytes())
	if err != nil {
		return err
	}
	p.rates = append(p.rates, float64(r.messages)/r.took.Seconds())
	p.messages += float64(r.messages)
	p.cpu += used
	p.samples.add(s)
	return nil
}

// processTime is the processor time that this process has had, user and system.
func processTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
