// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/datapath"
	"github.com/utipc/utipc/test/bench/worker"
)

// errNotMeasured means that a row could not be measured, which was said.
var errNotMeasured = errors.New("not everything could be measured")

func benchDatapath(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench datapath", datapath.Datapath, args, std)
}

func benchSockets(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench sockets", datapath.Sockets, args, std)
}

func benchDaemon(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench daemon", datapath.Daemon, args, std)
}

func benchCrypto(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench crypto", datapath.Crypto, args, std)
}

// benchTable measures the rows of a table.
func benchTable(ctx context.Context, name string, table datapath.Sheet, args []string, std cmdline.Stdio) error {
	o := datapath.Options{Sheet: table, Plan: datapath.Full, Progress: std.Err}
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	short := f.Bool("short", false, "")
	rounds := f.Int("rounds", 0, "")
	length := f.Duration("time", 0, "")
	wait := f.Duration("wait", -1, "")
	rows := f.String("rows", "", "")
	list := f.Bool("list", false, "")
	file := f.String("json", "", "")
	quiet := f.Bool("quiet", false, "")
	f.IntVar(&o.Nice, "nice", 0, "")
	f.StringVar(&o.Driver, "driver", worker.Auto, "")
	f.StringVar(&o.Profile, "pprof", "", "")
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	if *list {
		return listRows(std.Out, table)
	}
	if *short {
		o.Plan = datapath.Short
	}
	if *rounds < 0 || *length < 0 || *length > time.Minute {
		return cmdline.UsageError("--rounds must be positive, --time as well and at most a minute")
	}
	if o.Nice < -20 || o.Nice > 19 {
		return cmdline.UsageError("--nice is not in -20 to 19")
	}
	if *rounds > 0 {
		o.Plan.Rounds = *rounds
	}
	if *length > 0 {
		o.Plan.For = *length
	}
	if *wait >= 0 {
		o.Plan.Wait = *wait
	}
	if *quiet {
		o.Progress = io.Discard
	}
	if !worker.KnownDriver(o.Driver) {
		return cmdline.UsageError(fmt.Sprintf("no driver is called %q", o.Driver))
	}
	if *rows != "" {
		var err error
		if o.Rows, err = regexp.Compile(*rows); err != nil {
			return cmdline.UsageError(err.Error())
		}
	}
	if o.Profile != "" {
		if err := os.MkdirAll(o.Profile, 0o755); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Program = []string{self, "bench", "worker"}
	report, err := datapath.Measure(ctx, o)
	if report == nil {
		return err
	}
	report.Write(std.Out)
	if *file != "" {
		err = errors.Join(err, writeJSON(*file, report))
	}
	for _, l := range report.Lines {
		if l.Error != "" && err == nil {
			err = errNotMeasured
		}
	}
	return err
}

func listRows(out io.Writer, table datapath.Sheet) error {
	line := func(id, what string) error {
		_, err := fmt.Fprintf(out, "%-25s %s\n", id, what)
		return err
	}
	for _, r := range table.Rows() {
		if err := line(r.ID, r.What); err != nil {
			return err
		}
	}
	for _, s := range table.More {
		if err := line(s.ID, s.What); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}

// benchWorker is one end of a measurement; its parent talks to it.
func benchWorker(ctx context.Context, args []string, std cmdline.Stdio) error {
	if _, err := cmdline.Parse(flag.NewFlagSet("bench worker", flag.ContinueOnError), args, 0, 0); err != nil {
		return err
	}
	return worker.Serve(ctx, std.In, std.Raw(), worker.OpenLoad)
}
