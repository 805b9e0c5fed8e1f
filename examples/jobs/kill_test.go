// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

func TestMain(m *testing.M) {
	path := os.Getenv("JOBS_WORKER")
	if path == "" {
		os.Exit(m.Run())
	}
	// A worker that hangs in its third job, if $JOBS_HANGS.
	ctx := context.Background()
	n, err := stack.OpenString(ctx, "attach:"+path)
	did := 0
	if err == nil {
		err = worker(ctx, n, func(job string) (string, error) {
			if did++; did == 3 && os.Getenv("JOBS_HANGS") != "" {
				fmt.Println("hangs")
				select {}
			}
			return square(job)
		})
	}
	fmt.Println(err)
	os.Exit(1)
}

// A worker's process that is killed while it has jobs done, in hand and unread loses none.
//
// Mutations it catches: do does not give out a job again that came back; the node returns nothing
// that was read and not acknowledged, and no call ends with its worker.
//
// Proves: daemon.dies
func TestKilledWorker(t *testing.T) {
	c := stacktest.NewCluster(t, 2)
	srv, err := daemon.New(c.Node(1), daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "utipc.sock")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		srv.Shutdown(ctx, "the test is over")
		<-served
	})
	start := func(hangs string) (*exec.Cmd, *bufio.Scanner) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "JOBS_WORKER="+path, "JOBS_HANGS="+hangs)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		return cmd, bufio.NewScanner(out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	victim, says := start("yes")
	if err := c.Node(0).WaitFor(ctx, service); err != nil {
		t.Fatal(err)
	}
	var queue sync.WaitGroup
	for i := range 20 {
		queue.Go(func() {
			answer, _, err := do(ctx, c.Node(0), strconv.Itoa(i))
			if err != nil || answer != strconv.Itoa(i*i) {
				t.Errorf("job %d: %q, %v", i, answer, err)
			}
		})
	}
	if !says.Scan() || says.Text() != "hangs" {
		t.Fatalf("the worker says %q", says.Text())
	}
	victim.Process.Kill()
	start("")
	queue.Wait()
}
