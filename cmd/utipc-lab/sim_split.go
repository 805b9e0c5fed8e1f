// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/sim/split"
)

const simSplitUsage = `utipc-lab sim split: what a node would gain from several engines, each with peers of its own.

    utipc-lab sim split [--short] [--units] [--seed N] [--peers N] [--markdown]

A node has 63 peers and 1, 2, 4 and up to 64 engines. All kinds of messages go both ways, by name,
by multicast and on connections, while names come and go on both sides. A peer belongs to one engine; sockets
and the node's own names are in all of them; the peers' names are in a directory that all use.
Docs/scaling.md tells what follows from it. Each row is a run of the same traffic:

    load              even: each peer has the same part of it; skewed: the peer of rank r in
                      proportion to 1/r. By hash: the engine is a hash of the peer's address; in turn:
                      all engines have as many peers, or one less
    most peers        that one engine has
    units             of work, of all engines and the directory: frames, messages sent and
                      read, and bindings and receivers looked at. The same in every run
    of the busiest    units of the busiest engine
    of the directory  units of the directory: changes of names
    common            the share of all units that every engine does again, or the directory does
    bound             of the speedup with a core for each engine: units of one engine, over
                      those of the busiest and of the directory
    time, ...         the same by processor time, read around each turn of an engine; of the node alone,
                      without devices and system calls

Every message must be read once and in the order of its sockets, and all must know all names. The last
line is "violations: N". The exit status is 1 when N is not 0.

{flags}

    utipc-lab sim split --short
    utipc-lab sim split --units --peers 200
`

func simSplit(_ context.Context, args []string, std cmdline.Stdio) error {
	flags := cmdline.NewFlags("sim split")
	short := flags.Bool("short", false, "little traffic, once; else each run seven times, of which the least time of each engine counts")
	units := flags.Bool("units", false, "no times: the output is the same every time")
	seed := flags.Uint64("seed N", 1, "the seed")
	peers := flags.Int("peers N", 63, "other nodes")
	markdown := flags.Bool("markdown", false, "as a table of docs/explanation/scaling.md")
	if _, err := cmdline.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	if *peers < 1 || *peers > split.MaxPeers {
		return cmdline.UsageError(fmt.Sprintf("--peers is not in 1 to %d", split.MaxPeers))
	}
	size := split.Full
	if *short {
		size = split.Short
	}
	size.Seed, size.Peers = *seed, *peers
	if !*units {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		size.Clock = threadTime
	}
	t := size.Run()
	for i, l := range split.Loads {
		fmt.Fprintf(std.Out, "%s: %s\n", l.Name, t.Reports[i][0].Traffic())
	}
	fmt.Fprintln(std.Out)
	print := printColumns
	if *markdown {
		print = printMarkdown
	}
	print(std.Out, t.Cells())
	fmt.Fprintln(std.Out)
	return violations(t.Findings(), std)
}
