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

// What only Linux, amd64 or an int of 64 bits has is not used without a file for the others.
//
// Mutations it catches, in test/lint: elsewhere leaves out any of its systems; elsewhere forgets
// that one has failed.
func TestLintElsewhere(t *testing.T) {
	tier.SkipShort(t, "a Go module for each of its cases")
	lint, err := filepath.Abs("lint")
	check(t, err)
	for _, c := range []struct {
		name  string
		files map[string]string
		ok    bool
	}{
		{"for all", map[string]string{"stack/x.go": "", "x.go": "var _ = y", "y_linux.go": "var y = 1", "y_other.go": "//go:build !linux\n\nvar y = 2"}, true},
		{"Linux alone", map[string]string{"x.go": "var _ = y", "y_linux.go": "var y = 1"}, false},
		{"not on arm64 with Linux", map[string]string{"x.go": "var _ = y", "y.go": "//go:build !linux || !arm64\n\nvar y = 1"}, false},
		{"not on Windows", map[string]string{"x.go": "", "stack/x.go": "var _ = y", "stack/y.go": "//go:build !windows\n\nvar y = 1"}, false},
		{"an int of 64 bits", map[string]string{"x.go": "var _ int = 1 << 40"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			check(t, os.Mkdir(filepath.Join(dir, "test"), 0o755))
			check(t, os.Mkdir(filepath.Join(dir, "stack"), 0o755))
			check(t, os.Symlink(lint, filepath.Join(dir, "test/lint")))
			check(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.24\n"), 0o644))
			for name, text := range c.files {
				tag, code, tagged := strings.Cut(text, "\n\n")
				if !tagged {
					tag, code = "", text
				}
				check(t, os.WriteFile(filepath.Join(dir, name), []byte(tag+"\n\npackage x\n\n"+code+"\n"), 0o644))
			}
			cmd := exec.Command("test/lint", "elsewhere")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if passed := strings.Contains(string(out), " passed\n"); passed != c.ok || passed != (err == nil) {
				t.Errorf("passed: %v, %v; want %v\n%s", passed, err, c.ok, out)
			}
		})
	}
}
