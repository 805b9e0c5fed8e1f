// SPDX-License-Identifier: Apache-2.0

package others

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/nodes"
	"github.com/utipc/utipc/test/others/suite"
)

// A moduleSuite is the tests of a module.
type moduleSuite struct {
	module string
	tests  int      // that pass on each kind of nodes, at least
	long   []string // that are run in memory alone: they move gigabytes or sleep for seconds
	never  []string // that are not run
}

var suites = []moduleSuite{
	{
		module: "github.com/hashicorp/yamux",
		tests:  31,
		long:   []string{"TestSession_PartialReadWindowUpdate"},
		never: []string{
			"TestSendData_VeryLarge", // moves gigabytes for 18 s, over TCP too
			"TestOpenStreamTimeout",  // wants a TLS handshake within 25 ms of the machine's time
		},
	},
	{
		module: "github.com/xtaci/smux",
		tests:  80,
		long:   []string{"TestKeepAliveTimeout", "TestKeepAliveBlockWriteTimeout", "TestRandomLengthRandomDataTransferV[12]"},
		never: []string{
			"Test8GBTransferV[12]", // half a minute each
			"TestShaper.*",         // of its queue; there is no connection in it
		},
	},
}

// The modules' own tests pass with connections of the stack in place of those of TCP and of net.Pipe. Nothing of
// the modules is in this tree: their files are copied from the module cache to a folder of the test, and each
// call of package net there becomes one of package suite.
//
// Mutation it catches: Close of a Conn resets the connection.
func TestSuites(t *testing.T) {
	for _, s := range suites {
		dir, binary := build(t, s.module)
		for _, kind := range nodes.Kinds {
			t.Run(fmt.Sprint(s.module, "/", kind), func(t *testing.T) {
				t.Parallel() // most of the time they wait
				s.run(t, dir, binary, kind)
			})
		}
	}
}

// run runs the tests of the copy in dir.
func (s moduleSuite) run(t *testing.T, dir, binary string, kind nodes.Kind) {
	skip := s.never
	if kind != nodes.Memory {
		skip = slices.Concat(skip, s.long)
	}
	c := exec.CommandContext(t.Context(), binary, "-test.v", "-test.timeout=60s", "-test.skip=^("+strings.Join(skip, "|")+")$")
	c.Dir = dir
	c.Env = append(os.Environ(), suite.Kind+"="+string(kind))
	begin := time.Now()
	out, err := c.CombinedOutput()
	passed := bytes.Count(out, []byte("\n--- PASS: "))
	if err != nil || passed < s.tests {
		t.Fatalf("%v; %d tests passed, want at least %d\n%s", err, passed, s.tests, out)
	}
	t.Logf("%d tests passed in %v", passed, time.Since(begin).Round(100*time.Millisecond))
}

// build copies a module and returns the folder of the copy and its tests as a program.
func build(t *testing.T, module string) (dir, binary string) {
	dir, mod := copyOf(t, module)
	binary = filepath.Join(dir, "suite.test")
	if out, err := exec.Command("go", "test", "-c", "-modfile", mod, "-o", binary, module).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir, binary
}

// patient says how much longer than in the original a copy waits before it fails, or gives a connection up: the
// originals give up after 100 ms, which a busy machine takes at times, over TCP too.
var patient = strings.NewReplacer(
	"time.After(", "suite.After(",
	"ConnectionWriteTimeout = 250 * time.Millisecond", "ConnectionWriteTimeout = time.Second",
)

// calls are the calls of package net that make connections; package suite has each of them.
var calls = regexp.MustCompile(`\bnet\.(ListenTCP|Listen|DialTimeout|Dial|Pipe)\(`)

// mainTest opens the nodes that the calls of a copy use.
const mainTest = `package %s

import (
	"os"
	"testing"

	"github.com/utipc/utipc/test/others/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m)) }
`

// copyOf copies a module of the module cache, with the tests' connections replaced, and returns its
// folder and a go.mod that has the copy in place of the module.
func copyOf(t *testing.T, module string) (to, mod string) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}\n{{.Name}}", module).Output()
	must(t, err)
	dir, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	to = filepath.Join(t.TempDir(), name)
	must(t, os.CopyFS(to, os.DirFS(dir)))
	files, err := filepath.Glob(filepath.Join(to, "*_test.go"))
	must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		if !calls.Match(b) && !bytes.Contains(b, []byte("time.After(")) {
			continue
		}
		b = []byte(patient.Replace(string(calls.ReplaceAll(b, []byte("suite.$1(")))))
		b = bytes.Replace(b, []byte("import ("), []byte("import (\n\t\"github.com/utipc/utipc/test/others/suite\""), 1)
		for name, use := range map[string]string{"net": "net.Conn", "time": "time.Time"} { // the imports are used
			if bytes.Contains(b, fmt.Appendf(nil, "\t%q\n", name)) {
				b = append(b, "\nvar _ "+use+"\n"...)
			}
		}
		b = bytes.ReplaceAll(b, []byte(`"0.0.0.0:6060"`), []byte(`"127.0.0.1:0"`)) // of net/http/pprof, in smux
		must(t, os.Chmod(f, 0o644))
		must(t, os.WriteFile(f, b, 0o644))
	}
	must(t, os.Chmod(to, 0o755))
	must(t, os.WriteFile(filepath.Join(to, "utipc_main_test.go"), fmt.Appendf(nil, mainTest, name), 0o644))
	mod = filepath.Join(t.TempDir(), "go.mod")
	for _, file := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(filepath.Dir(mod), file), b, 0o644))
	}
	if out, err := exec.Command("go", "mod", "edit", "-replace", module+"="+to, mod).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to, mod
}
