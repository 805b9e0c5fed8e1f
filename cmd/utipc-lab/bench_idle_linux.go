// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/idle"
)

func benchIdle(ctx context.Context, args []string, std cmdline.Stdio) error {
	f := cmdline.NewFlags("bench idle")
	short := f.Bool("short", false, "2 seconds, after 4 in which the nodes settle; else 30 after 30")
	markdown := f.Bool("markdown", false, "a table for docs/figures.md")
	file := f.String("json FILE", "", "write the rows there, too")
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
