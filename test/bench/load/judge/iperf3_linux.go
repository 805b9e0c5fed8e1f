// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// again is how long a client waits whose server does not listen yet.
const again = 5 * time.Millisecond

// An iperf3End runs iperf3 in every job.
type iperf3End struct {
	c    Config
	path string
}

var _ load.Load = (*iperf3End)(nil)

// OpenIperf3 finds the program, which is asked for TCP alone: UDP it sends as fast as it is
// told to, and finds out nothing. Errors: ErrMissing.
func OpenIperf3(c Config) (load.Load, error) {
	path, err := Find(Iperf3)
	if err != nil {
		return nil, err
	}
	return &iperf3End{c, path}, nil
}

// Info says which version it is.
func (e *iperf3End) Info() load.Info {
	out, _ := exec.Command(e.path, "--version").Output() // without it the first line is empty
	line, _, _ := strings.Cut(string(out), "\n")
	version, _, _ := strings.Cut(line, " (")
	return load.Info{Settings: version + ": one stream, NODELAY, writes of the message's size"}
}

// Close has nothing to do.
func (e *iperf3End) Close() error { return nil }

// Run does one job.
func (e *iperf3End) Run(ctx context.Context, j load.Job) (load.Result, error) {
	switch j.Kind {
	case load.Receive:
		return e.run(ctx, "-s", "-1", "-B", e.c.Addrs[1])
	case load.Send:
		for {
			_, err := e.run(ctx, "-c", e.c.Addrs[1], "-l", strconv.Itoa(j.Size), "-t", strconv.Itoa(wholeSeconds(j.For)), "-N")
			if err == nil || ctx.Err() != nil {
				return load.Result{}, nil
			}
			if !strings.Contains(err.Error(), "Connection refused") {
				return load.Result{}, err
			}
			select { // the server has not begun
			case <-time.After(again):
			case <-ctx.Done():
			}
		}
	}
	return load.Result{}, fmt.Errorf("iperf3 cannot %q", j.Kind)
}

// run runs iperf3 and reads its report, which says what went wrong also when the program
// ends as if all were well.
func (e *iperf3End) run(ctx context.Context, args ...string) (load.Result, error) {
	out, err := exec.CommandContext(ctx, e.path, append(args, "--json")...).Output()
	r, said := parseIperf3(out)
	return r, errors.Join(err, said)
}
