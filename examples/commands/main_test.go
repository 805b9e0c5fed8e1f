// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// program has this test's binary be the program.
const program = "UTIPC_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is the program at one node, with the number of times that it was killed.
type process struct {
	killed int
	err    error
}

// start starts the program as node i of 3, in a folder, and again each time that it is killed with SIGKILL. Its end in another way is sent.
// The file i.pid has its process's number before it begins.
func start(t *testing.T, dir string, i int, args string) <-chan process {
	var places []string
	for j := range 3 {
		if j != i {
			places = append(places, address(j))
		}
	}
	ended := make(chan process, 1)
	go func() {
		var p process
		for {
			c := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf("echo $$ > %d.pid; exec %s %s", i, os.Args[0], args))
			c.Dir = dir
			c.Env = append(os.Environ(), program+"=1", fmt.Sprintf("UTIPC_NODE=udp:%s,%s?node=1.1.%d&tolerance=3s", address(i), strings.Join(places, ","), i+1))
			c.Stderr = os.Stderr
			p.err = c.Run()
			if c.ProcessState == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || t.Context().Err() != nil {
				break
			}
			p.killed++
		}
		ended <- p
	}()
	return ended
}

// address is where node i is: no two runs of this test have the same.
func address(i int) string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 128+pid>>14&63, pid>>6&255, pid&63<<2|i+1)
}

// Jobs of which one kills its worker and one kills the queue are all done, and each stands once in the file.
//
// Mutation it catches: a job whose call fails is given up; a queue that starts again begins with an empty file.
//
// Proves: stacktest.examples
func TestKill(t *testing.T) {
	dir := t.TempDir()
	jobs, want := "mkdir a 2>/dev/null && kill -9 $PPID; echo 0\nmkdir b 2>/dev/null && kill -9 $(cat 0.pid); echo 1\n", map[string]bool{}
	for i := range 20 {
		if i > 1 {
			jobs += fmt.Sprintf("echo %d\n", i)
		}
		want[fmt.Sprintf("%d %q", i, fmt.Sprintf("%d\n<nil>", i))] = true
	}
	if err := os.WriteFile(filepath.Join(dir, "jobs"), []byte(jobs), 0o644); err != nil {
		t.Fatal(err)
	}
	queue, workers := start(t, dir, 0, "queue jobs done"), []<-chan process{start(t, dir, 1, "work"), start(t, dir, 2, "work")}
	if p := <-queue; p.killed != 1 || p.err != nil {
		t.Errorf("the queue was killed %d times, want once; ended with %v", p.killed, p.err)
	}
	killed := 0
	for i, w := range workers {
		var pid int
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i+1, ".pid"))); err != nil {
			t.Fatal(err)
		} else if _, err := fmt.Sscan(string(b), &pid); err != nil {
			t.Fatal(err)
		}
		syscall.Kill(pid, syscall.SIGTERM) // which ends one that has not begun yet too
		killed += (<-w).killed
	}
	if killed != 1 {
		t.Errorf("workers were killed %d times, want once", killed)
	}
	done, err := os.ReadFile(filepath.Join(dir, "done"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.Trim(string(done), "\n"), "\n\n", "\n"), "\n")
	for _, l := range lines {
		if !want[l] {
			t.Errorf("done has %s, which is no result or was there before", l)
		}
		delete(want, l)
	}
	if len(want) > 0 {
		t.Errorf("done lacks %v", want)
	}
}

// A worker that is to end does what it has been given, and takes no more.
//
// Mutation it catches: the worker closes its socket when it is to end; or keeps its name.
//
// Proves: stacktest.examples
func TestWorkerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		ended, answers := make(chan error, 1), make(chan error, 3)
		go func() {
			ended <- worker(ctx, c.Node(0), func(job string) []byte {
				<-time.After(time.Minute)
				return []byte(job)
			})
		}()
		if err := c.Node(1).WaitFor(t.Context(), work); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			go func() {
				_, _, err := c.Node(1).Call(t.Context(), work, []byte("job"), make([]byte, 10))
				answers <- err
			}()
		}
		<-time.After(time.Second)
		cancel()
		<-time.After(time.Second)
		if _, _, err := c.Node(1).Call(t.Context(), work, []byte("job"), nil); !errors.Is(err, stack.ErrNoName) {
			t.Errorf("a worker that ends is sent a job: %v", err)
		}
		for range 3 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if err := <-ended; err != nil {
			t.Errorf("the worker ended with %v", err)
		}
	})
}
