// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/interop/rig"
	"github.com/utipc/utipc/test/tier"
)

var update = flag.Bool("update", false, "write what the kernel prints to testdata")

const (
	testTime    = 20 * time.Minute
	guestTarget = "/bin/transcript" // the program's path in a guest
)

// build makes the program. Without a compiler the test is skipped, or fails where all is
// required.
func build(t *testing.T, static bool) string {
	t.Helper()
	return buildFor(t, "gcc", static)
}

func buildFor(t *testing.T, compiler string, static bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "transcript")
	err := Build(t.Context(), compiler, "program", path, static)
	switch {
	case err == nil:
	case errors.Is(err, exec.ErrNotFound):
		tier.Missing(t, err)
	default:
		t.Fatal(err)
	}
	return path
}

// recorded returns a transcript of testdata.
func recorded(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// check compares a transcript with the recorded one of its name. Differences of unknown kinds
// are errors, of which some are shown.
func check(t *testing.T, where, name, got string, kinds []Kind) {
	t.Helper()
	checkBeside(t, where, name, recorded(t, name), got, kinds)
}

func checkBeside(t *testing.T, where, name, want, got string, kinds []Kind) Result {
	t.Helper()
	const shown = 40
	r := Compare(want, got, kinds)
	unknown := r.Unknown()
	t.Logf("%s: %s: %d of %d lines are equal, kinds %v", where, name, r.Equal, r.Lines, r.Kinds())
	for i, d := range unknown {
		if i == shown {
			break
		}
		t.Logf("%s: %v", where, d)
	}
	if len(unknown) > 0 {
		t.Errorf("%s: %s: %d differences of unknown kinds", where, name, len(unknown))
	}
	return r
}

// A host is where the program runs.
type host struct {
	name  string
	run   func(ctx context.Context, words string) (string, error)
	ready func(ctx context.Context) error // waits until both parts want the link to be cut
	link  func(ctx context.Context, up bool) error
}

// cutType is the service type that both parts bind when the link may be cut: instances 1 and 2.
const cutType = 22099

// guest is a kernel's. Its serial line is slow: what the program prints is sent as a whole.
func guest(name string, g *rig.Guest) host {
	h := host{name: name}
	h.run = func(ctx context.Context, words string) (string, error) {
		out, err := g.Run(ctx, fmt.Sprintf("out=$(mktemp); %s %s >$out 2>&1; status=$?; cat $out; exit $status", guestTarget, words))
		if exit := (*rig.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("transcript %s at %s: exit status %d", words, name, exit.Code)
		}
		return out + "\n", err
	}
	h.ready = func(ctx context.Context) error {
		_, err := g.Run(ctx, fmt.Sprintf("until [ $(tipc nametable show | grep -c '^%d ') = 2 ]; do sleep 0.3; done", cutType))
		return err
	}
	h.link = func(ctx context.Context, up bool) error {
		_, err := g.Run(ctx, "tipc bearer "+map[bool]string{true: "enable", false: "disable"}[up]+" media eth device eth0")
		return err
	}
	return h
}

// twoNodes plays the two parts at two hosts, cuts the link when they want that, and returns what they
// print. The link is up again then.
func twoNodes(ctx context.Context, t *testing.T, client, server host) (clients, servers string) {
	t.Helper()
	playing, over := context.WithCancel(ctx)
	defer over()
	both := func(do func(h host) error) error {
		other := make(chan error, 1)
		go func() { other <- do(server) }()
		return errors.Join(do(client), <-other)
	}
	cut := make(chan error, 1)
	go func() {
		err := both(func(h host) error { return h.ready(playing) })
		if err == nil {
			err = both(func(h host) error { return h.link(ctx, false) })
		}
		cut <- err
	}()
	err := both(func(h host) (err error) {
		if h.name == client.name {
			clients, err = h.run(ctx, "client")
		} else {
			servers, err = h.run(ctx, "server")
		}
		return err
	})
	over()
	err = errors.Join(err, <-cut, both(func(h host) error { return h.link(ctx, true) }))
	if err != nil {
		t.Error(err)
	}
	return clients, servers
}

// record writes what a kernel prints.
func record(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("testdata", name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startGuests boots two kernels that a cable connects; their bearers are not enabled yet.
func startGuests(ctx context.Context, t *testing.T, program string) [2]*rig.Guest {
	t.Helper()
	var links [2]rig.Link
	var err error
	if links[0], links[1], err = rig.NewPair([]byte{2, 0, 0, 0, 0, 1}, []byte{2, 0, 0, 0, 0, 2}); err != nil {
		t.Fatal(err)
	}
	var guests [2]*rig.Guest
	started := make(chan error, len(guests))
	for i, flavour := range rig.Emulated {
		t.Cleanup(func() { links[i].Close() })
		image := rig.RequireKernel(t, flavour)
		go func() {
			var err error
			guests[i], err = rig.Start(ctx, image, rig.Options{
				Name: "n" + strings.ReplaceAll(string(flavour), ".", "-"), Address: fmt.Sprintf("1.1.%d", i+1), Links: links[i : i+1], Tolerance: 30 * time.Second,
				Files: map[string]string{guestTarget: program},
			})
			started <- err
		}()
	}
	for range guests {
		err = errors.Join(err, <-started)
	}
	for _, g := range guests {
		if g == nil {
			continue
		}
		t.Cleanup(func() {
			g.Close()
			if t.Failed() {
				t.Logf("console of %s:\n%s", g.Release(), g.Console())
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return guests
}

// What is recorded is what Linux 6.1 prints, and 6.12 prints the same but for kinds that are
// listed; so do the client's and the server's part, whichever kernel has which. Mutation it
// catches: a line of testdata is changed.
func TestKernels(t *testing.T) {
	tier.SkipShort(t, "kernels that run as guests") // before a build that takes longer than most of the first tier
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	guests := startGuests(ctx, t, build(t, true))
	var hosts [2]host
	kinds := [2][]Kind{nil, KernelKinds}
	type run struct {
		text string
		err  error
	}
	var runs [2]chan run
	for i, g := range guests {
		hosts[i] = guest(string(rig.Emulated[i]), g)
		runs[i] = make(chan run, 1)
		go func() {
			text, err := hosts[i].run(ctx, "")
			runs[i] <- run{text, err}
		}()
	}
	for i := range hosts {
		r := <-runs[i]
		if r.err != nil {
			t.Error(r.err)
		}
		if *update && i == 0 {
			record(t, "node.txt", r.text)
		}
		check(t, hosts[i].name, "node.txt", r.text, kinds[i])
	}
	for _, g := range guests {
		if _, err := g.Run(ctx, "tipc bearer enable media eth device eth0"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range hosts {
		client, server := hosts[i], hosts[1-i]
		clients, servers := twoNodes(ctx, t, client, server)
		if *update && i == 0 {
			record(t, "client.txt", clients)
			record(t, "server.txt", servers)
		}
		where := fmt.Sprintf("client at %s, server at %s", client.name, server.name)
		check(t, where, "client.txt", clients, kinds[i])
		check(t, where, "server.txt", servers, kinds[1-i])
	}
}
