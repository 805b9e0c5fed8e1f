// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// modes are the ways in which the tests are run, by what $UTIPC_TEST_ATTACHED is.
var modes = [3]struct{ name, env string }{{"Open", ""}, {"Attach", "1"}, {"Attach, SyncErrors", "sync"}}

var verdict = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\w+)`)

// run runs tests, and returns what became of each.
func run(binary, mode string, tests ...string) (map[string]string, string) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", "^("+strings.Join(tests, "|")+")$")
	cmd.Dir = filepath.Join("..", "..", "stack")
	cmd.Env = append(os.Environ(), "UTIPC_TEST_ATTACHED="+mode)
	out, _ := cmd.CombinedOutput() // that tests fail is what is looked for
	got := map[string]string{}
	for _, m := range verdict.FindAllStringSubmatch(string(out), -1) {
		got[m[2]] = m[1]
	}
	return got, string(out)
}

// Every test of the API gives the same on nodes from Open and from Attach, but for those
// of the list of differences, which all do differ.
func TestOpenAndAttachDifferAsListed(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "stack.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "./stack")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got [len(modes)]map[string]string
	var said [len(modes)]string
	var wg sync.WaitGroup
	for i, m := range modes {
		wg.Go(func() { got[i], said[i] = run(binary, m.env, apiTests...) })
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
			for i, differs := range []bool{false, d.without, d.with} {
				if differs {
					want[i] = "FAIL"
				}
			}
		}
		var row [len(modes)]string
		for i := range modes {
			row[i] = got[i][name]
		}
		if row[0] == "SKIP" {
			want = [len(modes)]string{"SKIP", "SKIP", "SKIP"}
		}
		for i, m := range modes {
			if row[i] != want[i] { // alone it has the time that others may have taken
				again, what := run(binary, m.env, name)
				row[i], said[i] = again[name], what
			}
		}
		if row[1] != row[0] || row[2] != row[0] {
			t.Logf("%-40s %-8s %-8s %s", name, row[0], row[1], row[2])
		}
		if row != want {
			t.Errorf("%s: got %q, want %q\n%s", name, row, want, about(name, said[:]))
		}
		delete(differ, name)
	}
	for name := range differ {
		t.Errorf("%s is not among the tests of the API", name)
	}
}

// about is what was said about a test where it failed.
func about(name string, said []string) (all string) {
	for i, s := range said {
		if from := strings.Index(s, "=== RUN   "+name+"\n"); from >= 0 {
			part := s[from:]
			if to := strings.Index(part[1:], "\n=== RUN   Test"); to >= 0 && !strings.Contains(part[1:to+1], "panic") {
				part = part[:to+1]
			}
			all += fmt.Sprintf("%s: %.600s\n", modes[i].name, part)
		}
	}
	return all
}
