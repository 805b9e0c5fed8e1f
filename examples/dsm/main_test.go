// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/launch"
	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
	"github.com/utipc/utipc/test/tier"
)

// What a program of a test finds in its environment.
const (
	collectEnv = "UTIPC_DSM_COLLECT" // not empty: it collects garbage all the time
	pipeEnv    = "UTIPC_DSM_PIPE"    // a named pipe to open when all ranks have met
)

// limit is when ranks that wait for each other for ever are ended.
const limit = time.Minute

// errAsItShould is how rank 1 of the load quits ends.
var errAsItShould = errors.New("as it should")

// recovers says that an access without a page can be recovered from.
var recovers = true

// isLost says that a program ended for want of a page, as it should.
func isLost(err error) bool {
	return err != nil && (!recovers || strings.Contains(err.Error(), errLost.Error()))
}

// gone is a load whose rank 0 uses pages of rank 1 until that has gone.
func gone(name string, quit bool) load {
	return load{
		kernel.Kernel{Name: name, Ranks: 2, Defaults: kernel.Config{Steps: 1, Size: 8}},
		faultPages,
		func(p *program, c kernel.Config) (r kernel.Result, err error) {
			p.barrier()
			if pipe := os.Getenv(pipeEnv); pipe != "" && p.rank == 0 {
				f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
				if err != nil {
					return r, err
				}
				f.Close()
			}
			if quit && p.rank == 1 {
				return r, errAsItShould
			}
			lower, upper := homes(1, 2, uint32(faultPages(2, c)))
			for {
				for page := lower; page < upper; page++ {
					atomic.AddUint64(&p.words(int(page))[p.rank], 1)
				}
			}
		},
	}
}

// This program is its own pagers and programs.
func TestMain(m *testing.M) {
	loads = append(loads, gone("quits", true), gone("crashes", false))
	if len(os.Args) == 2 && os.Args[1] == rankArg || len(os.Args) == 3 && os.Args[1] == programArg {
		if os.Getenv(collectEnv) != "" {
			go func() {
				for {
					runtime.GC()
				}
			}()
		}
		if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// needFaults skips the test where there is no userfaultfd, or not for this user.
func needFaults(t *testing.T) {
	t.Helper()
	region, err := syscall.Mmap(-1, 0, pageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(region)
	f, err := newFaults(region)
	if err != nil {
		tier.Missing(t, "userfaultfd:", err)
	}
	syscall.Close(f.fd)
}

// places are of ranks in this process, with their nodes on a network in memory, or on the loopback
// interface.
func places(t *testing.T, over string, count int) (all []ranks.Place, c *stacktest.Cluster) {
	t.Helper()
	needFaults(t)
	if over == launch.UTIPC {
		c = stacktest.Config{Node: func(_ int, cfg *stack.Config) { cfg.Tolerance = 2 * time.Second }}.NewCluster(t, count)
	}
	for rank := range count {
		p := ranks.Place{Rank: rank, Ranks: count, Wait: stack.Sleep}
		if c != nil {
			p.Node = c.Node(rank)
		}
		for i := range count {
			p.Hosts = append(p.Hosts, fmt.Sprintf("127.77.%d.%d", os.Getpid()%250+1, i+1))
		}
		all = append(all, p)
	}
	return all, c
}

// attendAll runs all ranks of a load, and returns what each returned.
func attendAll(t *testing.T, name string, all []ranks.Place, c kernel.Config) ([]kernel.Result, []error) {
	t.Helper()
	l, ok := findLoad(name)
	if !ok {
		t.Fatalf("no load is called %s", name)
	}
	if c.Size == 0 {
		c.Size = l.kernel.Defaults.Size
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	results, errs := make([]kernel.Result, len(all)), make([]error, len(all))
	var tasks sync.WaitGroup
	for i, p := range all {
		tasks.Go(func() { results[i], errs[i] = l.attend(ctx, p, c) })
	}
	tasks.Wait()
	return results, errs
}

// Each load checks its own result, over either transport, while the programs collect garbage all
// the time: a program whose world is stopped gets its pages.
//
// Mutations it catches: giveBack sends no data; giveBack does not write-protect before it reads;
// take maps a page that is shared writable; a home grants a write while others have copies.
func TestLoads(t *testing.T) {
	t.Setenv(collectEnv, "1")
	for name, c := range map[string]kernel.Config{
		"read": {Steps: 40, Size: 10}, "write": {Steps: 40, Size: 10}, "matrix": {Steps: 1, Size: 64},
		"queue": {Steps: 10, Size: 4}, "litmus": {Steps: 6},
	} {
		for _, over := range []string{launch.UTIPC, launch.TCP} {
			t.Run(name+"/"+over, func(t *testing.T) {
				count := 2
				if name == "litmus" {
					count = 4
				}
				all, _ := places(t, over, count)
				results, errs := attendAll(t, name, all, c)
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				if r := results[0]; r.Checked == "" || r.Value <= 0 {
					t.Errorf("got %+v", r)
				}
			})
		}
	}
}

// No order is seen that sequential consistency forbids, in many rounds.
//
// Mutation it catches: a home grants a write before the copies are back.
func TestLitmus(t *testing.T) {
	all, _ := places(t, launch.UTIPC, 4)
	steps := 90
	if testing.Short() {
		steps = 30
	}
	results, errs := attendAll(t, "litmus", all, kernel.Config{Steps: steps})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Log(results[0].Checked)
}

// When a program ends early, the others' accesses are errors, and no rank waits.
//
// Mutations it catches: a pager that has lost a rank does not truncate the region; lost does not
// end the pager; do does not recover.
func TestProgramEnds(t *testing.T) {
	for _, over := range []string{launch.UTIPC, launch.TCP} {
		all, _ := places(t, over, 2)
		_, errs := attendAll(t, "quits", all, kernel.Config{Steps: 1})
		if errs[1] == nil || !strings.Contains(errs[1].Error(), errAsItShould.Error()) {
			t.Errorf("%s: rank 1: got %v", over, errs[1])
		}
		if !isLost(errs[0]) {
			t.Errorf("%s: rank 0: got %v, want %v", over, errs[0], errLost)
		}
	}
}

// The same when a node ends without a word.
//
// Mutation it catches: names does not look for ranks that have gone.
func TestNodeCrashes(t *testing.T) {
	all, c := places(t, launch.UTIPC, 2)
	pipe := filepath.Join(t.TempDir(), "met")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pipeEnv, pipe)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	tasks.Go(func() {
		f, err := os.Open(pipe) // until rank 0 opens it
		if err != nil {
			t.Error(err)
			return
		}
		f.Close()
		c.Crash(1)
	})
	_, errs := attendAll(t, "crashes", all, kernel.Config{Steps: 1})
	for rank, err := range errs {
		if !isLost(err) {
			t.Errorf("rank %d: got %v, want %v", rank, err, errLost)
		}
	}
}

// The program as its user runs it: over both transports, in namespaces.
//
// Mutation it catches: compare leaves out a transport.
func TestBoth(t *testing.T) {
	tier.SkipShort(t, "network namespaces")
	needFaults(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-load", "read", "-over", "both", "-rounds", "1", "-steps", "20", "-size", "10"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"read over utipc, 2 ranks", "read over tcp", "wait sleep (", "wait adaptive (", "checked: every page"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}
