// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"

	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/bench/worker"
)

func benchLink(ctx context.Context, args []string, std stdio) error {
	o := link.Options{Plan: link.Full, Progress: std.err}
	f := flag.NewFlagSet("bench link", flag.ContinueOnError)
	short := f.Bool("short", false, "")
	markdown := f.Bool("markdown", false, "")
	only := f.String("only", "", "")
	driver := f.String("driver", worker.Auto, "")
	file := f.String("json", "", "")
	quiet := f.Bool("quiet", false, "")
	if _, err := parse(f, args, 0, 0); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, err = io.WriteString(std.out, benchLinkUsage)
		}
		return err
	}
	if *short {
		o.Plan = link.Short
	}
	if *quiet {
		o.Progress = io.Discard
	}
	var ok bool
	if o.Driver, ok = worker.Choice(*driver); !ok {
		return usageError(fmt.Sprintf("no driver is called %q", *driver))
	}
	if *only != "" {
		var err error
		if o.Sets, err = regexp.Compile(*only); err != nil {
			return usageError(err.Error())
		}
	}
	report, err := link.Measure(ctx, o)
	if report == nil {
		return err
	}
	if *markdown {
		report.Markdown(std.out)
	} else {
		report.Write(std.out)
	}
	if *file != "" {
		err = errors.Join(err, writeJSON(*file, report))
	}
	for _, r := range report.Rows {
		if r.Error != "" && err == nil {
			err = errNotMeasured
		}
	}
	return err
}
