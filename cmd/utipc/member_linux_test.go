// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/netns"
)

// program is the path of this test binary, see TestMain.
func program(t *testing.T) string {
	t.Helper()
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// Proves: tools.small, names.audit
func TestEchoPingAndAuditBetweenNamespaces(t *testing.T) {
	netns.Require(t)
	t.Parallel()
	bin := program(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)

	echo := a.Command(bin, "echo", "--if", "left", "--address", "1.1.1", "--tolerance", "30s", "18888:0-99")
	pipe, err := echo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	echo.Stderr = os.Stderr
	if err := echo.Start(); err != nil {
		t.Fatal(err)
	}
	defer echo.Process.Kill()
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); !strings.HasPrefix(line, "echo: node 1001001 on left answers on 18888:0-99 at <1001001:") {
		t.Fatalf("got %q, %v", line, err)
	}

	tapFile := filepath.Join(t.TempDir(), "tap.pcapng")
	for _, c := range []struct {
		args []string
		want string // of the output, standard error included
		code int
	}{
		{
			[]string{"--count", "5", "--interval", "1ms", "--size", "1400", "--address", "1.1.2", "18888:17"},
			`(?s)1400 bytes from <1001001:\d+>: seq=5 time=.*ping: 5 sent, 5 answered, 0 lost; min/p50/p99/max`, 0,
		},
		{
			[]string{"--count", "2", "--interval", "1ms", "--size", "66000", "--stats", "--address", "1.1.2", "18888:17"},
			`(?s)66000 bytes from <1001001:\d+>: seq=2 .*Link <1001002:\S+-1001001:\S+>\n  ACTIVE  MTU:1500 .*TX packets:\d+ fragments:9[46]/2 `, 0,
		},
		{
			[]string{"--count", "100", "--interval", "0", "--identity", "beta", "--tap", tapFile, "18888:17@1001001"},
			`ping: node 62657461 to 18888:17@1001001, 64 bytes\nping: 100 sent, 100 answered, 0 lost; .*/s\n$`, 0,
		},
		{[]string{"--timeout", "100ms", "--address", "1.1.2", "18889:1"}, `nobody has bound 18889:1 within 100ms; links:`, 1},
		{[]string{"--netid", "4712", "--timeout", "100ms", "--address", "1.1.2", "18888:17"}, `links: none, no other node was heard`, 1},
	} {
		got, code := runIn(b, bin, append([]string{"ping", "--if", "right", "--tolerance", "30s", "--timeout", "1m"}, c.args...))
		if code != c.code || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("ping %q: exit %d, output %q; want %d, %q", c.args, code, got, c.code, c.want)
		}
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{
			[]string{"--address", "1.1.3", "--types", "7000"},
			`^audit: node 1001003, 3 bindings, 3 types asked about\n1001001 3 bindings, 0 differences\ndifferences: 0\n$`, 0,
		},
		{[]string{"--address", "1.1.3", "--netid", "4712", "--wait", "300ms"}, `utipc audit: no other node was heard within 300ms`, 1},
	} {
		got, code := runIn(b, bin, append([]string{"audit", "--if", "right", "--tolerance", "30s", "--wait", "1m", "--timeout", "1m"}, c.args...))
		if code != c.code || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("audit %q: exit %d, output %q; want %d, %q", c.args, code, got, c.code, c.want)
		}
	}
	var decoded bytes.Buffer
	if code := run(t.Context(), []string{"decode", tapFile}, nil, &decoded, io.Discard); code != 0 ||
		!regexp.MustCompile(`\n\d+ frames, \d+ tipc, 0 unknown, 0 malformed\n$`).MatchString(decoded.String()) ||
		!strings.Contains(decoded.String(), "data-low/named") {
		t.Errorf("decode of the tap: exit %d, %.2000s", code, decoded.String())
	}

	// Interrupted while it waits for an answer, ping ends at once and well.
	echo.Process.Signal(syscall.SIGSTOP)
	ping := b.Command(bin, "ping", "--if", "right", "--address", "1.1.2", "--tolerance", "30s", "18888:17")
	pingOut, err := ping.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ping.Start(); err != nil {
		t.Fatal(err)
	}
	echo.Process.Signal(syscall.SIGCONT) // for the link and the name
	line, _ := bufio.NewReader(pingOut).ReadString('\n')
	echo.Process.Signal(syscall.SIGSTOP)
	ping.Process.Signal(syscall.SIGINT)
	if rest, _ := io.ReadAll(pingOut); !strings.HasPrefix(line, "ping: node") || !strings.Contains(string(rest), " 0 lost") {
		t.Errorf("interrupted ping: %q %q", line, rest)
	}
	if err := ping.Wait(); err != nil && ping.ProcessState.ExitCode() != cmdline.Failed {
		t.Errorf("interrupted ping: %v", err)
	}
	echo.Process.Signal(syscall.SIGCONT)

	got, code := runIn(a, bin, []string{"ping", "--if", "left", "18888:17"})
	if want := "left belongs to another node ("; code != 1 || !strings.Contains(got, want) {
		t.Errorf("a second node on one interface: exit %d, %q, want %q", code, got, want)
	}

	echo.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(out)
	if err := echo.Wait(); err != nil || !strings.Contains(string(rest), " messages answered, ") {
		t.Errorf("echo ended with %v, %q", err, rest)
	}
}

func runIn(ns *netns.NS, bin string, args []string) (out string, code int) {
	cmd := ns.Command(bin, args...)
	b, _ := cmd.CombinedOutput()
	return string(b), cmd.ProcessState.ExitCode()
}

// Proves: tools.small
func TestMemberMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"ping", "--tolerance", "1s", "--tap", "x", "18888:17"}, 2, "--tap, --tolerance: only with --if or --udp"},
		{[]string{"ping", "--if", "x"}, 2, "too few arguments"},
		{[]string{"ping", "--if", "x", "18888"}, 2, `"18888" is no service address`},
		{[]string{"ping", "--if", "x", "--size", "7", "1:2"}, 2, "--size"},
		{[]string{"ping", "--if", "x", "--count", "0", "1:2"}, 2, "--count"},
		{[]string{"ping", "--if", "x", "--address", "zz", "1:2"}, 2, "--address"},
		{[]string{"ping", "--if", "x", "--identity", "a b", "1:2"}, 2, "--identity"},
		{[]string{"ping", "--if", "x", "--netid", "10000", "1:2"}, 2, "--netid"},
		{[]string{"echo", "--if", "x", "18888:9-1"}, 2, "no service"},
		{[]string{"echo", "--if", "no-such-if", "18888:1"}, 1, "no-such-if does not exist"},
		{[]string{"echo", "--if", "lo", "18888:1"}, 1, "lo is the loopback"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), c.args, nil, &out, &errs); code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit %d, %q; want %d, %q", c.args, code, errs.String(), c.code, c.want)
		}
	}
}
