// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/interop/rig"
)

var (
	macA = net.HardwareAddr{0x52, 0x54, 0, 0, 0, 1}
	macB = net.HardwareAddr{0x52, 0x54, 0, 0, 0, 2}
)

const (
	nodeA = 0x1001001
	nodeB = 0x1001002
)

// patient is the tolerance of links: a guest may stand still for seconds where others want
// the machine too.
const patient = 20 * time.Second

// suspect has a notice soon that b is silent.
func suspect(t *testing.T, ctx context.Context, a *rig.Guest) {
	t.Helper()
	if err := a.SetLink(ctx, "1001001:eth0-1001002:eth0", "tolerance", 1500); err != nil {
		t.Fatal(err)
	}
}

// within returns a context for one test, whose time does not include that for
// building the image.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// start boots a guest that ends with the test, at the latest.
func start(t *testing.T, ctx context.Context, o rig.Options) *rig.Guest {
	t.Helper()
	begin := time.Now()
	g, err := rig.Start(ctx, rig.Require(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Close()
		if t.Failed() {
			t.Logf("console of %s:\n%s", o.Name, g.Console())
		}
	})
	t.Logf("guest %s: kernel %s, up in %v", o.Name, g.Release(), time.Since(begin).Round(time.Millisecond))
	return g
}

