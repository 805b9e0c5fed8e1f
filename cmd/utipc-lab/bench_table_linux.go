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
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/worker"
	"github.com/utipc/utipc/xdp"
)

// What the help says of --driver.
const (
	drivers    = "auto|packet|xdp|generic|native"
	driverHelp = "packet is AF_PACKET; xdp, generic and native are AF_XDP, the last two in that mode; auto is what the stack itself would take for the interface"
)

// errNotMeasured means that a row could not be measured, which was said.
var errNotMeasured = errors.New("not everything could be measured")

// A tableBench is a measurement that prints a table, as a command.
type tableBench struct {
	name   string
	short  string // what --short does
	driver string // of interfaces, unless told otherwise; empty: there is no choice
	apart  bool   // the loads are processes of their own, which take turns: package rounds
	// list calls f with all that --only can match, and what it measures.
	list func(f func(name, what string))
	// measure does it. A report with rows is printed, whatever the error.
	measure func(ctx context.Context, o tableOptions) (*sheet.Report, error)
}

// tableOptions are what its flags say.
type tableOptions struct {
	short    bool
	only     *regexp.Regexp // nil: all
	driver   string
	progress io.Writer
	file     string // for results, in JSON
	markdown bool
	list     bool

	// Of loads apart.
	rounds  int           // 0: the plan's
	length  time.Duration // of one measurement; 0: the plan's
	wait    time.Duration // for others to leave the cores alone; negative: the plan's
	nice    int
	profile string
}

func (t tableBench) run(ctx context.Context, args []string, std cmdline.Stdio) error {
	o, err := t.parse(args, std)
	if err != nil {
		return err
	}
	if o.list {
		t.list(func(name, what string) {
			if err == nil {
				_, err = fmt.Fprintf(std.Out, "%-25s %s\n", name, what)
			}
		})
		return err
	}
	report, err := t.measure(ctx, o)
	if report == nil || len(report.Rows) == 0 {
		return err
	}
	if o.markdown {
		report.Markdown(std.Out)
	} else {
		report.Write(std.Out)
	}
	if o.file != "" {
		err = errors.Join(err, writeJSON(o.file, report))
	}
	if err == nil && !report.Rows.Measured() {
		err = errNotMeasured
	}
	return err
}

func (t tableBench) parse(args []string, std cmdline.Stdio) (o tableOptions, err error) {
	o.progress = std.Err
	f := cmdline.NewFlags("bench " + t.name)
	f.Section("FLAGS OF TABLES")
	f.BoolVar(&o.short, "short", false, t.short)
	only := f.String("only REGEX", "", "only what has a name or text that matches; --list prints the names")
	f.BoolVar(&o.list, "list", false, "print the names of what can be measured, and end")
	f.BoolVar(&o.markdown, "markdown", false, "as a section of docs/explanation/figures.md")
	f.StringVar(&o.file, "json FILE", "", "write all results there")
	quiet := f.Bool("quiet", false, "no progress")
	if t.driver != "" {
		f.StringVar(&o.driver, "driver "+drivers, t.driver, driverHelp)
	}
	if t.apart {
		f.IntVar(&o.rounds, "rounds N", 0, "rounds")
		f.DurationVar(&o.length, "time D", 0, "of one measurement")
		f.DurationVar(&o.wait, "wait D", -1, "how long to wait, in all, for other programs to leave the cores alone before a measurement, and to repeat those they "+
			"disturbed (default 10m, with --short 30s)")
		f.IntVar(&o.nice, "nice N", 0, "priority of all processes measured, TCP's and burners included, -20 to 19. Below 0 they take the cores from whatever "+
			"else runs: for a machine that cannot be quiet")
		f.StringVar(&o.profile, "pprof DIR", "", "write CPU profiles there, of a further run of some loads; go tool pprof -top prints one")
	}
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return o, err
	}
	if *quiet {
		o.progress = io.Discard
	}
	return o, o.check(*only)
}

// check refuses what cannot be.
func (o *tableOptions) check(only string) (err error) {
	switch {
	case o.driver != "" && !worker.KnownDriver(o.driver):
		return cmdline.UsageError(fmt.Sprintf("no driver is called %q", o.driver))
	case o.rounds < 0 || o.length < 0 || o.length > time.Minute:
		return cmdline.UsageError("--rounds must be positive, --time as well and at most a minute")
	case o.nice < -20 || o.nice > 19:
		return cmdline.UsageError("--nice is not in -20 to 19")
	case only != "":
		if o.only, err = regexp.Compile(only); err != nil {
			return cmdline.UsageError(err.Error())
		}
	}
	return nil
}

// device is how interfaces are opened by this process.
func (o *tableOptions) device() xdp.Config {
	c, _ := worker.Choice(o.driver)
	return c
}

// apart is the command of a table whose loads are processes of their own. short is how long
// --short takes.
func apart(t *rounds.Table, short string) tableBench {
	return tableBench{
		name: t.Name, driver: worker.Auto, apart: true, list: t.List, short: "7 rounds of 250ms, " + short + "; else 11 rounds of 1s",
		measure: func(ctx context.Context, o tableOptions) (*sheet.Report, error) {
			plan := rounds.Full
			if o.short {
				plan = rounds.Short
			}
			if o.rounds > 0 {
				plan.Rounds = o.rounds
			}
			if o.length > 0 {
				plan.For = o.length
			}
			if o.wait >= 0 {
				plan.Wait = o.wait
			}
			if o.profile != "" {
				if err := os.MkdirAll(o.profile, 0o755); err != nil {
					return nil, err
				}
			}
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			return rounds.Measure(ctx, t, rounds.Options{
				Plan: plan, Only: o.only, Driver: o.driver, Nice: o.nice, Profile: o.profile,
				Program: []string{self, "bench", "worker"}, Progress: o.progress,
			})
		},
	}
}

// listSets lists sets.
func listSets[O any](sets []sheet.Set[O]) func(f func(name, what string)) {
	return func(f func(name, what string)) {
		for _, s := range sets {
			f(s.Name, s.What)
		}
	}
}

func writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
