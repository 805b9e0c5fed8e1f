// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Dsm is distributed shared memory: programs on several nodes have one region of memory, and a page
// comes when a program touches it. It is sequentially consistent, by the MSI protocol.
//
//	go run ./examples/dsm -load matrix -over utipc
//	go run ./examples/dsm -load read -over both
//
// Each page has a home, which knows who has copies. A home binds the numbers of its pages as names,
// and a fault sends a message to the name that is the page's number:
//
//	program ──fault (userfaultfd)──► its pager ──want──► 18920:page, the home
//	                                    ▲                  │ recall: from who has it
//	         page, by UFFDIO_COPY ──────┴──────grant───────┘
//
// A rank is two processes, the pager and the program; pager.go says why. Over TCP each pager has a
// connection to each other and a table of homes. When a rank has gone, each access of the others'
// programs is an error. It needs root, or vm.unprivileged_userfaultfd=1, and Linux 5.19.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/launch"
)

// rankArg is the only argument of a process that is to be a pager.
const rankArg = "rank"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 1 && args[0] == rankArg {
		return launch.Rank(ctx, os.Stdin, out, findKernel)
	}
	if len(args) == 2 && args[0] == programArg {
		return runProgram(args[1])
	}
	var o launch.Options
	f := flag.NewFlagSet("dsm", flag.ContinueOnError)
	var known []string
	for _, l := range loads {
		known = append(known, l.kernel.Name)
	}
	name := f.String("load", "matrix", "what the programs do: "+strings.Join(known, ", "))
	f.StringVar(&o.Over, "over", launch.UTIPC, "what carries pages: utipc, tcp, or both in turn, and their ratio")
	f.StringVar(&o.Wait, "wait", "adaptive", "how a pager waits: adaptive, spin or sleep; over TCP sleep is Go's package net as it comes")
	rounds := f.Int("rounds", 5, "`number` of runs over each, with -over both")
	f.IntVar(&o.Ranks, "ranks", 0, "`number` of ranks; 0: the load's")
	f.IntVar(&o.Config.Steps, "steps", 0, "`number` of steps that are timed; 0: the load's")
	f.IntVar(&o.Config.Size, "size", 0, "size, in what the load counts; 0: the load's")
	f.IntVar(&o.Nice, "nice", 0, "`priority` of all processes, -20 (first) to 19")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	k, ok := findKernel(*name)
	if !ok || f.NArg() > 0 {
		return fmt.Errorf("dsm: want a load of %s, and flags", strings.Join(known, ", "))
	}
	o.Kernel = k
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := launch.NewSite(max(o.Ranks, k.Ranks), []string{self, rankArg})
	if err != nil {
		return err
	}
	defer s.Close()
	if o.Over == "both" {
		return compare(ctx, s, o, *rounds, out)
	}
	r, err := s.Run(ctx, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, line(r))
	return err
}

func findKernel(name string) (kernel.Kernel, bool) {
	l, ok := findLoad(name)
	k := l.kernel
	k.Run = l.attend
	return k, ok
}

func line(r launch.Report) string {
	return fmt.Sprintf("%s over %s, %d ranks (%s), wait %s: %s %s; p50 %v, p99 %v, max %v of %d; checked: %s",
		r.Name, r.Over, r.Ranks, r.Where, r.Wait, r.What, value(r), r.P50, r.P99, r.Max, r.Steps, r.Checked)
}

func value(r launch.Report) string {
	if r.Unit == "s" {
		return fmt.Sprintf("%.1f us", r.Value*1e6)
	}
	return fmt.Sprintf("%.0f", r.Value)
}

// compare runs the load over this stack, and over TCP as Go's package net waits and as the stack
// does, in turn. A ratio is of the medians over all rounds of the steps' medians.
func compare(ctx context.Context, s *launch.Site, o launch.Options, rounds int, out io.Writer) error {
	ways := []struct{ over, wait string }{{launch.UTIPC, o.Wait}, {launch.TCP, "sleep"}, {launch.TCP, "adaptive"}}
	took := make([][]float64, len(ways))
	for range rounds {
		for i, w := range ways {
			o.Over, o.Wait = w.over, w.wait
			r, err := s.Run(ctx, o)
			if err != nil {
				return fmt.Errorf("over %s: %w", w.over, err)
			}
			fmt.Fprintln(out, line(r))
			took[i] = append(took[i], r.P50.Seconds())
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	median := func(i int) float64 { return took[i][len(took[i])/2] }
	for i, w := range ways[1:] {
		fmt.Fprintf(out, "a step over utipc takes %.2f of its time over TCP, wait %s (%.1f us, %.1f us)\n", median(0)/median(i+1), w.wait, median(0)*1e6, median(i+1)*1e6)
	}
	return nil
}
