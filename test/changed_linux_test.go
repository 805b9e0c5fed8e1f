// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// test/run --changed tests the packages that differ from a commit, by changed, new and removed
// files and by data below them, and those that import one of them, in their tests too; no others.
//
// Mutations it catches, in test/run: changes without the importers, without those of tests, without
// new files, or without the loop that looks for the package above a file.
func TestChanged(t *testing.T) {
	tier.SkipShort(t, "a Go module of its own")
	dir, runs := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(name), 0o755))
		check(t, os.WriteFile(name, []byte(text), 0o755))
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RUNS="+runs, "GOFLAGS=-ldflags=-w",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	runner, err := os.ReadFile("run")
	check(t, err)
	write("test/run", string(runner))
	write("go.mod", "module example.com/m\n\ngo 1.24\n")
	for name, imports := range map[string]string{
		"changed": "", "added": "", "data": "", "same": "", "user": `_ "example.com/m/changed"`, "userofuser": `_ "example.com/m/user"`,
	} {
		write(name+"/x.go", "package x\n\nimport (\n\t"+imports+"\n)\n")
		write(name+"/x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestX(*testing.T) { os.WriteFile(os.Getenv(\"RUNS\")+\"/"+name+"\", nil, 0o644) }\n")
	}
	write("testuser/x.go", "package x\n")
	write("testuser/x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t_ \"example.com/m/changed\"\n)\n\n"+
		"func TestX(*testing.T) { os.WriteFile(os.Getenv(\"RUNS\")+\"/testuser\", nil, 0o644) }\n")
	write("data/testdata/deep/file", "1\n")
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "commit", "-q", "-m", "x")
	write("changed/x.go", "package x\n\nconst Changed = true\n")
	write("added/y.go", "package x\n")
	write("data/testdata/deep/file", "2\n")
	run("test/run", "--changed", "HEAD")
	ran, err := os.ReadDir(runs)
	check(t, err)
	var got []string
	for _, r := range ran {
		got = append(got, r.Name())
	}
	if want := []string{"added", "changed", "data", "testuser", "user"}; !slices.Equal(got, want) {
		t.Errorf("tests ran of %q, want %q", got, want)
	}
}
