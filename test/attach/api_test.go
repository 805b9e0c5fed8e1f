// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/test/tier"
)

// modes are the ways in which the tests are run, by what $UTIPC_TEST_ATTACHED is.
var modes = [3]struct{ name, env string }{{"Open", ""}, {"Attach", "1"}, {"Attach, SyncErrors", "sync"}}

var verdict = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\w+)`)

// An outcome is what became of each test, and what was said.
type outcome struct {
	verdicts map[string]string
	said     string
}

// run runs tests in a mode; calls fail by seed, unless that is empty.
func run(binary, mode, seed string, tests []string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", "^("+strings.Join(tests, "|")+")$")
	cmd.Dir = filepath.Join("..", "..", "stack")
	cmd.Env = append(os.Environ(), "UTIPC_TEST_ATTACHED="+mode, callfault.Variable+"="+seed)
	out, _ := cmd.CombinedOutput() // that tests fail is what is looked for
	o := outcome{map[string]string{}, string(out)}
	for _, m := range verdict.FindAllStringSubmatch(o.said, -1) {
		o.verdicts[m[2]] = m[1]
	}
	return o
}

// buildStack builds the tests of package stack.
func buildStack(t *testing.T) (binary string) {
	t.Helper()
	tier.SkipShort(t, "a build of the tests of stack, and runs of them")
	binary = filepath.Join(t.TempDir(), "stack.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "./stack")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// Every test of the API gives the same on nodes from Open and from Attach, but for those
// of the list of differences, which do differ, unless the list says that either may be.
//
// Proves: daemon.api
func TestOpenAndAttachDifferAsListed(t *testing.T) {
	t.Parallel()
	binary := buildStack(t)
	var got [len(modes)]outcome
	var wg sync.WaitGroup
	for i, m := range modes {
		wg.Go(func() { got[i] = run(binary, m.env, "", apiTests) })
	}
	wg.Wait()
	differ := map[string]difference{}
	for _, d := range differences {
		differ[d.test] = d
	}
	t.Logf("%-40s %-8s %-8s %s", "of the API, differing", modes[0].name, modes[1].name, modes[2].name)
	for _, name := range apiTests {
		d, listed := differ[name]
		want := [len(modes)]string{"PASS", "PASS", "PASS"}
		if listed {
			for i, expected := range []expectation{passes, d.without, d.with} {
				if expected == fails || expected == either && got[i].verdicts[name] == "FAIL" {
					want[i] = "FAIL"
				}
			}
		}
		var row [len(modes)]string
		for i := range modes {
			row[i] = got[i].verdicts[name]
		}
		if row[0] == "SKIP" {
			want = [len(modes)]string{"SKIP", "SKIP", "SKIP"}
		}
		if row[1] != row[0] || row[2] != row[0] {
			t.Logf("%-40s %-8s %-8s %s", name, row[0], row[1], row[2])
		}
		if row != want {
			t.Errorf("%s: got %q, want %q", name, row, want)
			for i, m := range modes {
				if row[i] != want[i] {
					t.Errorf("%s: %s", m.name, got[i].about(name))
				}
			}
		}
		delete(differ, name)
	}
	for name := range differ {
		t.Errorf("%s is not among the tests of the API", name)
	}
}

// speaker is whose words follow in what a test binary prints, as tests run beside each other.
var speaker = regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\w+)`)

// about is what was said about a test where it failed.
func (o *outcome) about(name string) string {
	var whole strings.Builder
	speaks := ""
	for line := range strings.Lines(o.said) {
		if m := speaker.FindStringSubmatch(line); m != nil {
			speaks = m[1]
		}
		if strings.HasPrefix(line, "panic: ") {
			speaks = name // whoever it was: no test goes on after it
		}
		if speaks == name {
			whole.WriteString(line)
		}
	}
	if whole.Len() == 0 {
		return "it was not run: " + o.said[max(0, len(o.said)-2000):]
	}
	return whole.String()[:min(whole.Len(), 2000)]
}

// Mutations it catches: about does not follow NAME lines; it ends at the first line of another test.
func TestAbout(t *testing.T) {
	o := outcome{said: "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== CONT  TestA\n a1\n=== NAME  TestB\n b1\n=== NAME  TestA/sub\n a2\n"}
	if got, want := o.about("TestA"), "=== RUN   TestA\n=== PAUSE TestA\n=== CONT  TestA\n a1\n=== NAME  TestA/sub\n a2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
