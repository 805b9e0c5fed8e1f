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

// utipc run --node has the library open a node in the program's process, and says so where that cannot be.
//
// Proves: tcp.embedded
func TestRunNode(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libutipc-preload.so") // the loader says that it is none, and goes on
	if err := os.WriteFile(library, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	startDaemon(t, socket, "--address", "1.1.1", "--tcp", "10.99.0.0/16", "--tcp-ip", "10.99.0.1", "--tcp-interface", "")
	tcp := []string{"--tcp", "10.99.0.0/16"}
	for _, c := range []struct {
		args   []string
		own    string // UTIPC_LIBRARY
		want   string
		status int
	}{
		{append(tcp, "--node", "embedded:eth1"), "/a/b", "node embedded:eth1 of /a/b", 0},
		{append(tcp, "--node", "embedded:udp:10.0.0.1"), "/a/b", "node embedded:udp:10.0.0.1 of /a/b", 0},
		{append(tcp, "--node", "eth1"), "/a/b", "is no node of a program's own", 2},
		{append(tcp, "--node", "embedded:"), "/a/b", "is no node of a program's own", 2},
		{[]string{"--node", "embedded:eth1"}, "/a/b", "--node needs --tcp", 2},
	} {
		args := append([]string{"run", "--library", library, "--socket", socket}, c.args...)
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append(args, "--", "sh", "-c", "echo node $UTIPC_NODE of $UTIPC_LIBRARY")...)
		cmd.Env = append(os.Environ(), "UTIPC_LIBRARY="+c.own)
		out, _ := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("%q: status %d, want %d, and %q in\n%s", c.args, status, c.status, c.want, out)
		}
	}
}

// utipc run --lane says so to the library, without TCP as well.
//
// Mutation it catches: the flag sets nothing.
//
// Proves: tcp.lane
func TestRunLane(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libutipc-preload.so")
	if err := os.WriteFile(library, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{"lane 1\n": {"--lane"}, "lane\n": nil} {
		args = append(append([]string{"run", "--how", "preload", "--library", library}, args...), "--", "sh", "-c", "echo lane $UTIPC_LANE")
		out, err := exec.CommandContext(t.Context(), "/proc/self/exe", args...).Output()
		if err != nil || string(out) != want {
			t.Errorf("%q, %v, want %q", out, err, want)
		}
	}
}
