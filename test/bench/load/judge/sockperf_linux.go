// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/utipc/utipc/test/bench/load"
)

// A sockperfEnd is a server that stays, or runs a client in every job.
type sockperfEnd struct {
	c      Config
	path   string
	server *exec.Cmd     // at end 1
	ended  chan struct{} // closed when the server says no more
}

var _ load.Load = (*sockperfEnd)(nil)

// OpenSockperf finds the program, and starts the server at end 1. Errors: ErrMissing.
func OpenSockperf(ctx context.Context, c Config) (load.Load, error) {
	path, err := Find(Sockperf)
	if err != nil {
		return nil, err
	}
	e := &sockperfEnd{c: c, path: path}
	if c.End == 0 {
		return e, nil
	}
	if err := e.serve(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// serve starts the server and waits until it says that it waits for messages.
func (e *sockperfEnd) serve(ctx context.Context) error {
	server := exec.Command(e.path, e.args("server")...)
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		return err
	}
	e.server, e.ended = server, make(chan struct{})
	ready := make(chan bool, 1)
	go func() {
		defer close(e.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "to block on socket") {
				ready <- true
				break
			}
		}
		io.Copy(io.Discard, out)
	}()
	select {
	case <-ready:
		return nil
	case <-e.ended:
		return errors.New("the sockperf server ended")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// args are what both ends are told.
func (e *sockperfEnd) args(what string, more ...string) []string {
	args := []string{what, "-i", e.c.Addrs[1]}
	if !e.c.UDP {
		args = append(args, "--tcp")
	}
	return append(args, more...)
}

// Info says which version it is.
func (e *sockperfEnd) Info() load.Info {
	out, _ := exec.Command(e.path, "--version").Output() // without it the line is empty
	line, _, _ := strings.Cut(string(out), "\n")
	return load.Info{Settings: strings.TrimSpace(line) + ": ping-pong, blocking, its first 0.4 s not counted"}
}

// Close ends the server.
func (e *sockperfEnd) Close() error {
	if e.server == nil {
		return nil
	}
	e.server.Process.Kill() // its totals are of no use
	<-e.ended
	e.server.Wait()
	return nil
}

// Run does one job.
func (e *sockperfEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
	switch j.Kind {
	case load.Pong:
		<-ctx.Done() // the server answers
		return load.Result{}, nil
	case load.Ping:
		args := e.args("ping-pong", "-m", strconv.Itoa(j.Size), "-t", strconv.Itoa(wholeSeconds(j.For)), "--full-rtt")
		out, err := exec.CommandContext(ctx, e.path, args...).CombinedOutput()
		if ctx.Err() != nil {
			return load.Result{}, nil
		}
		if err != nil {
			return load.Result{}, fmt.Errorf("sockperf: %w: %s", err, out)
		}
		return parseSockperf(out, j.Size)
	}
	return load.Result{}, fmt.Errorf("sockperf cannot %q", j.Kind)
}
