// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
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
	return benchTable(ctx, "bench datapath", datapath.Datapath, "under four minutes", args, std)
}

func benchSockets(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench sockets", datapath.Sockets, "about a minute", args, std)
}

func benchDaemon(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench daemon", datapath.Daemon, "about a minute", args, std)
}

func benchCrypto(ctx context.Context, args []string, std cmdline.Stdio) error {
	return benchTable(ctx, "bench crypto", datapath.Crypto, "some four minutes", args, std)
}

// benchTable measures the rows of a table. long is how long that takes with --short.
func benchTable(ctx context.Context, name string, table datapath.Sheet, long string, args []string, std cmdline.Stdio) error {
	o := datapath.Options{Sheet: table, Plan: datapath.Full, Progress: std.Err}
	f := cmdline.NewFlags(name)
	f.Section("FLAGS OF TABLES")
	short := f.Bool("short", false, "7 rounds of 250ms, "+long+"; else 11 rounds of 1s")
	rounds := f.Int("rounds N", 0, "rounds")
	length := f.Duration("time D", 0, "of one measurement")
	wait := f.Duration("wait D", -1, "how long to wait, in all, for other programs to leave the cores alone before a measurement, and to repeat those they "+
		"disturbed (default 10m, with --short 30s)")
	rows := f.String("rows REGEX", "", "only the rows whose name or text matches; --list prints the names")
	list := f.Bool("list", false, "print the names of the rows and what they measure, and end")
	file := f.String("json FILE", "", "write all results there")
	quiet := f.Bool("quiet", false, "no progress")
	f.IntVar(&o.Nice, "nice N", 0, "priority of all processes measured, TCP's and burners included, -20 to 19. Below 0 they take the cores from whatever "+
		"else runs: for a machine that cannot be quiet")
	f.StringVar(&o.Driver, "driver "+drivers, worker.Auto, driverHelp+"; bare frames use the same")
	f.StringVar(&o.Profile, "pprof DIR", "", "write CPU profiles there, of a further run of the round trip and of the bundled send; go tool pprof -top prints one")
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
	if _, err := cmdline.Parse(cmdline.NewFlags("bench worker"), args, 0, 0); err != nil {
		return err
	}
	return worker.Serve(ctx, std.In, std.Raw(), worker.OpenLoad)
}
