// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/tier"
)

// A file belongs to the innermost module above it, and a requirement of ours gets the version.
//
// Mutation it catches: the root's module has the adapters' files; a version that stays.
func TestSplit(t *testing.T) {
	all := split(module{
		"go.mod": nil, "stack/a.go": nil,
		"adapters/raft/go.mod": nil, "adapters/raft/b.go": nil, "adapters/raft/sub/c.go": nil,
	})
	got := fmt.Sprint(len(all["."]), len(all["adapters/raft"]), all["adapters/raft"]["sub/c.go"] == nil)
	if _, own := all["adapters/raft"]["sub/c.go"]; got != "2 3 true" || !own {
		t.Errorf("got %v", all)
	}
	mod := "module " + root + "/adapters/raft\n\nrequire (\n\tgolang.org/x/sys v0.1.0\n\t" + root + " v0.1.0\n)\n"
	want := strings.Replace(mod, root+" v0.1.0", root+" v0.9.0", 1)
	if got := required.ReplaceAllString(mod, "$1 v0.9.0"); got != want {
		t.Errorf("got %s", got)
	}
}

// Two runs of one commit write the same bytes.
//
// Mutation it catches: the files of a zip in the order of a map.
func TestSameBytes(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	when := time.Unix(1700000000, 0)
	for _, dir := range dirs {
		files := module{"go.mod": []byte("module x\n")}
		for i := range 20 {
			files[fmt.Sprintf("f%d.go", i)] = []byte("package x\n")
		}
		if err := writeModule(dir, root, "v0.1.0", when, files, []byte("licence")); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{".zip", ".mod", ".info"} {
		name := filepath.Join(filepath.FromSlash(root), "@v", "v0.1.0"+kind)
		first, err := os.ReadFile(filepath.Join(dirs[0], name))
		second, again := os.ReadFile(filepath.Join(dirs[1], name))
		if err != nil || again != nil || string(first) != string(second) {
			t.Errorf("%s: the two differ, or %v, %v", kind, err, again)
		}
	}
}

// Each adapter is installed from an empty folder, through the proxy and the network's, and its
// example runs there.
//
// Mutation it catches: an adapter that requires a version that the proxy does not have; a zip
// without its files; a replace.
func TestInstall(t *testing.T) {
	tier.SkipShort(t, "modules of others")
	gocache := func(arg ...string) string {
		out, err := exec.Command("go", arg...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	cache, proxies := gocache("env", "GOMODCACHE"), gocache("env", "GOPROXY")
	// A version stays in the cache of modules for good, so each run has its own, and takes it out.
	version := fmt.Sprintf("v0.0.1-test.%d.%d", os.Getpid(), time.Now().UnixNano())
	defer func() {
		for _, pattern := range []string{root + "@" + version, root + "/adapters/*@" + version, "cache/download/" + root + "/@v/" + version + ".*", "cache/download/" + root + "/adapters/*/@v/" + version + ".*"} {
			found, _ := filepath.Glob(filepath.Join(cache, pattern))
			for _, f := range found {
				if err := os.RemoveAll(f); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	dir := t.TempDir()
	if err := write(dir, version, "HEAD"); err != nil {
		t.Fatal(err)
	}
	adapters, err := filepath.Glob("../../adapters/*/go.mod")
	if err != nil || len(adapters) == 0 {
		t.Fatalf("got %d adapters, %v", len(adapters), err)
	}
	for _, a := range adapters {
		name := root + "/adapters/" + filepath.Base(filepath.Dir(a))
		t.Run(filepath.Base(name), func(t *testing.T) {
			empty := t.TempDir()
			for _, arg := range [][]string{
				{"mod", "init", "example.com/program"},
				{"get", "-t", name + "@" + version},
				{"test", "-count=1", "-run", "^Example", name},
			} {
				cmd := exec.Command("go", arg...)
				cmd.Dir = empty
				cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=file://"+dir+","+proxies,
					"GONOSUMDB=github.com/utipc", "GOFLAGS=-mod=mod -modcacherw -p=2")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("go %v: %v\n%s", arg, err, out)
				}
			}
		})
	}
}
