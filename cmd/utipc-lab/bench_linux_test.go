// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/datapath"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// tiny is a run that only shows that everything works.
var tiny = []string{"bench", "datapath", "--rounds", "2", "--time", "50ms", "--wait", "0"}

// Proves: bench.tables
func TestBenchDatapath(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	file := filepath.Join(t.TempDir(), "results.json")
	var out, errs bytes.Buffer
	cmd := itself(append(tiny, "--only", "^rtt-bare$|^bulk-1500-tcp$", "--json", file)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	mark := fmt.Sprintf("UTIPC_TEST_FAMILY=%d", os.Getpid()) // which its workers inherit
	cmd.Env = append(cmd.Env, mark)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	for _, want := range []string{
		`(?m)^RDM 64 B round trip, spinning, beside bare frames +[\d.]+ us +[\d.]+ us +[\d.]+ +\([\d.]+\.\.[\d.]+\) +<= 1.3  (ok|MISS)$`,
		`(?m)^1400 B messages one way, MTU 1500, beside TCP without offloads +[\d.]+ Gbit/s +[\d.]+ Gbit/s .* >= 0.9  (ok|MISS)$`,
		`\n[012] of 2 targets met\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("got\n%s\nwant %s", &out, want)
		}
	}
	var r struct {
		Rows     sheet.Rows
		Outcomes []rounds.Outcome
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil || len(r.Rows) != 2 || len(r.Outcomes) != 5 {
		t.Errorf("results: got %d rows, %d outcomes, %v, want 2, 5", len(r.Rows), len(r.Outcomes), err)
	}
	for _, o := range r.Outcomes {
		if len(o.Runs) != 2 || o.Error != "" {
			t.Errorf("%s/%s: got %d runs, %q, want 2", o.Set, o.Variant, len(o.Runs), o.Error)
		}
	}
	none(t, mark)
}

// none waits until no process has a word in its environment.
func none(t *testing.T, word string) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(deadline); ; <-look.C {
		left := 0
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(word+"\x00")) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d workers are left", left)
		}
	}
}

// A round in which too little was counted, on a busy machine say, is repeated as a
// longer one.
func TestBenchTooShort(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	cmd := itself("bench", "datapath", "--rounds", "1", "--time", "10us", "--wait", "0", "--only", "^rtt-bare$")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	if !strings.Contains(errs.String(), "round 1 again, longer: no measurement: only ") {
		t.Errorf("got\n%s\nwant a round again", &errs)
	}
	if !regexp.MustCompile(`(?m)^RDM 64 B round trip, spinning, beside bare frames +[\d.]+ us `).MatchString(out.String()) {
		t.Errorf("got\n%s\nwant a round trip", &out)
	}
}

// Interrupted or killed, it leaves nothing behind, and interrupted it says what it
// has.
//
// Proves: bench.tables
func TestBenchEndsEarly(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		var out bytes.Buffer
		cmd := itself("bench", "datapath", "--only", "^rtt-adaptive-tcp$", "--wait", "0")
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children := watch(t, cmd.Process.Pid, 6)
		cmd.Process.Signal(sig)
		err := cmd.Wait()
		children.gone()
		if sig == syscall.SIGKILL {
			continue
		}
		if cmd.ProcessState.ExitCode() != cmdline.Failed || !strings.HasSuffix(out.String(), "    error: interrupted\n0 of 1 targets met\n") {
			t.Errorf("interrupted: got %v, %q", err, out.String())
		}
	}
}

// A family is the children of a process. They live in namespaces that have no name,
// so when they are gone, so are those.
type family struct {
	t    *testing.T
	pids []int
}

// deadline is for processes that begin and end.
const deadline = 2 * time.Minute

// watch waits until a process has so many children, which are in other namespaces
// than this test, and returns them.
func watch(t *testing.T, pid, n int) *family {
	t.Helper()
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(deadline); time.Now().Before(end); <-look.C {
		f := &family{t: t, pids: childrenOf(pid)}
		if len(f.pids) < n {
			continue
		}
		for _, c := range f.pids {
			if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", c)); err == nil && ns == home {
				t.Errorf("worker %d is in the test's own namespace", c)
			}
		}
		return f
	}
	t.Fatalf("process %d has not got %d children", pid, n)
	return nil
}

// childrenOf returns the children of all threads of a process.
func childrenOf(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f) // the thread may have ended
		for _, w := range strings.Fields(string(b)) {
			if c, err := strconv.Atoi(w); err == nil {
				pids = append(pids, c)
			}
		}
	}
	return pids
}

// gone waits until none is left.
func (f *family) gone() {
	f.t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(deadline); ; <-look.C {
		left := 0
		for _, pid := range f.pids {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("%d of %d workers are left: %v", left, len(f.pids), f.pids)
		}
	}
}

func TestBenchMisuse(t *testing.T) {
	for _, args := range [][]string{
		{"bench"},
		{"bench", "sleep"},
		{"bench", "datapath", "now"},
		{"bench", "datapath", "--only", "("},
		{"bench", "datapath", "--driver", "pigeon"},
		{"bench", "datapath", "--rounds", "-1"},
		{"bench", "datapath", "--time", "2h"},
		{"bench", "datapath", "--nice", "20"},
		{"bench", "worker", "--fast"},
	} {
		if out, errs, status := utipcLab(nil, args...); status != cmdline.Misuse || out != "" || !strings.Contains(errs, "shows how") {
			t.Errorf("%q: got %q, %q, status %d, want a usage error", args, out, errs, status)
		}
	}
	if out, errs, status := utipcLab(nil, "bench", "datapath", "--only", "no such row"); status != cmdline.Failed || out != "" || !strings.Contains(errs, "nothing has such a name") {
		t.Errorf("no row: got %q, %q, status %d", out, errs, status)
	}
	out, _, status := utipcLab(nil, "bench", "datapath", "--list")
	if status != cmdline.Done || strings.Count(out, "\n") != len(datapath.Table.Rows)+len(datapath.Table.More) || !strings.Contains(out, "rtt-bare") {
		t.Errorf("--list: got %q, status %d", out, status)
	}
}
