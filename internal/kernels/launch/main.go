// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/utipc/utipc/internal/kernels/kernel"
)

// rankArg is the only argument of a process that is to be a rank.
const rankArg = "rank"

// Main is the main of an example that runs a kernel: it reads the flags, runs, prints what
// was found, and exits with 1 after an error.
func Main(k kernel.Kernel) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, k, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, k kernel.Kernel, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 1 && args[0] == rankArg {
		return Rank(ctx, in, out, func(name string) (kernel.Kernel, bool) { return k, name == k.Name })
	}
	o := Options{Kernel: k}
	f := flag.NewFlagSet(k.Name, flag.ExitOnError)
	f.StringVar(&o.Over, "over", UTIPC, "what carries messages: utipc or tcp")
	f.IntVar(&o.Ranks, "ranks", k.Ranks, fmt.Sprintf("`number` of ranks, %d to %d", k.Ranks, MostRanks))
	f.IntVar(&o.Config.Steps, "steps", k.Defaults.Steps, "`number` of steps that are timed")
	f.IntVar(&o.Config.Size, "size", k.Defaults.Size, "`number` of "+k.SizeOf)
	f.StringVar(&o.Wait, "wait", "adaptive", "how a rank waits: adaptive (looks for 50 µs, then sleeps), spin or sleep")
	f.BoolVar(&o.Burn, "burn", false, "a busy process on each core meanwhile")
	f.IntVar(&o.Nice, "nice", 0, "`priority` of all ranks and burners, -20 (first) to 19")
	line := f.Bool("json", false, "print one line of JSON; durations are nanoseconds")
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "%s: %s.\n\nEach rank is a process of its own: as root in a network namespace, else all on the\nloopback interface.\n\n", k.Name, k.What)
		f.PrintDefaults()
	}
	f.Parse(args)
	if f.NArg() > 0 {
		return fmt.Errorf("%q is no flag", f.Arg(0))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o, err = o.withDefaults()
	if err != nil {
		return err
	}
	s, err := NewSite(o.Ranks, []string{self, rankArg})
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Run(ctx, o)
	if err != nil {
		return err
	}
	if *line {
		return json.NewEncoder(out).Encode(r)
	}
	r.write(out)
	return nil
}

// write prints the report for people.
func (r Report) write(out io.Writer) {
	load := "idle"
	if r.Burn {
		load = "a burner on each core"
	}
	value := fmt.Sprintf("%.0f", r.Value)
	if r.Unit == "s" {
		value = fmt.Sprintf("%.2f us", r.Value*1e6)
	}
	fmt.Fprintf(out, "%s over %s, %d ranks (%s), %s, size %d, wait %s\n", r.Name, r.Over, r.Ranks, r.Where, load, r.Size, r.Wait)
	fmt.Fprintf(out, "%s: %s; of a step p50 %v, p99 %v, max %v; %d steps\n", r.What, value, r.P50, r.P99, r.Max, r.Steps)
	if m := r.Moves; m != nil {
		fmt.Fprintf(out, "%d moves, without answer p50 %v, max %v; %d messages repeated\n", m.Count, m.P50, m.Max, m.Repeated)
	}
	fmt.Fprintf(out, "checked: %s\n", r.Checked)
}
