// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/test/sim/scale"
)

// run simulates, prints what came of it, and fails for what must not be.
func run(t *testing.T, c scale.Config) scale.Report {
	t.Helper()
	r := c.Run()
	t.Log(r.String())
	for _, v := range r.Findings {
		t.Error(v)
	}
	return r
}

// Proves: contact.scale
func TestScale16(t *testing.T) { run(t, scale.Config{Nodes: 16, Seed: 1, Kills: []int{1, 8}}) }

// Proves: contact.scale
func TestScale64(t *testing.T) {
	run(t, scale.Config{Nodes: 64, Seed: 1, Kills: []int{1, 10}})
	run(t, scale.Config{Nodes: 64, Seed: 2, Kills: []int{1, 10}, Loss: 0.01})
	run(t, scale.Config{Nodes: 64, Seed: 3, Part: true})
}

// TestScale256 judges growth too: from 64 to 256 nodes the traffic of an idle one doubles.
//
// Proves: contact.scale
func TestScale256(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: 256 nodes take some ten seconds")
	}
	small := run(t, scale.Config{Nodes: 64, Seed: 1})
	large := run(t, scale.Config{Nodes: 256, Seed: 1, Kills: []int{1, 10, 100}})
	for _, g := range scale.Grown([]scale.Report{small, large}) {
		t.Log(g)
		if g.Missed() {
			t.Error("missed")
		}
	}
}

// TestScale1000 is the largest; it takes minutes, and 4 GB of memory.
//
// Proves: contact.scale
func TestScale1000(t *testing.T) {
	if os.Getenv("UTIPC_LONG") == "" {
		t.Skip("only with UTIPC_LONG, which test/run --long sets: minutes, and 4 GB of memory")
	}
	small := run(t, scale.Config{Nodes: 256, Seed: 1})
	large := run(t, scale.Config{Nodes: 1000, Seed: 1, Kills: []int{1, 10, 100}, Idle: 10 * time.Second})
	for _, g := range scale.Grown([]scale.Report{small, large}) {
		t.Log(g)
		if g.Missed() {
			t.Error("missed")
		}
	}
}

// TestWatchingAllGrows shows what the monitor is for: without it an idle node of 64 sends
// several times as much.
//
// Proves: contact.scale
func TestWatchingAllGrows(t *testing.T) {
	with := run(t, scale.Config{Nodes: 64, Seed: 1, Idle: 5 * time.Second})
	without := run(t, scale.Config{Nodes: 64, Seed: 1, Idle: 5 * time.Second, NoMonitor: true})
	if by := without.Idle.Messages / with.Idle.Messages; by < 2 {
		t.Errorf("without the monitor an idle node sends %.1f times as much, want 2 at least", by)
	}
}

// TestLyingRecords: a record that calls living nodes dead ends no link.
//
// Proves: contact.scale
func TestLyingRecords(t *testing.T) {
	run(t, scale.Config{Nodes: 64, Seed: 1, Mutation: scale.AllDown})
}

// TestChecksFind breaks the segment, and sees the checks tell.
//
// Proves: contact.scale
func TestChecksFind(t *testing.T) {
	for _, c := range []scale.Config{
		{Nodes: 64, Seed: 1, Kills: []int{1}, Mutation: scale.AllUp},
		{Nodes: 40, Seed: 1, Mutation: scale.Mute},
	} {
		r := c.Run()
		if r.Violations == 0 {
			t.Errorf("mutation %d of %d nodes: nothing was found", c.Mutation, c.Nodes)
			continue
		}
		t.Logf("mutation %d: %d found, first: %s", c.Mutation, r.Violations, r.Findings[0])
	}
}

// Who is to stay dead does: nobody comes back into contact. What is read of a clock is told.
func TestStayDead(t *testing.T) {
	ticks := time.Duration(0)
	r := run(t, scale.Config{
		Nodes: 8, Seed: 1, Kills: []int{1}, Idle: time.Second, Settle: time.Second, StayDead: true,
		Clock: func() time.Duration { ticks++; return ticks },
	})
	if len(r.Kills) != 1 || r.Kills[0].Rejoined != 0 || r.Kills[0].Max == 0 {
		t.Errorf("got %+v, want one death that all noticed, and nobody back", r.Kills)
	}
	if r.IdleReal != 1 || r.Real != 3 {
		t.Errorf("by a clock that ticks when it is read: got %d and %d, want 1 and 3", r.IdleReal, r.Real)
	}
}
