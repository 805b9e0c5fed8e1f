// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/supervise"
	"github.com/utipc/utipc/test/tier"
)

// utipc run makes a C program that knows nothing of us a client of the daemon, with what it
// wrote, and its exit status. Mutations: runUnmodified does not set LD_PRELOAD; chooseHow takes no
// notice of what is asked for.
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
	library, program, static := filepath.Join(dir, "libutipc-preload.so"), filepath.Join(dir, "sockets"), filepath.Join(dir, "static")
	make("../../preload/build", library)
	make("cc", "-std=gnu11", "-O1", "-o", program, "../../test/preload/testdata/sockets.c")
	source := filepath.Join(dir, "static.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 9; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	make("cc", "-static", "-o", static, source)
	socket, _ := served(t, liveBed(t, 1)[0])

	run := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{"run"}, args...)...)
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
		{"", 9, []string{"--", static}},
		{"is a static program: no library can be loaded into it", 1, []string{"--library", library, "--how", "preload", "--", static}},
		{"--how ptrace is not a way", 2, []string{"--how", "ptrace", "--", static}},
		{"all is well\n", 0, []string{"--how", "preload", "--library", library, "--socket", socket, "--", program}},
		{"no such file", 1, []string{"--library", filepath.Join(dir, "none"), "--", program}},
		{"too few arguments", 2, []string{"--library", library}},
	} {
		if out, status := run(c.args...); !strings.Contains(out, c.want) || status != c.status {
			t.Errorf("run %q: status %d, want %d, and %q in\n%s", c.args, status, c.status, c.want, out)
		}
	}
}

// A program that gains rights when it is started is served in neither way, nor is one whose
// process has a supervisor already, and utipc run says so. Of a script the program of its first line
// is looked at. A program that a signal ends has the status that a shell gives it. Mutations: gains returns ""; takeListener takes EBUSY for any other error; interpreter
// returns the script; exitStatus is the exit code alone.
//
// Proves: plain.run
func TestRunWays(t *testing.T) {
	tier.SkipShort(t, "a C compiler")
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	static := filepath.Join(dir, "static")
	if out, err := exec.CommandContext(t.Context(), "cc", "-static", "-x", "c", "-o", static, file("static.c", staticSource, 0o600)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := file("script", "#!"+static+" of-script\n", 0o700)
	for _, how := range []string{howAuto, howPreload, howSeccomp} {
		_, err := chooseHow(how, script)
		if want := how == howPreload; (err != nil) != want {
			t.Errorf("--how %s of a script for a static program: %v", how, err)
		}
	}
	for path, want := range map[string]string{static: howSeccomp, script: howSeccomp, self: howSeccomp, "/bin/sh": howPreload} {
		if way, err := chooseHow(howAuto, path); err != nil || way != want {
			t.Errorf("%s: %s, %v, want %s", path, way, err, want)
		}
	}
	run := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), self, append([]string{"run"}, args...)...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		want   string
		status int
		args   []string
	}{
		{"of-script " + script + " more\n", 3, []string{script, "more"}},
		{"a supervised shell\n", 7, []string{"--how", howSeccomp, "sh", "-c", "echo a supervised shell; exit 7"}},
		{"", 128 + 15, []string{"--how", howSeccomp, "sh", "-c", "kill -TERM $$"}},
		{supervise.ErrNested.Error(), 1, []string{"--how", howSeccomp, "--", self, "run", "--how", howSeccomp, "--", static}},
	} {
		if out, status := run(c.args...); !strings.Contains(out, c.want) || status != c.status {
			t.Errorf("run %q: status %d, want %d, and %q in\n%s", c.args, status, c.status, c.want, out)
		}
	}
	if os.Geteuid() != 0 {
		tier.Missing(t, "only root makes a program of another user's setuid")
	}
	const nobody = 65534
	setuid := file("setuid", "", 0o755)
	if err := os.Chown(setuid, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for bit, why := range map[os.FileMode]string{os.ModeSetuid: "setuid", os.ModeSetgid: "setgid"} {
		if err := os.Chmod(setuid, 0o755|bit); err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{howAuto, howPreload, howSeccomp} {
			out, status := run("--how", how, setuid)
			if want := "gains rights when it is started (" + why + ")"; status != 1 || !strings.Contains(out, want) {
				t.Errorf("--how %s: status %d, want 1, and %q in\n%s", how, status, want, out)
			}
		}
	}
}

// staticSource prints its arguments.
const staticSource = `#include <stdio.h>
int main(int n, char **a)
{
	for (int i = 1; i < n; i++)
		printf("%s%c", a[i], i < n - 1 ? ' ' : '\n');
	return n - 1;
}
`
