// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/sim"
)

// One run is the same every time, and its wire is a capture that can be read.
//
// Proves: link.simulated
func TestSimRepeatsOneRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "1.pcapng")
	args := []string{"sim", "report", "--seed", "1", "--steps", "3000"}
	first, errs, status := utipcLab(nil, append(args, "--trace", file)...)
	if status != cmdline.Done || errs != "" || lastLine(t, first) != "violations: 0" {
		t.Fatalf("got status %d, %q, %q", status, errs, first)
	}
	if again, _, _ := utipcLab(nil, args...); again != first {
		t.Errorf("got %q, then %q", first, again)
	}
	frames, err := layers.ReadFile(file)
	if err != nil || len(frames) < 100 {
		t.Fatalf("got %d frames, %v, want 100 and more", len(frames), err)
	}
	for i, f := range frames {
		if _, b, err := layers.Unwrap(f.Data); err != nil || b == nil || i > 0 && f.Time.Before(frames[i-1].Time) {
			t.Fatalf("frame %d at %v: got %v, want TIPC, in order", i+1, f.Time, err)
		}
	}
}

// Proves: link.simulated
func TestSimMisuse(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"other"},
		{"report", "more"},
		{"report", "--steps", "3"},
		{"report", "--trace", "x"},
		{"report", "--seed", "1", "--steps", "3", "--short"},
		{"report", "--seeds", "-1"},
		{"names", "more"},
		{"names", "--seeds", "-1"},
		{"names", "--trace", "x"},
		{"names", "--seed", "1", "--seeds", "2", "--trace", "x"},
		{"connections", "more"},
		{"connections", "--seeds", "-1"},
		{"connections", "--trace", "x"},
		{"keys", "more"},
		{"keys", "--seeds", "-1"},
		{"split", "more"},
		{"split", "--peers", "0"},
		{"split", "--peers", "256"},
	} {
		if _, errs, status := utipcLab(nil, append([]string{"sim"}, args...)...); status != cmdline.Misuse {
			t.Errorf("%q: got status %d, %q, want %d", args, status, errs, cmdline.Misuse)
		}
	}
}

// The document is what the command prints, but for its numbers.
//
// Proves: link.simulated
func TestSimDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/explanation/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for _, r := range sim.Rows() {
		if !strings.Contains(doc, "\n| "+r.Name+" |") {
			t.Errorf("docs/explanation/simulation.md has no row %q; 'utipc-lab sim report --markdown' writes it", r.Name)
		}
	}
	if !strings.HasPrefix(doc, simHead) || !strings.Contains(doc, simGoodput) {
		t.Error("docs/explanation/simulation.md is of another version; 'utipc-lab sim report --markdown' writes it")
	}
}

// Violations make the command fail, and links that go down where none may are some.
//
// Proves: link.simulated
func TestSimCountsViolations(t *testing.T) {
	var r sim.Result
	r.NoReset = true
	r.Clusters.Resets, r.Clusters.Left = 7, 4
	r.Flow.Lost, r.Flow.Resets = 2, 1
	if n := (simTables{rows: []sim.Result{r}}).violations(new(strings.Builder)); n != 6 {
		t.Errorf("got %d violations, want 6", n)
	}
}

// One cluster is the same every time, and other than that of another seed.
//
// Proves: names.simulated
func TestSimNamesRepeatsOneRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	first, errs, status := utipcLab(nil, "sim", "names", "--seed", "3", "--trace", file)
	if status != cmdline.Done || errs != "" || lastLine(t, first) != "violations: 0" {
		t.Fatalf("got status %d, %q, %q", status, errs, first)
	}
	if again, _, _ := utipcLab(nil, "sim", "names", "--seed", "3"); again != first {
		t.Errorf("got %q, then %q", first, again)
	}
	if other, _, _ := utipcLab(nil, "sim", "names", "--seed", "4"); other == first {
		t.Errorf("seeds 3 and 4: got %q of both", first)
	}
	if b, err := os.ReadFile(file); err != nil || strings.Count(string(b), "\n") < 1000 {
		t.Errorf("the trace: got %d bytes, %v, want a thousand lines and more", len(b), err)
	}
}

// What does not hold is counted and printed, and makes the command fail.
func TestSimNamesCountsViolations(t *testing.T) {
	var out, errs strings.Builder
	err := violations([]string{"tables, seed 1", "events, seed 2"}, cmdline.Stdio{Out: &out, Err: &errs})
	if err != errViolations || out.String() != "violations: 2\n" || errs.String() != "tables, seed 1\nevents, seed 2\n" {
		t.Errorf("got %v, %q, %q", err, &out, &errs)
	}
}

// One cluster with keys is the same every time.
//
// Proves: keys.simulated
func TestSimKeysRepeatsOneRun(t *testing.T) {
	first, errs, status := utipcLab(nil, "sim", "keys", "--seed", "2")
	if status != cmdline.Done || errs != "" || lastLine(t, first) != "violations: 0" {
		t.Fatalf("got status %d, %q, %q", status, errs, first)
	}
	if again, _, _ := utipcLab(nil, "sim", "keys", "--seed", "2"); again != first {
		t.Errorf("got %q, then %q", first, again)
	}
}

// The units of work are the same every time; times come on top, and nothing is violated.
//
// Mutations it catches: --units has a clock as well; the cells are those of the first load alone.
//
// Proves: bench.split
func TestSimSplit(t *testing.T) {
	args := []string{"sim", "split", "--short", "--peers", "6"}
	first, errs, status := utipcLab(nil, append(args, "--units")...)
	if status != cmdline.Done || errs != "" || lastLine(t, first) != "violations: 0" {
		t.Fatalf("got status %d, %q, %q", status, errs, first)
	}
	if again, _, _ := utipcLab(nil, append(args, "--units")...); again != first {
		t.Errorf("got %q, then %q", first, again)
	}
	timed, _, status := utipcLab(nil, append(args, "--markdown")...)
	if status != cmdline.Done || strings.Count(timed, " ms |") != 3*4*7 || strings.Contains(first, " ms") {
		t.Errorf("got status %d, %q, want three times in each of 28 rows, and none in %q", status, timed, first)
	}
}
