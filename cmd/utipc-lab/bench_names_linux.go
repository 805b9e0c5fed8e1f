// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/names"
	"github.com/utipc/utipc/test/bench/worker"
)

func benchNames(ctx context.Context, args []string, std cmdline.Stdio) error {
	return sheetBench{
		"names", worker.Packet, "fewer and shorter rounds, three ways of a million bindings, two deaths: under a minute; else some three",
		"table, million, multicast, bind, events, dead", func(o sheetOptions) (sheetReport, error) {
			plan := names.Full
			if o.short {
				plan = names.Short
			}
			r, err := names.Measure(ctx, names.Options{Plan: plan, Sets: o.only, Driver: o.driver, Progress: o.progress})
			if r == nil {
				return nil, err
			}
			return r, err
		},
	}.run(args, std)
}
