// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
)

// programArg is the first argument of a process that is to be a rank's program, the second is its
// spec.
const programArg = "program"

// threads is of a pager: one reads faults, one frames, and each may be in a system call.
const threads = 4

// A spec tells a program what it is to be.
type spec struct {
	Load   string        `json:"load"`
	Rank   int           `json:"rank"`
	Ranks  int           `json:"ranks"`
	Config kernel.Config `json:"config"`
}

// attend is a rank: this process is its pager, and starts its program.
func (l load) attend(ctx context.Context, p ranks.Place, c kernel.Config) (r kernel.Result, err error) {
	runtime.GOMAXPROCS(max(threads, runtime.GOMAXPROCS(0)))
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	what, err := json.Marshal(spec{l.kernel.Name, p.Rank, p.Ranks, c})
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self, programArg, string(what))
	size := l.pages(p.Ranks, c) * pageSize
	err = attend(ctx, cmd, size, p, func(said []byte) error { return json.Unmarshal(said, &r) })
	return r, err
}

// attend runs a program and serves its faults, until all ranks' programs have ended. ended gets
// what the program wrote.
func attend(ctx context.Context, cmd *exec.Cmd, size int, place ranks.Place, ended func(said []byte) error) (err error) {
	fd, err := unix.MemfdCreate("dsm", unix.MFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "dsm")
	defer file.Close()
	if err := file.Truncate(int64(size)); err != nil {
		return err
	}
	region, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	defer unix.Munmap(region)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "control")

	var said, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &said, &stderr, []*os.File{theirs, file}
	// A program whose pager has ended has pages of zeros. Its parent is a thread, hence this one stays.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	finish := func() error {
		err := cmd.Wait()
		if err != nil {
			err = fmt.Errorf("rank %d: %w: %s", place.Rank, err, bytes.TrimSpace(stderr.Bytes()))
		}
		return err
	}
	f, err := receiveFaults(pair[0], size)
	if err != nil {
		cmd.Process.Kill()
		return errors.Join(err, finish())
	}
	defer unix.Close(f.fd)
	t, err := newTransport(ctx, place, uint32(size/pageSize))
	if err != nil {
		cmd.Process.Kill()
		return errors.Join(err, finish())
	}
	p := newPager(place.Rank, place.Ranks, t, f, region, fd)
	defer p.fail(net.ErrClosed) // a recall that is put off does nothing any more
	stop, end, err := os.Pipe()
	if err != nil {
		cmd.Process.Kill()
		t.close()
		return errors.Join(err, finish())
	}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer stop.Close()
	defer end.Close()
	defer t.close()
	tasks.Go(func() { p.serve(int(stop.Fd())) })
	tasks.Go(func() { t.run(p.receive, p.lost) })
	_, err = unix.Write(pair[0], []byte{1})
	if err = errors.Join(err, finish()); err == nil {
		err = ended(said.Bytes())
	}
	if err != nil {
		return errors.Join(p.cause(), err)
	}
	p.programEnded()
	select {
	case <-p.finished:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return p.cause()
}

// newTransport waits for all ranks.
func newTransport(ctx context.Context, p ranks.Place, pages uint32) (transport, error) {
	if p.Node != nil {
		return newNames(ctx, p, pages)
	}
	return newStreams(ctx, p, pages)
}

// runProgram is a program's process.
func runProgram(text string) error {
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	l, ok := findLoad(s.Load)
	if !ok {
		return fmt.Errorf("no load is called %q", s.Load)
	}
	m, err := openMemory()
	if err != nil {
		return err
	}
	var r kernel.Result
	err = m.do(func() (err error) {
		r, err = l.run(&program{memory: m, rank: s.Rank, ranks: s.Ranks}, s.Config)
		return err
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
