// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/cores"
	"github.com/utipc/utipc/test/bench/daemon"
	"github.com/utipc/utipc/test/bench/daemon/idle"
	"github.com/utipc/utipc/test/bench/datapath"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/bench/names"
	"github.com/utipc/utipc/test/bench/sealed"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/sockets"
	"github.com/utipc/utipc/test/bench/targets"
	"github.com/utipc/utipc/test/bench/worker"
)

func benchDatapath(ctx context.Context, args []string, std cmdline.Stdio) error {
	return apart(&datapath.Table, "under four minutes").run(ctx, args, std)
}

func benchTargets(ctx context.Context, args []string, std cmdline.Stdio) error {
	return apart(&targets.Table, "under three minutes").run(ctx, args, std)
}

func benchSockets(ctx context.Context, args []string, std cmdline.Stdio) error {
	return apart(&sockets.Table, "about a minute").run(ctx, args, std)
}

func benchDaemon(ctx context.Context, args []string, std cmdline.Stdio) error {
	return apart(&daemon.Table, "about a minute").run(ctx, args, std)
}

func benchCrypto(ctx context.Context, args []string, std cmdline.Stdio) error {
	return apart(&sealed.Table, "some four minutes").run(ctx, args, std)
}

func benchLink(ctx context.Context, args []string, std cmdline.Stdio) error {
	return tableBench{
		name: "link", driver: worker.Auto, list: listSets(link.Sets),
		short: "5 rounds of 300ms and 4 failovers of each kind, under 90 seconds; else 7 rounds of 1s and 8 failovers",
		measure: func(ctx context.Context, o tableOptions) (*sheet.Report, error) {
			plan := link.Full
			if o.short {
				plan = link.Short
			}
			return link.Measure(ctx, link.Options{Plan: plan, Only: o.only, Driver: o.device(), Progress: o.progress})
		},
	}.run(ctx, args, std)
}

func benchNames(ctx context.Context, args []string, std cmdline.Stdio) error {
	return tableBench{
		name: "names", driver: worker.Packet, list: listSets(names.Sets),
		short: "fewer and shorter rounds, three ways of a million bindings, two deaths: under a minute; else some three",
		measure: func(ctx context.Context, o tableOptions) (*sheet.Report, error) {
			plan := names.Full
			if o.short {
				plan = names.Short
			}
			return names.Measure(ctx, names.Options{Plan: plan, Only: o.only, Driver: o.device(), Progress: o.progress})
		},
	}.run(ctx, args, std)
}

func benchCores(ctx context.Context, args []string, std cmdline.Stdio) error {
	return tableBench{
		name: "cores", driver: worker.Packet, list: listSets(cores.Sets),
		short: "1, 2 and 8 goroutines, rounds of 200ms until there are 20 samples, some 20 seconds; else 1 to 8, at least 5 rounds of 500ms and 200 samples, some five minutes",
		measure: func(ctx context.Context, o tableOptions) (*sheet.Report, error) {
			plan := cores.Full
			if o.short {
				plan = cores.Short
			}
			return cores.Measure(ctx, cores.Options{Plan: plan, Only: o.only, Driver: o.device(), Progress: o.progress})
		},
	}.run(ctx, args, std)
}

func benchIdle(ctx context.Context, args []string, std cmdline.Stdio) error {
	return tableBench{
		name: "idle", list: listSets(idle.Sets), short: "2 seconds, after 4 in which the nodes settle; else 30 after 30",
		measure: func(ctx context.Context, o tableOptions) (*sheet.Report, error) {
			x := idle.Options{Settle: 30 * time.Second, For: 30 * time.Second}
			if o.short {
				x = idle.Options{Settle: 4 * time.Second, For: 2 * time.Second}
			}
			return idle.Report(ctx, x, o.only, o.progress)
		},
	}.run(ctx, args, std)
}

// benchWorker is one end of a measurement; its parent talks to it.
func benchWorker(ctx context.Context, args []string, std cmdline.Stdio) error {
	if _, err := cmdline.Parse(cmdline.NewFlags("bench worker"), args, 0, 0); err != nil {
		return err
	}
	return worker.Serve(ctx, std.In, std.Raw(), worker.OpenLoad)
}
