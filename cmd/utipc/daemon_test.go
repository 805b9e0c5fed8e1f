// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/settings"
)

// written makes a file of settings.
func written(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "utipc.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Proves: daemon.settings
func TestDaemonSettings(t *testing.T) {
	good := written(t, "[node]\naddress = \"1.1.1\"\n[[bearer]]\ndevice = \"eth1\"\n")
	bad := written(t, "[node]\nnetid = 12000\nadress = \"1.1.1\"\n")
	keys := filepath.Join(t.TempDir(), "keys")
	os.WriteFile(keys, []byte("0x000102030405060708090a0b0c0d0e0f10111213\n"), 0o644)
	os.Chmod(keys, 0o644) // whatever the umask
	noKey := filepath.Join(t.TempDir(), "none")
	os.WriteFile(noKey, nil, 0o600)
	for _, c := range []struct {
		args   []string
		status int
		out    string // a pattern
		errs   string
	}{
		{[]string{"--config", good, "--check"}, 0, `^the settings are right\n$`, `^$`},
		{[]string{"--config", good, "--print-config", "--netid", "77"}, 0, `(?s)^\[node\]\naddress = "1.1.1"\n.*netid = 77\n.*\[\[bearer\]\]\nmedium = "eth"\ndevice = "eth1"\n`, `^$`},
		{[]string{"--example"}, 0, `(?s)^# Settings of utipc daemon.*\n#netid = 4711\n.*\n#\[\[bearer\]\]\n`, `^$`},
		{[]string{"--config", bad, "--check"}, 2, `^$`, `^utipc daemon: ` + bad + `:3: node.adress is unknown \(did you mean address\?\); allowed: in \[node\] address, [^\n]*\n$`},
		{[]string{"--netid", "12000", "--check"}, 2, `^$`, `^utipc daemon: --netid: node.netid = 12000; allowed: 1 to 9999\n$`},
		{[]string{"--config", "/no/such", "--check"}, 1, `^$`, `no such file`},
		{[]string{"--socket-group", "no-such-group", "--check"}, 2, `^$`, `socket.group: no group "no-such-group" on this host`},
		{[]string{"--access-manage", "no-such-user,@no-such-group", "--check"}, 2, `^$`, `(?s)access.manage: no user "no-such-user".*access.manage: no group "no-such-group"`},
		{[]string{"--keyfile", keys, "--check"}, 2, `^$`, `keys.file: .*/keys is open to others than its owner; chmod 600 `},
		{[]string{"--keyfile", noKey, "--check"}, 2, `^$`, `keys.file: no key in `},
		{[]string{"--migrate", "--check"}, 2, `^$`, `keys.migrate goes with keys.file`},
		{[]string{"--no-such-flag"}, 2, `^$`, `no flag --no-such-flag; 'utipc daemon -h' shows how`},
		{[]string{"now"}, 2, `^$`, `too many arguments`},
	} {
		out, errs, status := utipc(nil, append([]string{"daemon"}, c.args...)...)
		if status != c.status || !regexp.MustCompile(c.out).MatchString(out) || !regexp.MustCompile(c.errs).MatchString(errs) {
			t.Errorf("%q: status %d\n%s\n%s", c.args, status, out, errs)
		}
	}
}

// Proves: daemon.settings
func TestDaemonUsage(t *testing.T) {
	usage, _, _ := utipc(nil, "daemon", "-h")
	for _, s := range settings.Table() {
		if s.Flag != "" && !strings.Contains(usage, "--"+s.Flag+" ") && !strings.Contains(usage, "--"+s.Flag+"\n") {
			t.Errorf("-h says nothing of --%s", s.Flag)
		}
	}
	for line := range strings.Lines(usage) {
		if len(line) > 90 {
			t.Errorf("a long line: %q", line)
		}
	}
}

// Proves: daemon.settings
func TestCompareBearers(t *testing.T) {
	bearers := func(s string) (all []settings.Bearer) {
		for _, w := range strings.Fields(s) {
			var b settings.Bearer
			var name, driver string
			fmt.Sscanf(strings.NewReplacer("/", " ", ":", " ").Replace(w), "%s %s %d", &name, &driver, &b.Priority)
			b.Medium, b.Device, b.Driver = "eth", name, driver
			all = append(all, b)
		}
		return all
	}
	names := func(all []settings.Bearer) (s string) {
		for _, b := range all {
			s += " " + b.ID()
		}
		return s
	}
	for _, c := range []struct{ was, is, changed string }{
		{"", "", ""},
		{"a/auto:10", "a/auto:10", ""},
		{"a/auto:10", "a/auto:11", " a"},
		{"a/auto:10", "a/xdp:10", ""},
		{"a/auto:10 b/auto:10", "b/auto:10 c/auto:10", ""},
		{"a/auto:10 b/auto:10", "", ""},
	} {
		if got := names(changedLinks(bearers(c.was), bearers(c.is))); got != c.changed {
			t.Errorf("%q to %q: changed%s, want%s", c.was, c.is, got, c.changed)
		}
	}
}

var update = flag.Bool("update", false, "write the tables of docs/reference/daemon.md")

// The tables of docs/reference/daemon.md, and the settings of the package, are those of the program.
//
// Proves: daemon.settings, daemon.metrics
func TestDaemonDocs(t *testing.T) {
	const file = "../../docs/reference/daemon.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, part := range []struct{ name, table string }{{"settings", settings.Markdown()}, {"metrics", metricsTable()}} {
		begin := strings.Index(text, "<!-- "+part.name+":")
		end := strings.Index(text, "<!-- end of "+part.name+" -->")
		if begin < 0 || end < begin {
			t.Fatalf("no place for %s", part.name)
		}
		begin += strings.Index(text[begin:], "\n") + 1
		text = text[:begin] + part.table + text[end:]
	}
	switch {
	case text == string(b):
	case *update:
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s differs from the program: go test ./cmd/utipc -run TestDaemonDocs -update writes it", file)
	}
}
