// SPDX-License-Identifier: Apache-2.0

package manyclients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/worker"
)

// A host is a daemon in a process of its own.
type host struct {
	dir     string
	path    string // of its socket
	program []string
	daemon  *worker.Process
	flooder *worker.Process // nil until flood
}

// openHost starts a daemon: program is the command that calls worker.Serve.
func openHost(ctx context.Context, program []string) (h *host, err error) {
	dir, err := os.MkdirTemp("", "utipc-bench-")
	if err != nil {
		return nil, err
	}
	h = &host{dir: dir, path: filepath.Join(dir, "socket"), program: program}
	if h.daemon, err = h.start(ctx, worker.Open{Load: worker.Daemon, Path: h.path, Wait: "sleep"}); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// start starts a worker with a load.
func (h *host) start(ctx context.Context, o worker.Open) (*worker.Process, error) {
	p, err := worker.Start(exec.CommandContext(ctx, h.program[0], h.program[1:]...), (*exec.Cmd).Start)
	if err != nil {
		return nil, err
	}
	if _, err := p.Open(o); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (h *host) close() error {
	for _, p := range []*worker.Process{h.flooder, h.daemon} {
		if p != nil {
			p.Close() // how it ended was said by its answers
		}
	}
	return os.RemoveAll(h.dir)
}

// attach attaches n programs.
func (h *host) attach(ctx context.Context, n int) (all []*stack.Node, err error) {
	for i := range n {
		p, err := stack.AttachConfig{Program: fmt.Sprint("program ", i)}.Attach(ctx, h.path)
		if err != nil {
			detach(all)
			return nil, fmt.Errorf("program %d: %w", i, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// detach ends programs.
func detach(all []*stack.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, p := range all {
		p.Close(ctx)
	}
}

// memory is what a process has in memory of its own, in bytes.
func memory(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	var size, resident, shared int64
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared); err != nil {
		return 0, err
	}
	return (resident - shared) * int64(os.Getpagesize()), nil
}

// processorTime is what a process has used of the processors, to 10 ms.
func processorTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if !ok || len(f) < 13 {
		return 0, errors.New("manyclients: /proc/PID/stat has fewer fields than 15")
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	const tick = 10 * time.Millisecond // USER_HZ is 100
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// files is how many descriptors this process may have.
func files() int {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return int(min(r.Cur, 1<<30))
}
