// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

var perfCommand = cmdline.Command{
	Name:  "perf",
	Short: "latency and throughput between two programs",
	Usage: `utipc perf: latency and throughput between two programs.

    utipc perf -s [FLAGS] SERVICE
    utipc perf [FLAGS] SERVICE

One program serves under a name (-s) until it is interrupted, 16 others at a time measure
with it; both are programs like others: what they get is what yours would. A line for
each network and size of messages:

    latency      round trips one after the other, in microseconds: half of all were under
                 p50, 90, 99 and 99.9 of a hundred under the next three; and how many a
                 second
    throughput   as fast as the sender may; counted where they arrive: messages and
                 10^6 bytes a second, and messages sent that did not arrive
    cpu%         processor time of the two programs, this one and the server, in parts of
                 the time measured; that of a daemon between them is not in it

{flags}

    utipc perf -s 18888:1                        # here
    utipc perf --network tipcrdm --sizes 64 18888:1   # and on any other node
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var p perf
		f := cmdline.NewFlags("perf")
		p.flags(f)
		h.flags(f)
		rest, err := cmdline.Parse(f, args, 1, 1)
		if err != nil {
			return err
		}
		if err := p.check(rest[0]); err != nil {
			return err
		}
		h.serves = p.serve
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		run := p.client
		if p.serve {
			run = p.server
		}
		return errors.Join(run(ctx, n, std), closeNode(n, finish))
	},
}

// A perf is the flags of the command.
type perf struct {
	serve, json   bool
	network, test string
	sizeList      string
	time, timeout time.Duration

	to       stack.Service
	networks []string
	sizes    []int
}

func (p *perf) flags(f *cmdline.Flags) {
	f.BoolVar(&p.serve, "s", false, "serve")
	f.BoolVar(&p.json, "json", false, "a JSON object on a line for each measurement")
	f.StringVar(&p.network, "network LIST", "tipcrdm,tipcpacket,tipc", "tipcrdm, tipcgram, tipcpacket, tipc, with commas between")
	f.StringVar(&p.sizeList, "sizes LIST", "64,1024,16384,66000", "bytes of a message, 1 to 66000")
	f.StringVar(&p.test, "test latency|throughput|both", "both", "what is measured")
	f.DurationVar(&p.time, "time D", time.Second, "of each measurement, 10ms to 1h")
	f.DurationVar(&p.timeout, "timeout D", 10*time.Second, "how long to wait for the name, and for answers")
}

func (p *perf) check(service string) (err error) {
	if p.to, err = serviceArg(service); err != nil {
		return err
	}
	for s := range strings.SplitSeq(p.network, ",") {
		if err := (socketKind{network: s}).check(); err != nil {
			return err
		}
		p.networks = append(p.networks, s)
	}
	for s := range strings.SplitSeq(p.sizeList, ",") {
		size, err := strconv.Atoi(s)
		if err != nil || size < 1 || size > frame.MaxPayload {
			return cmdline.UsageError(fmt.Sprintf("--sizes: %q is not in 1 to %d", s, frame.MaxPayload))
		}
		p.sizes = append(p.sizes, size)
	}
	switch {
	case p.test != "latency" && p.test != "throughput" && p.test != "both":
		return cmdline.UsageError(fmt.Sprintf("--test %q is not latency, throughput or both", p.test))
	case p.time < leastPerf || p.time > mostPerf:
		return cmdline.UsageError(fmt.Sprintf("--time is not in %v to %v", leastPerf, mostPerf))
	case p.timeout <= 0:
		return cmdline.UsageError("--timeout must be positive")
	}
	return nil
}

// Limits of a measurement.
const (
	leastPerf = 10 * time.Millisecond
	mostPerf  = time.Hour
)

// A perfRow is what was measured.
type perfRow struct {
	Test    string  `json:"test"` // latency or throughput
	Network string  `json:"network"`
	Size    int     `json:"bytes"`
	Seconds float64 `json:"seconds"`

	Trips int     `json:"round_trips,omitempty"`
	P50   float64 `json:"p50_us,omitempty"`
	P90   float64 `json:"p90_us,omitempty"`
	P99   float64 `json:"p99_us,omitempty"`
	P999  float64 `json:"p999_us,omitempty"`
	Max   float64 `json:"max_us,omitempty"`

	Rate  float64 `json:"per_second"` // round trips, or messages that arrived
	Bytes float64 `json:"bytes_per_second"`
	Lost  uint64  `json:"lost,omitempty"` // sent, and did not arrive

	CPU       float64 `json:"cpu_percent"`
	ServerCPU float64 `json:"server_cpu_percent"`
}

const perfHead = "test       network     bytes      p50      p90      p99    p99.9      max      per s     MB/s     lost   cpu%  there"

func (r perfRow) String() string {
	times := fmt.Sprintf("%44s", "")
	if r.Test == "latency" {
		times = fmt.Sprintf("%8.1f %8.1f %8.1f %8.1f %8.1f", r.P50, r.P90, r.P99, r.P999, r.Max)
	}
	return fmt.Sprintf("%-10s %-10s %6d %s %10.0f %8.1f %8d %6.0f %6.0f", r.Test, r.Network, r.Size, times, r.Rate, r.Bytes/1e6, r.Lost, r.CPU, r.ServerCPU)
}

// client measures with whoever serves.
func (p *perf) client(ctx context.Context, n *stack.Node, std cmdline.Stdio) error {
	wait, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if err := n.WaitFor(wait, p.to); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("nobody has bound %v within %v; links: %s", p.to, p.timeout, links(n))
		}
		return err
	}
	if !p.json {
		fmt.Fprintf(std.Out, "node %v to %v, each over %v\n%s\n", n.Addr(), p.to, p.time, perfHead)
	}
	for _, network := range p.networks {
		for _, size := range p.sizes {
			for _, test := range []string{"latency", "throughput"} {
				if p.test != "both" && p.test != test {
					continue
				}
				r, err := p.measure(ctx, n, perfAsk{Test: test, Network: network, Size: size, Time: p.time})
				if ctx.Err() != nil {
					return errors.New("interrupted")
				}
				if err != nil {
					return fmt.Errorf("%s of %d bytes over %s: %w", test, size, network, err)
				}
				if err := p.print(std.Out, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *perf) print(out io.Writer, r perfRow) error {
	if p.json {
		return newEncoder(out).Encode(r)
	}
	_, err := fmt.Fprintln(out, r)
	return err
}
