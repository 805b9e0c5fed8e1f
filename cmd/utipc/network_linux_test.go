// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// startEcho runs an echo in this process, over UDP on the loopback interface. stop
// interrupts it and returns what it printed at last.
func startEcho(t *testing.T, args ...string) (first string, stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"echo", "--udp", loopback(1) + "," + loopback(2), "--address", "1.1.1", "--tolerance", "30s"}, args...), nil, w, os.Stderr)
		w.Close()
	}()
	out := bufio.NewReader(r)
	first, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("echo %q: %v, exit %d", args, err, <-code)
	}
	return first, func() string {
		cancel()
		rest, _ := io.ReadAll(out)
		if got := <-code; got != cmdline.Done {
			t.Errorf("echo %q: exit %d", args, got)
		}
		return string(rest)
	}
}

func startPing(t *testing.T, args ...string) (out string, code int) {
	var b bytes.Buffer
	code = run(t.Context(), append([]string{"ping", "--udp", loopback(2) + "," + loopback(1), "--address", "1.1.2", "--tolerance", "30s", "--timeout", "1m"}, args...), nil, &b, &b)
	return b.String(), code
}

// Each kind of socket answers, and says what it is.
//
// Proves: tools.small
func TestEchoAndPingOfEveryKind(t *testing.T) {
	for _, c := range []struct {
		flags []string
		note  string // behind what the two print first
		last  string // of echo
	}{
		{[]string{"--network", "tipcrdm"}, "", "echo: 8 messages answered, 0 could not be\n"},
		{[]string{"--network", "tipcgram"}, ", tipcgram", "echo: 8 messages answered, 0 could not be\n"},
		{[]string{"--network", "tipcpacket"}, ", tipcpacket", "echo: 2 connections, 69000 bytes sent back, 0 connections broken off\n"},
		{[]string{"--network", "tipc"}, ", tipc", "echo: 2 connections, 69000 bytes sent back, 0 connections broken off\n"},
		{[]string{"--group"}, ", in a group", "echo: 8 messages answered, 0 could not be\n"},
	} {
		first, stop := startEcho(t, append(c.flags, "18888:17")...)
		if want := `^echo: node 1001001 on udp \S+ answers on 18888:17 at <1001001:\d+>` + c.note + "\n$"; !regexp.MustCompile(want).MatchString(first) {
			t.Errorf("%q: echo prints %q, want %q", c.flags, first, want)
		}
		for _, size := range []struct{ args, want string }{
			{"--count 5 --interval 0 --size 600", `^ping: node 1001002 to 18888:17, 600 bytes` + c.note + "\nping: 5 sent, 5 answered, 0 lost; min/p50/p99/max .*/s\n$"},
			{"--count 3 --interval 1ms --size 22000 --stats", `(?s)\n22000 bytes from <1001001:\d+>: seq=3 time=.*ping: 3 sent, 3 answered, 0 lost; min.*Link <.*\nDropped: \w.*, 0 bytes kept for others\n$`},
		} {
			out, code := startPing(t, append(append(c.flags, strings.Fields(size.args)...), "18888:17")...)
			if code != cmdline.Done || !regexp.MustCompile(size.want).MatchString(out) {
				t.Errorf("%q %s: exit %d, %q, want %q", c.flags, size.args, code, out, size.want)
			}
		}
		if last := stop(); last != c.last {
			t.Errorf("%q: echo prints %q, want %q", c.flags, last, c.last)
		}
	}
}

// What does not fit together says so, and nobody waits long for it.
//
// Proves: tools.small
func TestEchoAndPingMismatched(t *testing.T) {
	_, stop := startEcho(t, "--network", "tipcpacket", "18888:17")
	defer stop()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--network", "udp", "18888:17"}, cmdline.Misuse, `--network "udp" is not tipc, `},
		{[]string{"--network", "tipc", "--group", "18888:17"}, cmdline.Misuse, "do not go together"},
		{[]string{"--group", "18888:17@1001001"}, cmdline.Misuse, "without a node"},
		{[]string{"--network", "tipcpacket", "--timeout", "100ms", "18888:18"}, cmdline.Failed, "nobody has bound 18888:18 within 100ms; links: "},
		{[]string{"--count", "1", "18888:17"}, cmdline.Failed, "rejected: no port\nping: 1 sent, 0 answered, 1 lost\n"},
		{[]string{"--group", "--timeout", "500ms", "18888:17"}, cmdline.Failed, " 18888:17 within 500ms"},
	} {
		if out, code := startPing(t, c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("ping %q: exit %d, %q; want %d, %q", c.args, code, out, c.code, c.want)
		}
	}
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"echo", "--if", "x", "--group", "18888:0-9"}, nil, io.Discard, &errs); code != cmdline.Misuse || !strings.Contains(errs.String(), "--group wants TYPE:INSTANCE") {
		t.Errorf("echo in a group with a range: exit %d, %q", code, errs.String())
	}
}

// A ping whose echo goes away tells what came until then, and why there is no more.
//
// Proves: tools.small
func TestPingWhoseEchoEnds(t *testing.T) {
	for _, network := range []string{"tipc", "tipcpacket"} {
		_, stop := startEcho(t, "--network", network, "18888:17")
		r, w := io.Pipe()
		code := make(chan int, 1)
		go func() {
			code <- run(t.Context(), []string{
				"ping", "--udp", loopback(2) + "," + loopback(1), "--address", "1.1.2", "--tolerance", "30s", "--timeout", "1m",
				"--network", network, "--count", "1000000", "--interval", "1ms", "18888:17",
			}, nil, w, w)
			w.Close()
		}()
		out := bufio.NewReader(r)
		for range 3 {
			if line, err := out.ReadString('\n'); err != nil {
				t.Fatalf("%s: %q, %v", network, line, err)
			}
		}
		stopped := make(chan string, 1)
		go func() { stopped <- stop() }()
		rest, _ := io.ReadAll(out)
		want := `(^|\n)ping: \d+ sent, \d+ answered, 1 lost; .*\nutipc ping: (the echo has closed the connection|write .*)\n$`
		if got := <-code; got != cmdline.Failed || !regexp.MustCompile(want).Match(rest) {
			t.Errorf("%s: exit %d, %q", network, got, rest)
		}
		<-stopped
	}
}
