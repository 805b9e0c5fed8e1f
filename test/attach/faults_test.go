// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// faultModes are the ways in which the tests are run while calls fail, each with its tests:
// where nodes are those of Open the ones that attach by themselves.
func faultModes(t *testing.T, binary string) []faultMode {
	out, err := exec.Command(binary, "-test.list", attaching).Output()
	if err != nil {
		t.Fatal(err)
	}
	attach := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return slices.Contains(fastTests, name) })
	without := passing(func(d difference) expectation { return d.without })
	return []faultMode{
		{"Open", "", attach},
		{"Attach", "1", without},
		{"Attach, SyncErrors", "sync", passing(func(d difference) expectation { return d.with })},
		{"Attach, Ring", "ring", without},
	}
}

type faultMode struct {
	name, env string
	tests     []string
}

// passing are the tests of the API that pass on attached nodes and do not measure.
func passing(in func(d difference) expectation) (all []string) {
	for _, name := range apiTests {
		listed := func(d difference) bool { return d.test == name && in(d) != passes }
		if !slices.ContainsFunc(differences, listed) && !slices.Contains(fastTests, name) {
			all = append(all, name)
		}
	}
	return all
}

// Every test of the API that passes on attached nodes passes while the system refuses one call
// in eight, locks are taken by others, and looks at shared memory find nothing. The mutation:
// Reply.Send of an attached node does not wait for room.
func TestUnderCallFaults(t *testing.T) {
	t.Parallel()
	binary := buildStack(t)
	modes := faultModes(t, binary)
	seeds := 1
	if os.Getenv("UTIPC_LONG") != "" {
		seeds = 10
	}
	for seed := range seeds {
		results := make([]outcome, len(modes))
		var wg sync.WaitGroup
		for i, m := range modes {
			wg.Go(func() { results[i] = run(binary, m.env, strconv.Itoa(seed+1), m.tests) })
		}
		wg.Wait()
		for i, m := range modes {
			for _, name := range m.tests {
				if got := results[i].verdicts[name]; got != "PASS" && got != "SKIP" {
					t.Errorf("seed %d, %s: %s: got %q\n%s", seed+1, m.name, name, got, results[i].about(name))
				}
			}
		}
	}
}
