// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/report"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// runBench runs utipc in its own process, where start starts it, and returns what it printed.
func runBench(t *testing.T, cmd *exec.Cmd, start func(*exec.Cmd) error) (out, errs string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err = start(cmd); err == nil {
		err = cmd.Wait()
	}
	return o.String(), e.String(), err
}

// readReport reads what --out has written, all of it.
func readReport(t *testing.T, dir string) *figure.Report {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := figure.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"report.html", "report.md"}
	for _, s := range r.Sections {
		for _, g := range s.Figures {
			names = append(names, filepath.Join("plots", g.ID+".svg"))
		}
	}
	for _, name := range names {
		if i, err := os.Stat(filepath.Join(dir, name)); err != nil || i.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	return r
}

// elsewhere are the kinds that package report has tests of.
var elsewhere = []string{"bypass", "copy", "local", "loss", "failover", "scale", "kernels"}

// The report, so short that its figures say nothing: every kind is there, and has measured
// something of every system. With UTIPC_LONG it is all kinds, else those that have no other
// test.
//
// Proves: bench.report
func TestBenchReport(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	dir := t.TempDir()
	var kinds []report.Kind
	var names []string
	for _, k := range report.Kinds {
		if os.Getenv("UTIPC_LONG") != "" || !slices.Contains(elsewhere, k.Name) {
			kinds, names = append(kinds, k), append(names, k.Name)
		}
	}
	out, errs, err := runBench(t, itself("bench", "report", "--tiny", "--wait", "0", "--out", dir, "--only", strings.Join(names, ",")), (*exec.Cmd).Start)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, errs, out)
	}
	r := readReport(t, dir)
	for i, k := range kinds {
		if i >= len(r.Sections) || r.Sections[i].ID != k.Name {
			t.Fatalf("chapter %d: want %s", i, k.Name)
		}
		s := r.Sections[i]
		if len(s.Errors) > 0 {
			t.Errorf("%s: %q", k.Name, s.Errors)
		}
		if len(s.Figures)+len(s.Tables) == 0 {
			t.Errorf("%s: got no figure and no table", k.Name)
		}
		for _, f := range s.Figures {
			if len(f.Series) == 0 {
				t.Errorf("%s, %s: got no curve", k.Name, f.ID)
			}
		}
		for _, g := range s.Tables {
			if len(g.Rows) == 0 {
				t.Errorf("%s, %s: got no row", k.Name, g.ID)
			}
		}
		if !strings.Contains(out, "== "+k.Title+" ==") {
			t.Errorf("%s: not printed", k.Name)
		}
	}
	if len(r.Losses) == 0 {
		t.Error("got no loss: against TCP with offloads there are some")
	}
	for _, l := range r.Losses {
		if l.Reason == "" || l.Times <= 1 {
			t.Errorf("got a loss without a reason, or that is none: %+v", l)
		}
	}

	// And once more from its results.
	again := t.TempDir()
	if _, errs, err := runBench(t, itself("bench", "report", "--from", filepath.Join(dir, "report.json"), "--out", again), (*exec.Cmd).Start); err != nil {
		t.Errorf("%v\n%s", err, errs)
	}
	readReport(t, again)
}

// In memory a measurement needs no privilege.
//
// Proves: bench.report
func TestBenchMemory(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	cmd := itself("bench", "latency", "--memory", "--tiny", "--wait", "0", "--quiet", "--systems", "blocking|asleep$")
	out, errs, err := runBench(t, cmd, (*exec.Cmd).Start)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, errs, out)
	}
	for _, want := range []string{"a network in memory", "1400 B", "NODELAY", "UNIX stream", "UDP", "asleep : "} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q in it", out, want)
		}
	}
}

// Two hosts are two namespaces, one of which serves.
//
// Proves: bench.report
func TestBenchHosts(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	b, err := bed.New(bed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for end, a := range []string{"10.71.1.1", "10.71.1.2"} {
		if err := b.Namespace(end).SetAddress(b.Name(end), netip.MustParseAddr(a)); err != nil {
			t.Fatal(err)
		}
	}
	host := itself("bench", "host", "--if", b.Name(1), "--secret", "open sesame", "--core", "1", "--quiet")
	said, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(1, host); err != nil {
		t.Fatal(err)
	}
	defer func() {
		host.Process.Signal(os.Interrupt)
		if err := host.Wait(); err != nil {
			t.Errorf("the host: %v", err)
		}
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "--host 10.71.1.2:6119 --secret open sesame") {
		t.Fatalf("the host said %q, %v", line, err)
	}
	at := func(secret string) (string, string, error) {
		return runBench(t, itself("bench", "latency", "--tiny", "--wait", "0", "--host", "10.71.1.2:6119", "--secret", secret, "--if", b.Name(0),
			"--systems", "^utipc messages, asleep$|^utipc stream, asleep$|^TCP, blocking$|^UDP, blocking$"),
			func(cmd *exec.Cmd) error { return b.Start(0, cmd) })
	}
	if _, errs, err := at("abracadabra"); err == nil || !strings.Contains(errs, "that is not the secret") {
		t.Errorf("a wrong secret: got %v, %q", err, errs)
	}
	out, errs, err := at("open sesame")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, errs, out)
	}
	for _, want := range []string{"two hosts: " + b.Name(0) + " here, " + b.Name(1) + " there", "1400 B"} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q in it", out, want)
		}
	}
}
