// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/sim"
)

// errViolations means that something did not hold that always must, which was printed.
var errViolations = errors.New("there are violations")

func simReport(_ context.Context, args []string, std cmdline.Stdio) error {
	flags := cmdline.NewFlags("sim report")
	short := flags.Bool("short", false, "under a minute; else about three minutes")
	seeds := flags.Int("seeds N", 0, "clusters of each row")
	seed := flags.Uint64("seed N", 0, "the first seed (default 1)")
	steps := flags.Uint64("steps N", 0, "run one cluster of its seed, faults and all, print what came of it, and end it after so many turns of nodes; 0: "+
		"when it is over")
	trace := flags.String("trace FILE", "", "with --seed: write every frame sent there, as pcapng on the virtual clock, with an interface for each network")
	markdown := flags.Bool("markdown", false, "the whole of docs/explanation/simulation.md")
	if _, err := cmdline.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	one := *steps > 0 || *trace != ""
	switch {
	case one && *seed == 0:
		return cmdline.UsageError("--steps and --trace need a --seed")
	case one && (*short || *markdown || *seeds != 0):
		return cmdline.UsageError("--steps and --trace are of one run")
	case *seeds < 0:
		return cmdline.UsageError("--seeds is below 0")
	case one:
		return simOne(std.Out, sim.Config{Seed: *seed, Steps: *steps}, *trace)
	}
	size := sim.Full
	if *short {
		size = sim.Short
	}
	if *seeds > 0 {
		size.Seeds = *seeds
	}
	size.First = *seed
	t := simTables{size.Table(sim.Rows()), size.TableOfGoodput()}
	if *markdown {
		t.markdown(std.Out)
	} else {
		t.text(std.Out)
	}
	n := t.violations(std.Err)
	if !*markdown {
		fmt.Fprintf(std.Out, "violations: %d\n", n)
	}
	if n > 0 {
		return errViolations
	}
	return nil
}

// simOne runs one cluster, and writes what it sends to a file.
func simOne(out io.Writer, c sim.Config, trace string) (err error) {
	if trace != "" {
		f, err := os.Create(trace)
		if err != nil {
			return err
		}
		defer f.Close()
		c.Capture = f
	}
	r := sim.Run(c)
	fmt.Fprintf(out, "%s\n%s\n", r.Faults, &r)
	for _, v := range r.Violations {
		fmt.Fprintln(out, v)
	}
	fmt.Fprintf(out, "hash %016x\nviolations: %d\n", r.Hash, len(r.Violations))
	switch {
	case r.CaptureError != nil:
		return r.CaptureError
	case len(r.Violations) > 0:
		return errViolations
	}
	return nil
}
