// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/mpi"
	"github.com/utipc/utipc/test/bench/report"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

const benchReportUsage = `utipc-lab bench report: what this stack is worth on your hardware, beside the systems that people
would otherwise use.

    utipc-lab bench report [--short] [--out DIR] [FLAGS]
    utipc-lab bench KIND [--short] [FLAGS]

Prints curves and tables, and in the end each cell in which TCP is better, with the reason.
Kinds of measurement, each by itself or all of them in turn:

%s
{flags}

    utipc-lab bench report --short --out report
    utipc-lab bench latency
    utipc-lab bench latency --memory
    utipc-lab bench report --only latency,throughput --nice -15
`

// benchReportFlags are what the command line says.
type benchReportFlags struct {
	plan         report.Plan
	site         station.Options
	kinds        []report.Kind
	out, json    string
	from, only   string
	systems      string
	progress     io.Writer
	peers        string
	rounds       int
	length, wait time.Duration
	tiny, short  bool
	quiet        bool
	layouts      string
	mpi          *mpi.Options // nil: it is no measurement of MPI
}

// run measures the kinds, as args say.
func (o benchReportFlags) run(ctx context.Context, name string, args []string, std cmdline.Stdio) error {
	o.progress = std.Err
	if err := o.parse(name, args); err != nil {
		return err
	}
	if o.from != "" {
		f, err := os.Open(o.from)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := figure.Load(f)
		if err != nil {
			return err
		}
		return o.show(r, std)
	}
	r, err := o.measure(ctx, name, args)
	if r == nil {
		return err
	}
	return errors.Join(o.show(r, std), err)
}

// parse reads the flags.
func (o *benchReportFlags) parse(name string, args []string) error {
	f := cmdline.NewFlags("bench " + name)
	f.Section("FLAGS OF THE REPORT")
	f.Text("Two ends are placed\n\n")
	f.Bool("veth", false, "in two network namespaces that it makes, with a veth cable between them (default; needs root and two cores); all are gone when it ends")
	f.BoolVar(&o.site.Memory, "memory", false, "on this host, without privilege: two nodes in one process with a network in memory, beside processes that "+
		"use the loopback interface")
	f.StringVar(&o.site.Host, "host ADDR", "", "on this host and another, where 'utipc-lab bench host' runs and has said this line: --host ADDR --secret "+
		"WORD. IP needs an address on both; root on both")
	f.StringVar(&o.site.Secret, "secret WORD", "", "with --host: what the other host has said")
	f.StringVar(&o.site.Iface, "if IFACE", "", "with --host: this host's interface to there")
	f.Text("\nand measured in turn, round by round, so that what the machine does meanwhile hits all\n" +
		"alike; ratios are medians of the rounds' ratios. Rounds in which others used more than a\n" +
		"quarter of the cores are left out, if enough are left.\n\n")
	f.BoolVar(&o.short, "short", false, "3 rounds of 80ms, fewer sizes: the whole report in under ten minutes; else 5 rounds of 200ms, half an hour")
	f.BoolVar(&o.tiny, "tiny", false, "a round of 10ms: does everything run here? The figures are worth nothing")
	f.IntVar(&o.rounds, "rounds N", 0, "rounds")
	f.DurationVar(&o.length, "time D", 0, "of one measurement, beside burners one and a half times as long")
	f.DurationVar(&o.wait, "wait D", -1, "how long to wait, in all, for other programs to leave the cores alone")
	f.StringVar(&o.only, "only KINDS", "", "of report: these kinds, parted by commas")
	f.StringVar(&o.systems, "systems REGEX", "", "only the systems whose names, as the tables have them, match")
	f.StringVar(&o.out, "out DIR", "", "write report.json (all raw results), report.html (one file), report.md and plots/*.svg there; made if it is not there")
	f.StringVar(&o.from, "from FILE", "", "measure nothing: print, or write to --out, the report.json of a run")
	f.StringVar(&o.json, "json FILE", "", "write all results there")
	f.StringVar(&o.peers, "peers PATH", "", "the program that has gRPC, ZeroMQ and NATS, built of test/bench/peers; else it is built from the checkout in "+
		"which this runs, where Go is at hand")
	f.StringVar(&o.site.Driver, "driver "+drivers, worker.Auto, driverHelp)
	f.IntVar(&o.site.Nice, "nice N", 0, "priority of all processes measured, others' and burners included, -20 to 19. Below 0 they take the cores from "+
		"whatever else runs")
	f.BoolVar(&o.quiet, "quiet", false, "no progress")
	if o.mpi != nil {
		f.StringVar(&o.mpi.NPB, "npb DIR", "", "run the programs of classes S and W of the NAS Parallel Benchmarks there, as cg.S.x or cg.S.2, of the MPI with which they were built")
		f.StringVar(&o.layouts, "layouts REGEX", "", "only the layouts whose titles, as the tables have them, match: '^2 hosts, a rank each, cores idle'")
		f.StringVar(&o.mpi.Library, "library FILE", "", "the preload library; else it is built from the checkout in which this runs, as the programs are")
	}
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	switch {
	case o.rounds < 0 || o.length < 0 || o.length > time.Minute:
		return cmdline.UsageError("--rounds must be positive, --time as well and at most a minute")
	case o.site.Nice < -20 || o.site.Nice > 19:
		return cmdline.UsageError("--nice is not in -20 to 19")
	case o.site.Host != "" && (o.site.Iface == "" || o.site.Secret == "" || o.site.Memory):
		return cmdline.UsageError("--host needs --if and --secret, and excludes --memory")
	case o.tiny && o.short:
		return cmdline.UsageError("--tiny and --short exclude each other")
	}
	if o.layouts != "" {
		var err error
		if o.mpi.Layouts, err = regexp.Compile(o.layouts); err != nil {
			return cmdline.UsageError(err.Error())
		}
	}
	o.plan = report.Full
	if o.short {
		o.plan = report.Short
	}
	if o.tiny {
		o.plan = report.Tiny
	}
	if o.rounds > 0 {
		o.plan.Rounds, o.plan.LoadedRounds = o.rounds, o.rounds
	}
	if o.length > 0 {
		o.plan.For, o.plan.Loaded = o.length, o.length*3/2
	}
	if o.wait >= 0 {
		o.plan.Wait = o.wait
	}
	if o.quiet {
		o.progress = io.Discard
	}
	return o.pick()
}

