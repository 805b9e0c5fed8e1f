// SPDX-License-Identifier: Apache-2.0

package test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// A runCase is a run of test/run on a module of one package. Tests of that package named Once
// fail the first time and pass from then on; those named Never fail each time; Panics panics
// the first time, and Exits ends the process as if all was well.
type runCase struct {
	name       string
	part       string // --only
	folder     string // of the package
	tests      []string
	quarantine string
	ok         bool
	runs       map[string]int // how often each test ran
	repeated   []string       // what the last lines name
}

// test/run repeats nothing but what test/quarantine names, once, and says so at its end.
//
// Mutations it catches, in test/run: failures that are repeated without a look at the quarantine,
// or at the package in it; a repetition that repeated does not get; a repetition whose result
// is forgotten; judge without defect; kernels that forgets the half beside it, the packages behind
// it, or what of these was repeated; end_beside that returns 0, or forgets what was repeated;
// binary without -test.paniconexit0, or that prints no package; go test that has vet look too.
func TestRun(t *testing.T) {
	tier.SkipShort(t, "a Go module for each of its cases")
	for _, c := range []runCase{
		{
			"in quarantine", "sims", "test/sim",
			[]string{"TestPasses", "TestOnce", "TestOnceMore"},
			"# comment\ntest/sim TestOnce a reason\ntest/sim TestOnceMore a reason\n",
			true,
			map[string]int{"TestPasses": 1, "TestOnce": 2, "TestOnceMore": 2},
			[]string{"TestOnce", "TestOnceMore"},
		},
		{
			"of another package, beside one in quarantine", "sims", "test/sim",
			[]string{"TestOnce", "TestOnceMore"},
			"test/sim TestOnce a reason\ntest/replay TestOnceMore a reason\n", false,
			map[string]int{"TestOnce": 1, "TestOnceMore": 1},
			nil,
		},
		{"fails twice", "sims", "test/sim", []string{"TestNever"}, "test/sim TestNever a reason\n", false, map[string]int{"TestNever": 2}, []string{"TestNever"}},
		{"panics", "sims", "test/sim", []string{"TestPanics"}, "test/sim TestPanics a reason\n", false, map[string]int{"TestPanics": 1}, nil},
		// TestKeys is of the half that runs beside the other.
		{
			"beside kernels", "kernels", "test/interop",
			[]string{"TestKeysOnce", "TestNever"},
			"test/interop TestKeys a reason\n",
			false,
			map[string]int{"TestKeys": 2, "TestNever": 1},
			[]string{"TestKeys"},
		},
		// These run as test binaries.
		{
			"kernels, in quarantine", "kernels", "test/interop",
			[]string{"TestOnce", "TestPasses"},
			"test/interop TestOnce a reason\n",
			true,
			map[string]int{"TestOnce": 2, "TestPasses": 1},
			[]string{"TestOnce"},
		},
		{
			"kernels, panics", "kernels", "test/interop",
			[]string{"TestPanics"},
			"test/interop TestPanics a reason\n",
			false,
			map[string]int{"TestPanics": 1},
			nil,
		},
		// Packages with guests of their own run behind the half, beside the rest of test/interop.
		{
			"behind the half",
			"kernels", "test/software",
			[]string{"TestOnce", "TestPasses"},
			"test/software TestOnce a reason\n",
			true,
			map[string]int{"TestOnce": 2, "TestPasses": 1},
			[]string{"TestOnce"},
		},
		{"behind the half, fails", "kernels", "test/software", []string{"TestNever"}, "", false, map[string]int{"TestNever": 1}, nil},
		{"kernels, exits", "kernels", "test/interop", []string{"TestExits"}, "", false, map[string]int{"TestExits": 1}, nil},
		// What calculates runs beside the kernels, and ends the run as they do.
		{
			"simulation beside kernels", "kernels sims", "test/sim",
			[]string{"TestOnce", "TestPasses"},
			"test/sim TestOnce a reason\n",
			true,
			map[string]int{"TestOnce": 2, "TestPasses": 1},
			[]string{"TestOnce"},
		},
		{"simulation beside kernels, fails", "kernels sims", "test/sim", []string{"TestNever"}, "", false, map[string]int{"TestNever": 1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

func (c runCase) run(t *testing.T) {
	t.Parallel()
	dir, runs := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("test/quarantine", c.quarantine)
	write("go.mod", "module github.com/utipc/utipc\n\ngo 1.24\n")
	// Links, not copies: a program that was just written is busy (ETXTBSY) as long as a process
	// that a case beside this one has forked holds the descriptor it was written through.
	runner, err := filepath.Abs("run")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"run": runner, "apt": "/bin/true"} { // apt installs nothing here
		if err := os.Symlink(to, filepath.Join(dir, "test", name)); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "package %s\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n", filepath.Base(c.folder))
	text.WriteString(`
func unvetted(t *testing.T) { t.Logf("%d", "a number") }

func ran(t *testing.T) (times int64) {
	f, err := os.OpenFile(os.Getenv("RUNS")+"/"+t.Name(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(".")
	times, _ = f.Seek(0, 1)
	f.Close()
	return times
}
`)
	for _, name := range c.tests {
		body := "ran(t)"
		switch {
		case strings.Contains(name, "Once"):
			body = "if ran(t) == 1 { t.Error(\"the first time\") }"
		case strings.Contains(name, "Never"):
			body = "ran(t); t.Error(\"each time\")"
		case strings.Contains(name, "Panics"):
			body = "if ran(t) == 1 { panic(\"the first time\") }"
		case strings.Contains(name, "Exits"):
			body = "ran(t); os.Exit(0)"
		}
		fmt.Fprintf(&text, "\nfunc %s(t *testing.T) { %s }\n", strings.Replace(name, "KeysOnce", "Keys", 1), body)
	}
	write(filepath.Join(c.folder, "x_test.go"), text.String())
	if strings.HasPrefix(c.part, "kernels") && c.folder != "test/interop" {
		write("test/interop/x_test.go", "package interop\n\nimport \"testing\"\n\nfunc TestPasses(*testing.T) {}\n")
	}

	args := []string{"--short"}
	for part := range strings.FieldsSeq(c.part) {
		args = append(args, "--only", part)
	}
	cmd := exec.Command("test/run", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RUNS="+runs, "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); (err == nil) != c.ok || err != nil && !errors.As(err, &exit) {
		t.Errorf("test/run: %v, want passed: %v\n%s", err, c.ok, out)
	}
	for name, want := range c.runs {
		f, err := os.Stat(filepath.Join(runs, name))
		if err != nil || f.Size() != int64(want) {
			t.Errorf("%s ran %v times, want %d (%v)\n%s", name, f, want, err, out)
		}
	}
	last := ""
	if all := strings.Split(string(out), "repeated once, as test/quarantine has it:\n"); len(all) > 1 {
		last = all[len(all)-1] // a run beside kernels has its own
	}
	var repeated []string
	for line := range strings.Lines(last) {
		name, folder, ok := strings.Cut(strings.TrimSpace(line), " in github.com/utipc/utipc/")
		if !ok || folder != c.folder {
			t.Errorf("last lines: %q", line)
		}
		repeated = append(repeated, name)
	}
	if !slices.Equal(repeated, c.repeated) {
		t.Errorf("the last lines name %q, want %q\n%s", repeated, c.repeated, out)
	}
}

// At most five tests stand in quarantine, each exists and has a reason, and none is of
// the packages that have no kernel beside them.
func TestQuarantine(t *testing.T) {
	text, err := os.ReadFile("quarantine")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range quarantineProblems(t, string(text)) {
		t.Error(problem)
	}
	for _, bad := range []string{
		strings.Repeat("test TestRun a reason of five words\n", 6), "daemon TestX a reason of five words\n",
		"stack TestX a reason of five words\n", "stack/engine TestX a reason of five words\n", "attach TestX a reason of five words\n",
		"test TestThatIsNowhere a reason of five words\n", "test TestRun flaky\n",
	} {
		if len(quarantineProblems(t, bad)) == 0 {
			t.Errorf("accepted: %q", bad)
		}
	}
}

func quarantineProblems(t *testing.T, text string) (problems []string) {
	t.Helper()
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	n := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if n++; n > 5 {
			complain("more than five entries")
		}
		if len(words) < 7 {
			complain("%q gives no reason", line)
			continue
		}
		folder, name := words[0], words[1]
		switch top, _, _ := strings.Cut(folder, "/"); top {
		case "daemon", "stack", "attach":
			complain("%q: no test of %s is in quarantine", line, top)
			continue
		}
		found := false
		files, _ := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			found = found || err == nil && strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)")
		}
		if !found {
			complain("%q: %s has no such test", line, folder)
		}
	}
	return problems
}
