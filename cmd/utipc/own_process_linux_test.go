// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// Variables of the environment of processes that tests start of this binary.
const (
	asProgram = "UTIPC_TEST_AS_PROGRAM" // it is utipc: a build of that took longer than the tests that run it
	asTest    = "UTIPC_TEST_AS_TEST"    // it is to run the test of this name
)

// alone is the test for which this process was started, see inOwnProcess.
var alone = os.Getenv(asTest)

// TestMain makes the processes that tests start of this binary utipc itself, unless they have flags
// of tests: those of inOwnProcess, and workers of the fuzzer.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" && (len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "-test.")) {
		main()
	}
	os.Setenv(asProgram, "1")
	os.Unsetenv(asTest)
	tier.AtOnce()
	os.Exit(m.Run())
}

// inOwnProcess runs a test in a process of its own, beside others, and returns there alone: the
// test may count what its process holds. The caller returns where it reports false.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	if alone == t.Name() {
		return true
	}
	t.Parallel()
	args := []string{"-test.v", "-test.count=1", "-test.run", "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), asTest+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" (") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
