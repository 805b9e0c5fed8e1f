// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/bench/worker"
)

func benchLink(ctx context.Context, args []string, std cmdline.Stdio) error {
	return sheetBench{
		"link", worker.Auto, "5 rounds of 300ms and 4 failovers of each kind, under 90 seconds; else 7 rounds of 1s and 8 failovers",
		"core, loss, virtual, failover, long", func(o sheetOptions) (sheetReport, error) {
			plan := link.Full
			if o.short {
				plan = link.Short
			}
			r, err := link.Measure(ctx, link.Options{Plan: plan, Sets: o.only, Driver: o.driver, Progress: o.progress})
			if r == nil {
				return nil, err
			}
			return r, err
		},
	}.run(args, std)
}