// pick leaves the kinds that --only names.
func (o *benchReportFlags) pick() error {
	if o.only == "" {
		return nil
	}
	var some []report.Kind
	for _, name := range strings.Split(o.only, ",") {
		i := slices.IndexFunc(o.kinds, func(k report.Kind) bool { return k.Name == name })
		if i < 0 {
			return cmdline.UsageError(fmt.Sprintf("nothing to measure is called %q", name))
		}
		some = append(some, o.kinds[i])
	}
	o.kinds = some
	return nil
}

// measure measures the kinds. Interrupted, it reports what it has, with ctx's error.
func (o *benchReportFlags) measure(ctx context.Context, name string, args []string) (*figure.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &report.Bench{Context: ctx, Plan: o.plan, Program: []string{self, "bench", "worker"}, Peers: o.peers, Progress: o.progress}
	if o.systems != "" {
		if b.Systems, err = regexp.Compile(o.systems); err != nil {
			return nil, cmdline.UsageError(err.Error())
		}
	}
	o.site.Program, o.site.Wait = b.Program, o.plan.Wait
	if slices.ContainsFunc(o.kinds, func(k report.Kind) bool { return k.Ends }) {
		if b.Site, err = station.NewSite(ctx, o.site); err != nil {
			return nil, err
		}
		defer b.Site.Close()
	}
	title := "utipc-lab bench " + name
	r := b.Report(title, o.kinds)
	r.Command, r.Commit = strings.Join(append([]string{"utipc-lab bench", name}, args...), " "), ownCommit()
	return r, ctx.Err()
}

// ownCommit is what this program was built from.
func ownCommit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		commit, changed := "", ""
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", changed"
			}
		}
		if commit != "" {
			return commit + changed
		}
	}
	return "unknown: this build has no record of it (" + cmdline.Version() + ")"
}

// show prints the report and writes what is to be written.
func (o *benchReportFlags) show(r *figure.Report, std cmdline.Stdio) error {
	r.Text(std.Out, terminalWidth(std.Out))
	var err error
	if o.out != "" {
		if err = r.Write(o.out); err == nil {
			fmt.Fprintf(o.progress, "written: %s\n", o.out)
		}
	}
	if o.json != "" {
		err = errors.Join(err, writeJSON(o.json, r))
	}
	for _, s := range r.Sections {
		if len(s.Errors) > 0 && err == nil {
			err = errNotMeasured
		}
	}
	return err
}

// terminalWidth is how many columns there are, where out is a terminal; else 120.
func terminalWidth(io.Writer) int { return 120 }

// kindUsage tells how a kind is measured, or all of the report.
func kindUsage(kinds []report.Kind) string {
	if len(kinds) != 1 {
		return fmt.Sprintf(benchReportUsage, listKinds())
	}
	k, chapter := kinds[0], ""
	if _, ok := report.Find(k.Name); ok {
		chapter = "\nIt is the chapter of this name of 'utipc-lab bench report'.\n"
	}
	return fmt.Sprintf(`utipc-lab bench %s: %s.

    utipc-lab bench %s [--short] [--out DIR] [FLAGS]

%s
%s
{flags}
`, k.Name, kindShort(k), k.Name, k.How, chapter)
}

// kindRun measures kinds.
func kindRun(name string, kinds []report.Kind) func(context.Context, []string, cmdline.Stdio) error {
	return func(ctx context.Context, args []string, std cmdline.Stdio) error {
		return benchReportFlags{kinds: kinds}.run(ctx, name, args, std)
	}
}

// listKinds is a line for each kind.
func listKinds() string {
	var s strings.Builder
	for _, k := range report.Kinds {
		fmt.Fprintf(&s, "    %-16s %s\n", k.Name, kindShort(k))
	}
	return s.String()
}

// kindShort is a kind's title in the middle of a sentence.
func kindShort(k report.Kind) string { return strings.ToLower(k.Title[:1]) + k.Title[1:] }

// reportBenches are the report, and its kinds.
func reportBenches() []*cmdline.Command {
	all := []*cmdline.Command{{Name: "report", Short: "all of these, in turn, and where TCP is better", Usage: kindUsage(report.Kinds), Run: kindRun("report", report.Kinds)}}
	for _, k := range report.Kinds {
		one := []report.Kind{k}
		all = append(all, &cmdline.Command{Name: k.Name, Short: kindShort(k), Usage: kindUsage(one), Run: kindRun(k.Name, one)})
	}
	return append(all, benchMPI())
}

// benchMPI is a kind that the report leaves out: it takes as long as all of that.
func benchMPI() *cmdline.Command {
	k := mpi.Kind(nil)
	return &cmdline.Command{
		Name: k.Name, Short: kindShort(k), Usage: kindUsage([]report.Kind{k}),
		Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
			o := new(mpi.Options)
			return benchReportFlags{kinds: []report.Kind{mpi.Kind(o)}, mpi: o}.run(ctx, k.Name, args, std)
		},
	}
}
