// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// utipc run --tcp starts a program that the library is told of the prefix in, where the daemon has that, and says so where
// it has another one, or none.
//
// Proves: tcp.run
func TestRunTCP(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libutipc-preload.so") // the loader says that it is none, and goes on
	if err := os.WriteFile(library, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	with, without := filepath.Join(dir, "with"), filepath.Join(dir, "without")
	startDaemon(t, with, "--address", "1.1.1", "--tcp", "10.99.0.0/16", "--tcp-ip", "10.99.0.1", "--tcp-interface", "")
	startDaemon(t, without, "--address", "1.1.2")
	for _, c := range []struct {
		socket, prefix string
		want           string
		status         int
	}{
		{with, "10.99.0.0/16", "prefix 10.99.0.0/16", 0},
		{with, "10.98.0.0/16", "the daemon has 10.99.0.0/16", 1},
		{with, "10.99.0.0/24", "the daemon has 10.99.0.0/16", 1},
		{with, "fd00::/64", "is no network of IPv4", 2},
		{without, "10.99.0.0/16", "the daemon has no addresses of TCP", 1},
	} {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "run", "--library", library, "--socket", c.socket, "--tcp", c.prefix, "--", "sh", "-c", "echo prefix $UTIPC_TCP")
		out, _ := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: status %d, want %d, and %q in\n%s", c.prefix, status, c.status, c.want, out)
		}
	}
}
