// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/sim/scale"
)

func simMonitor(_ context.Context, args []string, std cmdline.Stdio) error {
	flags := cmdline.NewFlags("sim monitor")
	short := flags.Bool("short", false, "up to 256 nodes, under two minutes; else up to 1000")
	nodes := flags.Int("nodes N", 0, "one cluster of so many")
	kill := flags.Int("kill N", 0, "of which so many die")
	loss := flags.Float64("loss PERCENT", 0, "that loses so many frames of a hundred")
	part := flags.Bool("part", false, "that falls into halves")
	seed := flags.Uint64("seed N", 1, "the first seed")
	markdown := flags.Bool("markdown", false, "as a section of docs/explanation/figures.md")
	if _, err := cmdline.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	switch {
	case *nodes == 0 && (*kill != 0 || *loss != 0 || *part):
		return cmdline.UsageError("--kill, --loss and --part are of one cluster, and need --nodes")
	case *nodes != 0 && (*nodes < 2 || *nodes > scale.MaxNodes):
		return cmdline.UsageError(fmt.Sprintf("--nodes is not in 2 to %d", scale.MaxNodes))
	case *nodes != 0 && (*kill < 0 || *kill >= *nodes):
		return cmdline.UsageError("--kill is not below --nodes")
	case *loss < 0 || *loss > 50:
		return cmdline.UsageError("--loss is not in 0 to 50 per cent")
	case *nodes != 0:
		c := scale.Config{Nodes: *nodes, Seed: *seed, Loss: *loss / 100, Part: *part}
		if *kill > 0 {
			c.Kills = []int{*kill}
		}
		return monitorTables(std, []scale.Report{c.Run()}, *markdown)
	}
	size := scale.Full
	if *short {
		size = scale.Short
	}
	size.Seed = *seed
	var all []scale.Report
	for _, c := range size.Configs() {
		all = append(all, c.Run())
	}
	return monitorTables(std, all, *markdown)
}

// monitorTables prints what came of clusters.
func monitorTables(std cmdline.Stdio, all []scale.Report, markdown bool) error {
	watch, kills := monitorCells(all)
	var lines, found []string
	for _, g := range scale.Grown(all) {
		lines = append(lines, g.String())
		if g.Missed() {
			found = append(found, g.String())
		}
	}
	more := 0
	for i := range all {
		found = append(found, all[i].Findings...)
		more += all[i].Violations - len(all[i].Findings)
	}
	print := printColumns
	if markdown {
		print = printMarkdown
	}
	print(std.Out, watch)
	fmt.Fprintln(std.Out)
	if len(kills) > 1 {
		print(std.Out, kills)
		fmt.Fprintln(std.Out)
	}
	if len(lines) > 0 {
		fmt.Fprintf(std.Out, "%s\n\n", strings.Join(lines, "\n"))
	}
	for range more {
		found = append(found, "and another of that kind")
	}
	return violations(found, std)
}

// monitorCells are both tables, heads first.
func monitorCells(all []scale.Report) (watch, kills [][]string) {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	alone := map[int]scale.Traffic{} // what nodes send without the monitor
	for i := range all {
		if r := &all[i]; r.Config.NoMonitor {
			alone[r.Nodes] = r.Idle
		}
	}
	watch = [][]string{{"nodes", "loss", "contact", "messages", "bytes", "all watch", "peer", "frames", "simulated", "real"}}
	kills = [][]string{{"nodes", "loss", "lost", "first", "half", "99 of 100", "all", "bound", "back"}}
	for i := range all {
		r := &all[i]
		if r.Config.NoMonitor {
			continue
		}
		loss, other := fmt.Sprintf("%g %%", 100*r.Config.Loss), "-"
		if t, ok := alone[r.Nodes]; ok && r.Config.Loss == 0 && !r.Config.Part {
			other = fmt.Sprintf("%.0f/s", t.Messages)
		}
		watch = append(watch, []string{
			fmt.Sprint(r.Nodes), loss, ms(r.Booted), fmt.Sprintf("%.1f/s", r.Idle.Messages), fmt.Sprintf("%.0f/s", r.Idle.Bytes), other,
			fmt.Sprintf("%.0f", r.Memory.Peer), fmt.Sprint(r.Frames), fmt.Sprintf("%.0f s", r.Simulated.Seconds()), fmt.Sprintf("%.1f s", r.Real.Seconds()),
		})
		for _, k := range r.Kills {
			lost := fmt.Sprint(k.Nodes)
			if k.Parted {
				lost = "halves"
			}
			kills = append(kills, []string{
				fmt.Sprint(r.Nodes), loss, lost, ms(k.Min), ms(k.P50), ms(k.P99), ms(k.Max), ms(r.Config.Bound()), ms(k.Rejoined),
			})
		}
	}
	return watch, kills
}

// printMarkdown prints a table as Markdown.
func printMarkdown(out io.Writer, table [][]string) {
	for i, line := range table {
		fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(out, "|---|%s\n", strings.Repeat("---:|", len(line)-1))
		}
	}
}
