// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/internal/cmdline"
)

// benches are the measurements beyond the report and its chapters. Those without a text are
// started by other processes alone.
var benches = []*cmdline.Command{
	{Name: "datapath", Short: "a message beside bare frames, the limit, and beside TCP", Usage: benchDatapathUsage, Run: benchDatapath},
	{Name: "targets", Short: "what the short path is to reach, of all these tables", Usage: benchTargetsUsage, Run: benchTargets},
	{Name: "link", Short: "loss, repetition and failover", Usage: benchLinkUsage, Run: benchLink},
	{Name: "names", Short: "look-up, a million bindings, multicast, events", Usage: benchNamesUsage, Run: benchNames},
	{Name: "sockets", Short: "kinds of sockets beside each other: connections, groups, active ports", Usage: benchSocketsUsage, Run: benchSockets},
	{Name: "crypto", Short: "sealed messages beside plain ones", Usage: benchCryptoUsage, Run: benchCrypto},
	{Name: "daemon", Short: "programs of the daemon beside nodes of their own", Usage: benchDaemonUsage, Run: benchDaemon},
	{Name: "cores", Short: "several goroutines that send at once, and how long the node's lock is held", Usage: benchCoresUsage, Run: benchCores},
	{Name: "idle", Short: "how often a node wakes that has nothing to do", Usage: benchIdleUsage, Run: benchIdle},
	{Name: "host", Short: "be the other end of a measurement between two hosts", Usage: benchHostUsage, Run: benchHost},
	{Name: "worker", Run: benchWorker},
	{Name: "rank", Run: benchRank},
}

var benchCommand = cmdline.Command{
	Name:     "bench",
	Short:    "measure this machine: ours beside TCP, others and the limit",
	Usage:    benchUsage(),
	Commands: append(reportBenches(), benches...),
}

func benchUsage() string {
	var s strings.Builder
	s.WriteString(`utipc-lab bench: measure this machine.

    utipc-lab bench NAME [FLAGS]
    utipc-lab bench NAME -h         what is measured, and how

What this stack is worth beside the systems that people would otherwise use; --short is a
quick look, --out DIR writes a report with plots:

`)
	for _, b := range append(reportBenches(), benches...) {
		if b.Name == benches[0].Name {
			s.WriteString("\nWhat its parts cost, beside a target each; --short is a quick look:\n\n")
		}
		if b.Short != "" {
			fmt.Fprintf(&s, "    %-16s %s\n", b.Name, b.Short)
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
