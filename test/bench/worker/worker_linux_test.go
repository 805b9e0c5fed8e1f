// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
	"github.com/utipc/utipc/test/tier"
)

// role says what a child of this test does in place of tests.
const role = "UTIPC_BENCH_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "worker":
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, worker.OpenLoad); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	case "deaf": // reads nothing, says nothing, and does not end with its input
		<-time.After(time.Hour)
	case "dying":
		os.Stderr.WriteString("out of luck\n")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// start starts a child of this test in a role.
func start(t *testing.T, what string) *worker.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+what)
	p, err := worker.Start(cmd, (*exec.Cmd).Start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestWorker(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	p := start(t, "worker")
	if _, err := run(p, load.Job{}); err == nil || !strings.Contains(err.Error(), "no load is open") {
		t.Errorf("a job before a load: got %v", err)
	}
	if _, err := p.Open(worker.Open{Load: "nothing"}); err == nil {
		t.Error("a load there is not: got no error")
	}
	if _, err := p.Open(worker.Open{Load: worker.TCP, End: 1, Addrs: [2]string{"", "127.71.1.1"}, Wait: "spin"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(worker.Open{Load: worker.Burn}); err == nil || !strings.Contains(err.Error(), "open already") {
		t.Errorf("a second load: got %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("closed: got %v, want a good end", err)
	}
	if _, err := p.Run(load.Job{}); err == nil {
		t.Error("a job after the end: got no error")
	}
}

func run(p *worker.Process, j load.Job) (load.Result, error) {
	c, err := p.Run(j)
	if err != nil {
		return load.Result{}, err
	}
	return c.Result(time.Minute)
}

// A job ends when it is told to, and when it has gone on for too long.
func TestStop(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	p := start(t, "worker")
	if _, err := p.Open(worker.Open{Load: worker.Burn}); err != nil {
		t.Fatal(err)
	}
	c, err := p.Run(load.Job{})
	if err != nil {
		t.Fatal(err)
	}
	c.Stop()
	if r, err := c.Result(time.Minute); err != nil {
		t.Errorf("got %+v, %v, want a result", r, err)
	}
	if c, err = p.Run(load.Job{}); err != nil {
		t.Fatal(err)
	}
	waits, err := p.Run(load.Job{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Result(10 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "not done within") {
		t.Errorf("a job that went on for too long: got %v", err)
	}
	waits.Stop()
	if _, err := waits.Result(time.Minute); err != nil {
		t.Errorf("a job that waited for another: got %v", err)
	}
}

// A worker that does not answer is killed, and one that has died says why.
func TestHungAndDead(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	p := start(t, "deaf")
	c, err := p.Run(load.Job{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Result(time.Millisecond); !errors.Is(err, worker.ErrHung) {
		t.Errorf("got %v, want %v", err, worker.ErrHung)
	}
	waitUntilDead(t, p.PID()) // before anybody closes it
	if err := p.Close(); err == nil {
		t.Error("closed: got a good end of a worker that was killed")
	}
	p = start(t, "dying")
	if _, err := p.Open(worker.Open{Load: worker.Burn}); err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("got %v, want its last words", err)
	}
}

// waitUntilDead waits until a child has ended; nobody has waited for it yet.
func waitUntilDead(t *testing.T, pid int) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-look.C {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(b, []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %d lives", pid)
}

// Serve reports what is no request, and does not stop at a job that runs.
func TestServe(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	var out bytes.Buffer
	if err := worker.Serve(t.Context(), strings.NewReader("{\"id\":1}\nhello\n"), &out, worker.OpenLoad); err == nil {
		t.Error("got no error")
	}
	if got, want := out.String(), `{"id":1,"error":"an empty request"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	in := `{"id":1,"open":{"load":"burn","end":0,"addrs":["",""],"peer":{}}}` + "\n" + `{"id":2,"run":{"kind":"send","round":1,"size":0}}` + "\n"
	if err := worker.Serve(t.Context(), strings.NewReader(in), &out, worker.OpenLoad); err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 2 || !strings.Contains(out.String(), `"result"`) {
		t.Errorf("got %q, want two answers", out.String())
	}
}
