// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/worker"
	"github.com/utipc/utipc/xdp"
)

// A sheetReport is what a measurement with one value and one target a row has found.
type sheetReport interface {
	Write(w io.Writer)
	Markdown(w io.Writer)
	Measured() bool
}

// A sheetBench is such a measurement, as a command.
type sheetBench struct {
	name   string
	driver string // unless told otherwise
	// measure does it. A report that is not nil is printed, whatever the error.
	measure func(o sheetOptions) (sheetReport, error)
}

// sheetOptions are what its flags say.
type sheetOptions struct {
	short    bool
	only     *regexp.Regexp // nil: all
	driver   xdp.Config
	progress io.Writer
}

func (s sheetBench) run(args []string, std cmdline.Stdio) error {
	o := sheetOptions{progress: std.Err}
	f := flag.NewFlagSet("bench "+s.name, flag.ContinueOnError)
	f.BoolVar(&o.short, "short", false, "")
	markdown := f.Bool("markdown", false, "")
	only := f.String("only", "", "")
	driver := f.String("driver", s.driver, "")
	file := f.String("json", "", "")
	quiet := f.Bool("quiet", false, "")
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	if *quiet {
		o.progress = io.Discard
	}
	var ok bool
	if o.driver, ok = worker.Choice(*driver); !ok {
		return cmdline.UsageError(fmt.Sprintf("no driver is called %q", *driver))
	}
	if *only != "" {
		var err error
		if o.only, err = regexp.Compile(*only); err != nil {
			return cmdline.UsageError(err.Error())
		}
	}
	report, err := s.measure(o)
	if report == nil {
		return err
	}
	if *markdown {
		report.Markdown(std.Out)
	} else {
		report.Write(std.Out)
	}
	if *file != "" {
		err = errors.Join(err, writeJSON(*file, report))
	}
	if err == nil && !report.Measured() {
		err = errNotMeasured
	}
	return err
}
