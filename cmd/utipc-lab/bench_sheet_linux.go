// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
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

// What the help says of --driver.
const (
	drivers    = "auto|packet|xdp|generic|native"
	driverHelp = "packet is AF_PACKET; xdp, generic and native are AF_XDP, the last two in that mode; auto is what the stack itself would take for the interface"
)

// A sheetBench is such a measurement, as a command.
type sheetBench struct {
	name   string
	driver string // unless told otherwise
	short  string // what --short does
	sets   string // what --only can match
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
	f := cmdline.NewFlags("bench " + s.name)
	f.BoolVar(&o.short, "short", false, s.short)
	markdown := f.Bool("markdown", false, "as a section of docs/figures.md")
	only := f.String("only REGEX", "", "only what matches: "+s.sets)
	driver := f.String("driver "+drivers, s.driver, driverHelp)
	file := f.String("json FILE", "", "write all results there")
	quiet := f.Bool("quiet", false, "no progress")
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
