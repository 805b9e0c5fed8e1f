// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the test binary be utipc-lab itself, in another process.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// asProgram names the environment variable for TestMain.
const asProgram = "UTIPC_TEST_AS_PROGRAM"

// itself is a command that runs utipc-lab in another process.
func itself(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// utipcLab runs the program in this process.
func utipcLab(stdin io.Reader, args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, stdin, &out, &err)
	return out.String(), err.String(), status
}

// lastLine returns the last of the lines, each of which must be ended.
func lastLine(t *testing.T, out string) string {
	t.Helper()
	lines := strings.Split(out, "\n")
	if len(lines) < 2 || lines[len(lines)-1] != "" {
		t.Fatalf("got %q, want whole lines", out)
	}
	return lines[len(lines)-2]
}
