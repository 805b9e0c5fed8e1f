// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/idle"
)

func benchIdle(ctx context.Context, args []string, std cmdline.Stdio) error {
	f := flag.NewFlagSet("bench idle", flag.ContinueOnError)
	short := f.Bool("short", false, "")
	markdown := f.Bool("markdown", false, "")
	file := f.String("json", "", "")
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	o := idle.Options{Settle: 30 * time.Second, For: 30 * time.Second}
	if *short {
		o = idle.Options{Settle: 4 * time.Second, For: 2 * time.Second}
	}
	samples, err := idle.Measure(ctx, o)
	if err != nil {
		return err
	}
	rows := idle.Rows(samples)
	if *markdown {
		rows.Markdown(std.Out)
	} else {
		rows.Write(std.Out)
	}
	if *file != "" {
		err = errors.Join(err, writeJSON(*file, rows))
	}
	if err == nil && !rows.Measured() {
		err = errNotMeasured
	}
	return err
}
