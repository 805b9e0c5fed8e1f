// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// utipc run makes a C program that knows nothing of us a client of the daemon, with what it
// wrote, and its exit status. A static program is refused. Mutations: runUnmodified does not set
// LD_PRELOAD; checkDynamic returns nil.
//
// Proves: plain.run
func TestRunUnmodified(t *testing.T) {
	tier.SkipShort(t, "a C compiler")
	if _, err := exec.LookPath("cc"); err != nil {
		tier.Missing(t, "there is no C compiler (cc): install gcc and libc6-dev")
	}
	dir := t.TempDir()
	make := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	library, program, static := filepath.Join(dir, "libutipc.so"), filepath.Join(dir, "sockets"), filepath.Join(dir, "static")
	make("../../preload/build", library)
	make("cc", "-std=gnu11", "-O1", "-o", program, "../../test/preload/testdata/sockets.c")
	source := filepath.Join(dir, "static.c")
	if err := os.WriteFile(source, []byte("void _start(void) { for (;;) ; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	make("cc", "-static", "-nostdlib", "-o", static, source)
	socket, _ := served(t, liveBed(t, 1)[0])

	run := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{"run"}, args...)...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		want   string
		status int
		args   []string
	}{
		{"all is well\n", 0, []string{"--library", library, "--socket", socket, "--", program}},
		{"--flag", 7, []string{"--library", library, "sh", "-c", `printf %s "$1"; exit 7`, "sh", "--flag"}},
		{"is a static program: these cannot be served yet", 1, []string{"--library", library, "--", static}},
		{"no such file", 1, []string{"--library", filepath.Join(dir, "none"), "--", program}},
		{"too few arguments", 2, []string{"--library", library}},
	} {
		if out, status := run(c.args...); !strings.Contains(out, c.want) || status != c.status {
			t.Errorf("run %q: status %d, want %d, and %q in\n%s", c.args, status, c.status, c.want, out)
		}
	}
}
