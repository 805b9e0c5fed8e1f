// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/netns"
)

// demoShape is what the demo prints, with each number made 0 and without the lines
// about drivers.
func demoShape(out string) string {
	out = regexp.MustCompile(`\n {8}(\S)`).ReplaceAllString(out, " $1") // lines that were too long
	out = regexp.MustCompile(`(?m)^.*  driver of .*\n`).ReplaceAllString(out, "")
	out = strings.Replace(out, "a veth pair between two network namespaces", "one network", 1)
	out = regexp.MustCompile(`<[0-9a-f]+:\d+>`).ReplaceAllString(out, "<0>")
	out = regexp.MustCompile(`[\d.]+`).ReplaceAllString(out, "0")
	return regexp.MustCompile(` +`).ReplaceAllString(out, " ")
}

// The demo between two namespaces shows what the demo in memory shows, and which
// driver it ran on and why, and leaves nothing behind.
//
// Proves: tools.demo
func TestDemoVeth(t *testing.T) {
	netns.Require(t)
	if !inOwnProcess(t) {
		return
	}
	sockets, interfaces := countSockets(t), interfaceNames(t)
	var out, plain, errs bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--veth"}, nil, &out, &errs); code != cmdline.Done {
		t.Fatalf("exit %d: %s%s", code, out.String(), errs.String())
	}
	t.Log("\n" + out.String())
	for _, want := range []string{`driver of tipc0: af_(xdp \w+|packet): \w+`, `driver of .*beta0.*: \w+`, `driver of .*gamma0.*: \w+`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("want %q in the output", want)
		}
	}
	if code := run(t.Context(), []string{"demo"}, nil, &plain, &errs); code != cmdline.Done {
		t.Fatalf("in memory: exit %d: %s%s", code, plain.String(), errs.String())
	}
	if got, want := demoShape(out.String()), demoShape(plain.String()); got != want {
		t.Errorf("got\n%s\nwant as in memory\n%s", got, want)
	}
	waitSockets(t, sockets)
	if got := interfaceNames(t); got != interfaces {
		t.Errorf("got interfaces %s, want %s", got, interfaces)
	}
}

// A cutter cancels when what is written through it contains a text.
type cutter struct {
	bytes.Buffer
	at     string
	cancel func()
}

func (c *cutter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(c.at)) {
		c.cancel()
	}
	return c.Buffer.Write(b)
}

// Interrupted, it ends and leaves nothing behind, wherever it was.
//
// Proves: tools.demo
func TestDemoVethInterrupted(t *testing.T) {
	netns.Require(t)
	if !inOwnProcess(t) {
		return
	}
	for _, at := range []string{"are plugged into", "driver of", "links are up", "loses power"} {
		sockets, interfaces := countSockets(t), interfaceNames(t)
		ctx, cancel := context.WithCancel(t.Context())
		out := &cutter{at: at, cancel: cancel}
		var errs bytes.Buffer
		if code := run(ctx, []string{"demo", "--veth"}, nil, out, &errs); code != cmdline.Failed || errs.String() != "utipc demo: interrupted\n" {
			t.Errorf("at %q: exit %d, %q, %s", at, code, errs.String(), out.String())
		}
		waitSockets(t, sockets)
		if got := interfaceNames(t); got != interfaces {
			t.Errorf("at %q: got interfaces %s, want %s", at, got, interfaces)
		}
		cancel()
	}
}

func TestDemoVethWithoutRights(t *testing.T) {
	netns.Require(t)
	f, err := os.Open(program(t)) // the folders above may be closed to others, a descriptor is not
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("/proc/self/fd/3", "demo", "--veth")
	cmd.ExtraFiles = []*os.File{f}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != cmdline.Failed || !strings.Contains(string(out), "root") {
		t.Errorf("exit %d, %q, want %d and a word about root", code, out, cmdline.Failed)
	}
}

func TestDemoMisuse(t *testing.T) {
	for _, args := range [][]string{{"demo", "more"}, {"demo", "--vet"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, nil, &out, &errs); code != cmdline.Misuse || out.Len() > 0 {
			t.Errorf("%q: exit %d, %q", args, code, out.String())
		}
	}
}

func interfaceNames(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
	}
	return strings.Join(names, " ")
}

// waitSockets waits until there are no more than want: those that other tests have left may
// be closed at any time.
func waitSockets(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); countSockets(t) > want; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("got %d sockets, want %d", countSockets(t), want)
		}
	}
}

// countSockets counts the descriptors of this process that are sockets or
// namespaces.
func countSockets(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && (strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "net:")) {
			n++
		}
	}
	return n
}
