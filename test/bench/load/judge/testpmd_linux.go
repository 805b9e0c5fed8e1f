// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// leastFrame is the shortest frame that testpmd makes, in bytes.
const leastFrame = 64

// A testpmdEnd runs testpmd in every job: frames one way.
type testpmdEnd struct {
	c      Config
	path   string
	driver string // of DPDK
}

var _ load.Load = (*testpmdEnd)(nil)

// OpenTestpmd finds testpmd, which sends and receives with a driver of DPDK for a Linux interface:
// "af_packet" or "af_xdp". Errors: ErrMissing.
func OpenTestpmd(c Config, driver string) (load.Load, error) {
	if driver != "af_packet" && driver != "af_xdp" {
		return nil, fmt.Errorf("testpmd: %q is not a driver (want af_packet or af_xdp)", driver)
	}
	path, err := Find(Testpmd)
	if err != nil {
		return nil, err
	}
	return &testpmdEnd{c, path, driver}, nil
}

// Info says which version it is.
func (e *testpmdEnd) Info() load.Info {
	out, _ := exec.Command(e.path, "-v", "--no-pci", "--no-huge", "--no-shconf", "--help").CombinedOutput() // without it the version is unknown
	version := "of unknown version"
	for line := range strings.Lines(string(out)) {
		if _, v, ok := strings.Cut(line, "RTE Version: "); ok {
			version = strings.Trim(v, "' \n")
		}
	}
	return load.Info{Settings: version + ": testpmd, net_" + e.driver + ", one queue, both lcores on the end's core"}
}

// Close has nothing to do.
func (e *testpmdEnd) Close() error { return nil }

// Run does one job.
func (e *testpmdEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
	size := max(j.Size, leastFrame)
	m := testpmdMeter{size: size, seconds: wholeSeconds(j.For)}
	switch j.Kind {
	case load.Send:
		return load.Result{}, e.run(ctx, func(string) bool { return false }, "--forward-mode=txonly", "--txpkts="+strconv.Itoa(size))
	case load.Receive:
		err := e.run(ctx, m.line, "--forward-mode=rxonly")
		if err != nil || ctx.Err() != nil {
			return load.Result{}, err
		}
		return m.result()
	}
	return load.Result{}, fmt.Errorf("testpmd cannot %q", j.Kind)
}

// run runs testpmd until enough reports true of a line, or ctx is done.
func (e *testpmdEnd) run(ctx context.Context, enough func(line string) bool, how ...string) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	core := 0
	for !set.IsSet(core) {
		core++
	}
	args := append([]string{
		"--no-pci", "--no-huge", "-m", "256", "--no-telemetry", "--no-shconf",
		"--lcores", fmt.Sprintf("(0-1)@%d", core), "--vdev", fmt.Sprintf("net_%s0,iface=%s", e.driver, e.c.Iface), "--",
		"--total-num-mbufs=4096", "--stats-period", "1", "--no-lsc-interrupt",
	}, how...)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, e.path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) } // so that it takes its program off the interface
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	stopped := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if enough(lines.Text()) {
			stopped = true
			stop()
			break
		}
	}
	io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil && !stopped && ctx.Err() == nil {
		return errors.Join(fmt.Errorf("testpmd: %w", err), errors.New(last(said.Bytes())))
	}
	return nil
}