// startTwo boots two guests at once, with a bearer on the only link of each.
func startTwo(t *testing.T, ctx context.Context, a, b rig.Link) (*rig.Guest, *rig.Guest) {
	t.Helper()
	im := rig.Require(t)
	begin := time.Now()
	var guests [2]*rig.Guest
	ended := make(chan error, 2)
	for i, l := range []rig.Link{a, b} {
		go func() {
			o := rig.Options{
				Name: string(rune('a' + i)), Address: fmt.Sprintf("1.1.%d", i+1),
				Links: []rig.Link{l}, Enable: true, Tolerance: patient,
			}
			g, err := rig.Start(ctx, im, o)
			guests[i] = g
			ended <- err
		}()
	}
	err := errors.Join(<-ended, <-ended)
	for _, g := range guests {
		if g != nil {
			t.Cleanup(func() { g.Close() })
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("two guests: kernel %s, up in %v", guests[0].Release(), time.Since(begin).Round(time.Millisecond))
	return guests[0], guests[1]
}

func job(t *testing.T, ctx context.Context, g *rig.Guest, words string) *rig.Job {
	t.Helper()
	return must(g.Job(ctx, strings.Fields(words)...))(t)
}

func expect(t *testing.T, ctx context.Context, j *rig.Job, substr string) string {
	t.Helper()
	return must(j.Expect(ctx, substr))(t)
}

// checkSends runs a sending peer and checks the last line it prints.
func checkSends(t *testing.T, ctx context.Context, g *rig.Guest, words, want string) {
	t.Helper()
	lines, code, err := job(t, ctx, g, words).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) == 0 || lines[len(lines)-1] != want || code != 0 {
		t.Errorf("%s: status %d, got\n%s\nwant last %s", words, code, strings.Join(lines, "\n"), want)
	}
}

// TestTwoKernels has two kernels talk over a hub, crash and come back.
func TestTwoKernels(t *testing.T) {
	ctx := within(t, 10*time.Minute)
	linkA, wireA, err := rig.NewLink(macA)
	if err != nil {
		t.Fatal(err)
	}
	linkB, wireB, err := rig.NewLink(macB)
	if err != nil {
		t.Fatal(err)
	}
	hub := rig.NewHub(wireA, wireB)
	defer hub.Close()
	defer linkA.Close()
	defer linkB.Close()
	a, b := startTwo(t, ctx, linkA, linkB)

	if err := a.WaitNode(ctx, nodeB); err != nil {
		t.Fatal(err)
	}
	out := must(a.Run(ctx, "tipc link list"))(t)
	if !strings.Contains(out, "1001001:eth0-1001002:eth0: up") {
		t.Errorf("got link list\n%s\nwant the link to 1001002 up", out)
	}

	// Names, as a sees them in b.
	watch := job(t, ctx, a, "peer subscribe 7777 0 100")
	expect(t, ctx, watch, "ready")
	name := job(t, ctx, b, "peer publish 7777 10 20 cluster")
	expect(t, ctx, watch, "event published found={7777,10,20} port=1001002:")
	out = must(a.Run(ctx, "tipc nametable show"))(t)
	if !strings.Contains(out, "7777") {
		t.Errorf("got name table\n%s\nwant type 7777 in it", out)
	}
	if err := name.CloseInput(); err != nil {
		t.Fatal(err)
	}
	expect(t, ctx, name, "withdrawn")
	expect(t, ctx, watch, "event withdrawn found={7777,10,20} port=1001002:")

	// Messages, both ways, from one to many frames long.
	echoA, echoB := job(t, ctx, a, "peer rdm-echo 8888 1"), job(t, ctx, b, "peer rdm-echo 8888 2 -R 4000000")
	idB := strings.TrimPrefix(expect(t, ctx, echoB, "ready"), "ready id=")
	expect(t, ctx, echoA, "ready")
	for g, inst := range map[*rig.Guest]uint32{b: 1, a: 2} {
		if err := g.WaitName(ctx, 8888, inst, inst); err != nil {
			t.Fatal(err)
		}
	}
	checkSends(t, ctx, a, "peer rdm-send 8888 2 -n 10 -s 100", "done sent=10 echoed=10 rejects=0 bad=0")
	checkSends(t, ctx, b, "peer rdm-send 8888 1 -n 3 -s 66000 -i 2", "done sent=3 echoed=3 rejects=0 bad=0")
	checkSends(t, ctx, a, "peer rdm-send @"+idB+" -s 1000", "done sent=1 echoed=1 rejects=0 bad=0")
	expect(t, ctx, echoB, "recv from=1001001:")

	// A port that is not there.
	missing := job(t, ctx, a, "peer rdm-send @1001002:1 -D -s 300")
	expect(t, ctx, missing, "reject err=2 retlen=300 same=true")
	expect(t, ctx, missing, "done sent=1 echoed=0 rejects=1 bad=0")

	// Connections and multicast.
	listen := job(t, ctx, b, "peer listen-seqpacket 8889 3")
	expect(t, ctx, listen, "ready")
	if err := a.WaitName(ctx, 8889, 3, 3); err != nil {
		t.Fatal(err)
	}
	checkSends(t, ctx, a, "peer dial-seqpacket 8889 3 -n 5 -s 20000", "done sent=5 echoed=5 bad=0")
	expect(t, ctx, listen, "closed id=")
	hear := job(t, ctx, b, "peer mcast-recv 8890 5 -n 3")
	expect(t, ctx, hear, "ready")
	if err := a.WaitName(ctx, 8890, 5, 5); err != nil {
		t.Fatal(err)
	}
	checkSends(t, ctx, a, "peer mcast-send 8890 0 9 -n 3 -s 500 -b", "done sent=3")
	expect(t, ctx, hear, "done received=3 rejects=0 bad=0")

	// A crash takes the node's names with it, and it may come back.
	nodes := job(t, ctx, a, fmt.Sprintf("peer subscribe 0 %d %[1]d", nodeB))
	expect(t, ctx, nodes, "event published")
	names := job(t, ctx, a, "peer subscribe 8888 2 2")
	expect(t, ctx, names, "event published")
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	suspect(t, ctx, a)
	if _, err := b.Run(ctx, "true"); !errors.Is(err, rig.ErrGone) {
		t.Errorf("Run after Kill: got %v, want %v", err, rig.ErrGone)
	}
	if _, _, err := echoB.Wait(ctx); !errors.Is(err, rig.ErrGone) {
		t.Errorf("Wait after Kill: got %v, want %v", err, rig.ErrGone)
	}
	expect(t, ctx, names, "event withdrawn found={8888,2,2}")
	expect(t, ctx, nodes, "event withdrawn")

	b = start(t, ctx, rig.Options{Name: "b", Address: "1.1.2", Links: []rig.Link{linkB}, Enable: true, Tolerance: patient})
	expect(t, ctx, nodes, "event published")
	expect(t, ctx, job(t, ctx, b, "peer rdm-echo 8888 2"), "ready")
	expect(t, ctx, names, "event published found={8888,2,2}")
	checkSends(t, ctx, a, "peer rdm-send 8888 2", "done sent=1 echoed=1 rejects=0 bad=0")
	t.Logf("%d frames carried, %d and %d dropped", hub.Frames(), wireA.Dropped(), wireB.Dropped())
}

// TestPair has two kernels on one cable; one is frozen for longer than the
// other's the timeout, and comes back.
//
// Proves: bench.tables
func TestPair(t *testing.T) {
	ctx := within(t, 10*time.Minute)
	linkA, linkB, err := rig.NewPair(macA, macB)
	if err != nil {
		t.Fatal(err)
	}
	defer linkA.Close()
	defer linkB.Close()
	a, b := startTwo(t, ctx, linkA, linkB)
	nodes := job(t, ctx, a, fmt.Sprintf("peer subscribe 0 %d %[1]d", nodeB))
	expect(t, ctx, nodes, "event published")
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	suspect(t, ctx, a)
	expect(t, ctx, nodes, "event withdrawn")
	if err := b.Cont(); err != nil {
		t.Fatal(err)
	}
	expect(t, ctx, nodes, "event published")
	if err := b.WaitNode(ctx, nodeA); err != nil {
		t.Fatal(err)
	}
}

// TestGuest is about one guest without network: options, files, jobs, and
// more output and input than the serial line holds.
func TestGuest(t *testing.T) {
	ctx := within(t, 10*time.Minute)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho hello $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := start(t, ctx, rig.Options{
		Name: "solo", Address: "1001003", NetID: 4713,
		Files: map[string]string{"/opt/bin/script": script},
	})
	for cmd, want := range map[string]string{
		"hostname":                 "solo",
		"uname -r":                 g.Release(),
		"/opt/bin/script world":    "hello world",
		"tipc node get netid":      "4713",
		"peer own | cut -d: -f1":   "ready id=1001003",
		"printf 'a\\nb'; echo >&2": "a\nb",
	} {
		if got, err := g.Run(ctx, cmd); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", cmd, got, err, want)
		}
	}
	var exit *rig.ExitError
	if _, err := g.Run(ctx, "echo no; exit 3"); !errors.As(err, &exit) || exit.Code != 3 || exit.Output != "no" {
		t.Errorf("got %v, want status 3", err)
	}
	if lines, code, err := job(t, ctx, g, "/no/such/program").Wait(ctx); err != nil || code != 127 {
		t.Errorf("got %q, %d, %v, want status 127", lines, code, err)
	}
	long := job(t, ctx, g, "cat")
	if err := long.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, code, err := long.Wait(ctx); err != nil || code != 137 {
		t.Errorf("got %d, %v, want status 137", code, err)
	}

	const lines = 20000
	out := must(g.Run(ctx, fmt.Sprintf("seq 1 %d", lines)))(t)
	if got := strings.Count(out, "\n") + 1; got != lines || !strings.HasSuffix(out, fmt.Sprint("\n", lines)) {
		t.Errorf("got %d lines, want %d", got, lines)
	}
	cat := job(t, ctx, g, "cat")
	for i := range 500 {
		if err := cat.Send(fmt.Sprint(i, strings.Repeat(" padding", 25))); err != nil {
			t.Fatal(err)
		}
	}
	if err := cat.CloseInput(); err != nil {
		t.Fatal(err)
	}
	back, code, err := cat.Wait(ctx)
	if err != nil || code != 0 || len(back) != 500 || !strings.HasPrefix(back[499], "499 padding") {
		t.Errorf("cat: got %d lines, %d, %v, want 500", len(back), code, err)
	}
}

// TestBootProblem has a guest that cannot be configured as asked.
func TestBootProblem(t *testing.T) {
	ctx := within(t, 10*time.Minute)
	g, err := rig.Start(ctx, rig.Require(t), rig.Options{Name: "bad", Address: "1.1.9999"})
	if err == nil {
		g.Close()
		t.Fatal("got no error for an address that cannot be")
	}
	if !strings.Contains(err.Error(), "set address") {
		t.Errorf("got %v, want one about the address", err)
	}
}
