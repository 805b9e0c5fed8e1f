// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// A fabricEnd runs a program in every job: at end 1 without an address, so that it serves one
// client, at end 0 with that of end 1.
type fabricEnd struct {
	c       Config
	command []string // the program
	version []string // arguments after which it prints its version
	about   string   // how it measures
	args    func(size int) []string
	env     []string
	parse   func(out []byte, size int) (load.Result, error)
}

var _ load.Load = (*fabricEnd)(nil)

// OpenPingpong finds fi_pingpong, which measures a provider of libfabric: that of UDP for
// datagrams, else that of TCP. Errors: ErrMissing.
func OpenPingpong(c Config) (load.Load, error) {
	path, err := Find(Pingpong)
	if err != nil {
		return nil, err
	}
	provider, endpoint := "tcp", "msg"
	if c.UDP {
		provider, endpoint = "udp", "dgram"
	}
	return &fabricEnd{
		c: c, command: []string{path}, version: []string{"fi_info", "--version"}, parse: parsePingpong,
		about: fmt.Sprintf("fi_pingpong, provider %s, polling, %d round trips, their mean", provider, fabricTrips),
		args: func(size int) []string {
			return []string{"-p", provider, "-e", endpoint, "-S", strconv.Itoa(size), "-I", strconv.Itoa(fabricTrips)}
		},
	}, nil
}

// ownSysfs runs a program with the sysfs of its network namespace, where UCX looks for interfaces.
// Only root can mount it.
var ownSysfs = []string{"unshare", "--mount", "--propagation", "private", "sh", "-c", `mount -t sysfs sysfs /sys && exec "$0" "$@"`}

// OpenPerftest finds ucx_perftest, which measures UCX over TCP: tagged messages, as MPI uses them.
// Errors: ErrMissing.
func OpenPerftest(c Config) (load.Load, error) {
	path, err := Find(Perftest)
	if err != nil {
		return nil, err
	}
	command := []string{path}
	if os.Geteuid() == 0 {
		command = append(slices.Clone(ownSysfs), path)
	}
	return &fabricEnd{
		c: c, command: command, version: []string{"ucx_info", "-v"}, parse: parsePerftest,
		about: fmt.Sprintf("ucx_perftest tag_lat over TCP, polling, %d round trips", fabricTrips),
		env:   []string{"UCX_TLS=tcp", "UCX_WARN_UNUSED_ENV_VARS=n"},
		args: func(size int) []string {
			return []string{"-t", "tag_lat", "-s", strconv.Itoa(size), "-n", strconv.Itoa(fabricTrips), "-w", "1000"}
		},
	}, nil
}

// Info says which version it is.
func (e *fabricEnd) Info() load.Info {
	out, _ := exec.Command(e.version[0], e.version[1:]...).Output() // without it the line is empty
	line, _, _ := strings.Cut(string(out), "\n")
	return load.Info{Settings: strings.TrimLeft(strings.TrimSpace(line), "# ") + ": " + e.about}
}

// Close has nothing to do.
func (e *fabricEnd) Close() error { return nil }

// Run does one job.
func (e *fabricEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
	switch j.Kind {
	case load.Pong:
		if _, err := e.run(ctx, e.args(j.Size)); err != nil && ctx.Err() == nil {
			return load.Result{}, err
		}
		<-ctx.Done()
		return load.Result{}, nil
	case load.Ping:
		for {
			out, err := e.run(ctx, append(e.args(j.Size), e.c.Addrs[1]))
			switch {
			case ctx.Err() != nil:
				return load.Result{}, nil
			case err == nil:
				return e.parse(out, j.Size)
			case !strings.Contains(err.Error(), "onnect"): // the server does not listen yet
				return load.Result{}, err
			}
			select {
			case <-time.After(again):
			case <-ctx.Done():
			}
		}
	}
	return load.Result{}, fmt.Errorf("%s cannot %q", e.about, j.Kind)
}

// run runs the program and returns what it printed, which is in the error, too.
func (e *fabricEnd) run(ctx context.Context, args []string) ([]byte, error) {
	args = append(slices.Clone(e.command), args...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), e.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = errors.Join(fmt.Errorf("%s: %w", e.command[len(e.command)-1], err), errors.New(last(out)))
	}
	return out, err
}
