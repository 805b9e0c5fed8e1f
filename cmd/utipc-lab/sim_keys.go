// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/sim/keys"
)

// Clusters that 'utipc-lab sim keys' runs.
const (
	keysSeeds      = 200
	keysSeedsShort = 20
)

func simKeys(_ context.Context, args []string, std cmdline.Stdio) error {
	flags := cmdline.NewFlags("sim keys")
	short := flags.Bool("short", false, fmt.Sprintf("%d clusters, some ten seconds; else %d", keysSeedsShort, keysSeeds))
	seeds := flags.Int("seeds N", 0, "as many clusters")
	seed := flags.Uint64("seed N", 0, "the first seed; without --seeds that one cluster alone, with what is done with keys and what nodes tell")
	if _, err := cmdline.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	n := keysSeeds
	switch {
	case *seeds < 0:
		return cmdline.UsageError("--seeds is below 0")
	case *seeds > 0:
		n = *seeds
	case *seed > 0:
		r := keys.Config{Seed: *seed, Trace: std.Out}.Run()
		fmt.Fprintf(std.Out, "%s\n%s\n", r.Setup, &r)
		return violations(r.Findings, std)
	case *short:
		n = keysSeedsShort
	}
	start := time.Now()
	rows := make([]keys.Report, keys.Kinds)
	var found []string
	for i := range n {
		r := keys.Config{Seed: max(*seed, 1) + uint64(i)}.Run()
		rows[r.Kind].Add(r)
	}
	cells := [][]string{{"keys", "clusters", "sealed", "with keys", "taken", "in use", "changes", "crashes", "meddled", "messages", "read", "simulated"}}
	for k := range rows {
		r := &rows[k]
		found = append(found, r.Findings...)
		cells = append(cells, []string{
			keys.Kind(k).String(), fmt.Sprint(r.Clusters), fmt.Sprint(r.Sealed), fmt.Sprint(r.KeysUsed), fmt.Sprint(r.Taken), fmt.Sprint(r.Switched),
			fmt.Sprint(r.Rekeys + r.Changes), fmt.Sprint(r.Crashes), fmt.Sprint(r.Meddled), fmt.Sprint(r.Messages), fmt.Sprint(r.Read), fmt.Sprintf("%.0f s", r.Simulated.Seconds()),
		})
	}
	printColumns(std.Out, cells)
	fmt.Fprintf(std.Out, "\n%d clusters in %v\n", n, time.Since(start).Round(100*time.Millisecond))
	return violations(found, std)
}
