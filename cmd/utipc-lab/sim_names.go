// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/sim"
)

// Clusters that 'utipc-lab sim names' and 'utipc-lab sim connections' run.
const (
	namesSeeds      = 1000
	namesSeedsShort = 50
)

func simNames(_ context.Context, args []string, std cmdline.Stdio) error {
	c, n, err := simClusters("sim names", sim.Cluster{}, args, std)
	if n == 0 {
		return err
	}
	start := time.Now()
	boot := sim.BigBoot(1)
	fmt.Fprintf(std.Out, "%d nodes of %d bindings: all tables equal %v after the first node started; %d frames, %v of this machine's time with all checks and the end\n",
		sim.BootNodes, sim.BootBindings, boot.Booted, boot.Frames, time.Since(start).Round(100*time.Millisecond))
	start = time.Now()
	var all sim.ClusterReport
	for _, r := range sim.Clusters(c, n) {
		all.Add(r)
	}
	fmt.Fprintf(std.Out, "%d clusters with faults, in %v: %s\n", n, time.Since(start).Round(100*time.Millisecond), &all)
	return violations(append(boot.Violations, all.Violations...), std)
}

// simConnections is simNames of clusters whose sockets connect to each other.
func simConnections(_ context.Context, args []string, std cmdline.Stdio) error {
	c, n, err := simClusters("sim connections", sim.Cluster{Connections: true}, args, std)
	if n == 0 {
		return err
	}
	start := time.Now()
	var all sim.ClusterReport
	for _, r := range sim.Clusters(c, n) {
		all.Add(r)
	}
	fmt.Fprintf(std.Out, "%d clusters with faults, in %v: %s\n%s\n", n, time.Since(start).Round(100*time.Millisecond), &all, &all.CallReport)
	return violations(all.Violations, std)
}

// simClusters takes the flags of clusters and returns the first one and how many to run;
// n is 0 when there is nothing more to do.
func simClusters(name string, c sim.Cluster, args []string, std cmdline.Stdio) (first sim.Cluster, n int, err error) {
	flags := cmdline.NewFlags(name)
	short := flags.Bool("short", false, fmt.Sprintf("%d clusters; else %d", namesSeedsShort, namesSeeds))
	seeds := flags.Int("seeds N", 0, "as many clusters")
	seed := flags.Uint64("seed N", 0, "the first seed; without --seeds that one cluster alone, with its hash, which is the same every time")
	trace := flags.String("trace FILE", "", "write every frame and event of it there, a line each")
	if _, err := cmdline.Parse(flags, args, 0, 0); err != nil {
		return c, 0, err
	}
	n = namesSeeds
	if *short {
		n = namesSeedsShort
	}
	c.Seed = max(*seed, 1)
	switch {
	case *seeds < 0:
		return c, 0, cmdline.UsageError("--seeds is below 0")
	case *trace != "" && (*seed == 0 || *seeds > 0):
		return c, 0, cmdline.UsageError("--trace is of one run, and needs a --seed")
	case *seed > 0 && *seeds == 0:
		return c, 0, simOneOfNames(c, *trace, std)
	case *seeds > 0:
		n = *seeds
	}
	return c, n, nil
}

// simOneOfNames runs one cluster, and writes what happens to a file.
func simOneOfNames(c sim.Cluster, trace string, std cmdline.Stdio) error {
	if trace != "" {
		f, err := os.Create(trace)
		if err != nil {
			return err
		}
		defer f.Close()
		c.Trace = f
	}
	r := c.Run()
	fmt.Fprintf(std.Out, "%s\n%s\n", r.Setup, &r)
	if c.Connections {
		fmt.Fprintln(std.Out, &r.CallReport)
	}
	fmt.Fprintf(std.Out, "hash %016x\n", r.Hash)
	return violations(r.Violations, std)
}

// violations prints what did not hold, and the last line.
func violations(all []string, std cmdline.Stdio) error {
	for _, v := range all {
		fmt.Fprintln(std.Err, v)
	}
	fmt.Fprintf(std.Out, "violations: %d\n", len(all))
	if len(all) > 0 {
		return errViolations
	}
	return nil
}
