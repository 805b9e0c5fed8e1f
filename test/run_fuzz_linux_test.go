// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// test/run fuzzes every target of every package, and fails with the input of one that fails.
//
// Mutations it catches, in test/run: fuzz that forgets that a package has failed; fuzzpackage
// that forgets that a target has, or that fuzzes the first one alone.
func TestRunFuzzes(t *testing.T) {
	tier.SkipShort(t, "a Go module for each of its cases")
	for _, fails := range []bool{false, true} {
		dir := t.TempDir()
		lines := map[string]string{"frame": "func FuzzA(f *testing.F) { fuzz(f, 0) }\nfunc FuzzB(f *testing.F) { fuzz(f, 0) }", "test/bench": "func FuzzC(f *testing.F) { fuzz(f, 0) }"}
		if fails {
			lines["frame"] = strings.Replace(lines["frame"], "FuzzB(f *testing.F) { fuzz(f, 0) }", "FuzzB(f *testing.F) { fuzz(f, 1) }", 1)
		}
		for _, folder := range []string{"frame", "test/bench"} {
			check(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
			check(t, os.WriteFile(filepath.Join(dir, folder, "x_test.go"), []byte("package "+filepath.Base(folder)+`

import "testing"

func fuzz(f *testing.F, least int) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < least {
			t.Fatal("too short")
		}
	})
}

func BenchmarkParse(b *testing.B) {}

`+lines[folder]+"\n"), 0o644))
		}
		check(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module github.com/utipc/utipc\n\ngo 1.24\n"), 0o644))
		runner, err := filepath.Abs("run")
		check(t, err)
		for name, to := range map[string]string{"run": runner, "apt": "/bin/true"} {
			check(t, os.Symlink(to, filepath.Join(dir, "test", name)))
		}
		cmd := exec.Command("test/run", "--only", "fuzz")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-vet=off")
		out, err := cmd.CombinedOutput()
		said := []string{"FuzzA for 1s: fuzz: elapsed", "FuzzB for 1s: fuzz: elapsed", "FuzzC for 1s: fuzz: elapsed"}
		if fails {
			said = []string{"FuzzA for 1s: fuzz: elapsed", "github.com/utipc/utipc/frame: FuzzB", "too short"}
		}
		for _, want := range said {
			if !strings.Contains(string(out), want) {
				t.Errorf("with a target that fails, %v: %q is missing in\n%s", fails, want, out)
			}
		}
		if fails != (err != nil) {
			t.Errorf("with a target that fails, %v: %v\n%s", fails, err, out)
		}
	}
}
