// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// On a machine that has none of the tools yet, Go says on standard error what it downloads: that is
// no finding of a linter. What the linters print, and files that they cannot read, are.
//
// Mutations it catches, in test/lint: silent takes standard error for output; silent does not look
// at the output; silent does not look at the status.
func TestLintOnNewMachine(t *testing.T) {
	tier.SkipShort(t, "a Git repository of its own")
	dir := t.TempDir()
	lint, err := filepath.Abs("lint")
	check(t, err)
	for _, d := range []string{"test", "bin"} {
		check(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	check(t, os.Symlink(lint, filepath.Join(dir, "test/lint")))
	check(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n"), 0o644))
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		tool string // what stands for the go command does
		ok   bool
	}{
		{"echo 'go: downloading x' >&2", true},
		{"echo x.go", false},
		{"exit 1", false},
	} {
		script := fmt.Sprintf("#!/bin/sh\n%s\n", c.tool)
		check(t, os.WriteFile(filepath.Join(dir, "bin/go"), []byte(script), 0o755))
		cmd := exec.Command("test/lint", "gofumpt", "gocyclo")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if got := strings.Count(string(out), " passed\n"); c.ok != (err == nil) || c.ok != (got == 2) || !c.ok && got != 0 {
			t.Errorf("%s: %v, %d steps passed, want passed: %v\n%s", c.tool, err, got, c.ok, out)
		}
	}
}
