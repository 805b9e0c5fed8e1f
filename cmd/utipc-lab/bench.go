// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/utipc/utipc/internal/cmdline"
)

// A bench is a measurement, or a command beside them.
type bench struct {
	name  string
	short string // for the list; empty: it is started by other processes alone
	usage string // what its -h prints
	run   func(ctx context.Context, args []string, std cmdline.Stdio) error
}

// benches are those that stand beside the kinds of the report.
var benches = []bench{
	{"datapath", "a message beside bare frames, the limit, and beside TCP", benchDatapathUsage, benchDatapath},
	{"link", "loss, repetition and failover", benchLinkUsage, benchLink},
	{"names", "look-up, a million bindings, multicast, events", benchNamesUsage, benchNames},
	{"sockets", "kinds of sockets beside each other: connections, groups, active ports", benchSocketsUsage, benchSockets},
	{"crypto", "sealed messages beside plain ones", benchCryptoUsage, benchCrypto},
	{"daemon", "programs of the daemon beside nodes of their own", benchDaemonUsage, benchDaemon},
	{"idle", "how often a node wakes that has nothing to do", benchIdleUsage, benchIdle},
	{"host", "be the other end of a measurement between two hosts", benchHostUsage, benchHost},
	{"worker", "", "", benchWorker},
	{"rank", "", "", benchRank},
}

// allBenches are all that bench has, the report first.
func allBenches() []bench { return append(reportBenches(), benches...) }

var benchCommand = cmdline.Command{
	Name:  "bench",
	Short: "measure this machine: ours beside TCP, others and the limit",
	Usage: benchUsage(),
	Words: []string{benchWords()},
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		if _, err := cmdline.Parse(flag.NewFlagSet("bench", flag.ContinueOnError), args[:min(len(args), 1)], 1, 1); err != nil {
			return err
		}
		all := allBenches()
		i := slices.IndexFunc(all, func(b bench) bool { return b.name == args[0] })
		if i < 0 {
			return cmdline.UsageError(fmt.Sprintf("nothing to measure is called %q", args[0]))
		}
		err := all[i].run(ctx, args[1:], std)
		var h cmdline.HelpError
		if errors.As(err, &h) {
			h.Usage = all[i].usage
			return h
		}
		return err
	},
}

func benchUsage() string {
	var s strings.Builder
	s.WriteString(`utipc-lab bench: measure this machine.

    utipc-lab bench NAME [FLAGS]
    utipc-lab bench NAME -h         what is measured, and how

What this stack is worth beside the systems that people would otherwise use; --short is a
quick look, --out DIR writes a report with plots:

`)
	for _, b := range allBenches() {
		if b.name == benches[0].name {
			s.WriteString("\nWhat its parts cost, beside a target each; --short is a quick look:\n\n")
		}
		if b.short != "" {
			fmt.Fprintf(&s, "    %-16s %s\n", b.name, b.short)
		}
	}
	s.WriteString(`
Most need root, and two cores: they make network namespaces with a veth cable between them,
which are gone when they end. Measure on a quiet machine.

    utipc-lab bench report --short
    utipc-lab bench latency --memory
    utipc-lab bench datapath --short
`)
	return s.String()
}

// benchWords are the names, parted by bars.
func benchWords() string {
	var names []string
	for _, b := range allBenches() {
		if b.short != "" {
			names = append(names, b.name)
		}
	}
	return strings.Join(names, "|")
}
