// SPDX-License-Identifier: Apache-2.0

package split

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// small is a size for tests.
var small = Size{Peers: 24, Seed: 7, Rounds: 7, Engines: []int{1, 2, 5, 64}, Repeats: 1}

// A node of several engines delivers what one of one engine does: each message once and in the order of
// its pair of sockets, and all know all names. The table has a row for each load and number
// of engines. The traffic does not depend on the number of engines.
//
// Mutations it catches: carry brings a peer's frame to engine 0 whichever has the peer;
// sendDown sends on the first connection alone; learn does not remove names of the first engine; Cells leaves out the last number of engines.
//
// Proves: bench.split
func TestSplitDelivers(t *testing.T) {
	table := small.Run()
	for _, found := range table.Findings() {
		t.Error(found)
	}
	if got, want := len(table.Cells()), 1+len(Loads)*len(small.Engines); got != want {
		t.Errorf("the table has %d rows, want %d", got, want)
	}
	for i, row := range table.Reports {
		for k := range row {
			r := &row[k]
			if r.Config.Engines != small.Engines[k] || r.Sent != row[0].Sent || r.Read != row[0].Read || r.Names != row[0].Names || r.Dials != row[0].Dials {
				t.Errorf("%s: %d engines had another traffic: %s, with one engine %s", Loads[i].Name, small.Engines[k], r.Traffic(), row[0].Traffic())
			}
			for kind, n := range r.Sent {
				if n == 0 {
					t.Errorf("%s, %d engines: no message of kind %d was sent", Loads[i].Name, small.Engines[k], kind)
				}
			}
		}
	}
}

// The bound of one engine is 1, of k engines at most k but for chance in what a turn takes together, and
// work is counted: more engines repeat more, and a busy peer is the work of one engine.
//
// Mutations it catches: shares ignores Skewed; engineOf ignores Turns; changeName binds without
// counting that as repeated.
//
// Proves: bench.split
func TestSplitCounts(t *testing.T) {
	table := small.Run()
	var last [4]Gain
	for i, row := range table.Reports {
		common := -1.0
		for k := range row {
			r := &row[k]
			g := r.Units(&row[0])
			if engines := float64(r.Config.Engines); g.Bound > 1.02*engines || g.Bound <= 0 || k == 0 && g.Bound != 1 {
				t.Errorf("%s: the bound of %v engines is %v", Loads[i].Name, engines, g.Bound)
			}
			if g.Common <= common {
				t.Errorf("%s: %d engines have %v of their work in common, fewer have %v", Loads[i].Name, r.Config.Engines, g.Common, common)
			}
			if (g.Shared == 0) != (k == 0) {
				t.Errorf("%s: with %d engines the directory does %v units", Loads[i].Name, r.Config.Engines, g.Shared)
			}
			common, last[i] = g.Common, g
		}
		repeated := row[1].Repeated
		if repeated[0].Units == 0 || repeated[1].Units == 0 {
			t.Errorf("%s: two engines repeated %+v of %+v", Loads[i].Name, repeated, row[1].Engines)
		}
	}
	if even, skewed := last[1], last[3]; skewed.Bound > 0.7*even.Bound {
		t.Errorf("with a busy peer the bound is %v, without %v", skewed.Bound, even.Bound)
	}
	if hashed, turns := table.Reports[0][2].Most, table.Reports[1][2].Most; turns != 5 || hashed <= turns {
		t.Errorf("of 24 peers the busiest of 5 engines has %d, by hash %d; want 5, and more", turns, hashed)
	}
}

// What a node gains: 1200 units of one engine, over 300 and 80 of three engines, of which 20 and 10 are
// repeated, and 60 of the directory.
//
// Mutations it catches: sum leaves out the repeated work; gain leaves the directory out of
// the bound, or out of the share in common; counts the first engine's repeated work as in common.
//
// Proves: bench.split
func TestSplitGain(t *testing.T) {
	w := newWorld(Config{Engines: 3, Peers: 2, Turns: true})
	w.parts[0].alone, w.parts[0].repeated = Cost{Units: 70}, Cost{Units: 10}
	w.parts[1].alone, w.parts[1].repeated = Cost{Units: 280}, Cost{Units: 20}
	w.shared = Cost{Units: 60}
	w.sum()
	one := Report{Engines: []Cost{{Units: 1200}}}
	want := Gain{Total: 440, Largest: 300, Shared: 60, Bound: 1200. / 360, Common: 80. / 440}
	if got := w.report.Units(&one); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if w.report.Served != 2 || w.report.Most != 1 {
		t.Errorf("%d engines have a peer, the most %d; want 2 and 1", w.report.Served, w.report.Most)
	}
}

// Two runs of one seed are the same, and another seed is another run. A clock that ticks when it
// is read changes no traffic, and is what times are of.
//
// Mutations it catches: checkFlows, or round, walks a map where that has an effect; timed does
// not take off the reading; least compares no units.
//
// Proves: bench.split
func TestSplitRepeats(t *testing.T) {
	c := Config{Peers: 12, Engines: 3, Seed: 3, Rounds: 6}
	first, again := c.Run(), c.Run()
	if !reflect.DeepEqual(first, again) {
		t.Errorf("got %+v, then %+v", first, again)
	}
	c.Seed = 4
	if other := c.Run(); slices.Equal(other.Engines, first.Engines) {
		t.Errorf("seeds 3 and 4 both had %+v", first.Engines)
	}
	again.Shared.Units++
	if again.least(first); again.Violations != 1 {
		t.Errorf("a run that did a unit less was found %d times, want once", again.Violations)
	}
	c.Seed = 3
	ticks := time.Duration(0)
	c.Clock = func() time.Duration { ticks++; return ticks }
	timed := c.Run()
	for i := range timed.Engines {
		if timed.Engines[i].Units != first.Engines[i].Units || timed.Engines[i].Time != 0 {
			t.Errorf("engine %d, by a clock that ticks when it is read: got %+v, want %d units and no time", i, timed.Engines[i], first.Engines[i].Units)
		}
	}
}

// The checks find what is wrong.
//
// Mutation it catches: each of them without effect, and each of the checks left out.
//
// Proves: bench.split
func TestSplitChecksFind(t *testing.T) {
	for m, want := range map[Mutation]string{
		WrongEngine:    "", // whatever it is that goes wrong
		PrivateNumbers: "knows the node's names as",
		OneEngineBinds: "knows the node's names as",
		ForgetsNames:   "the node knows",
		SendsTwice:     "multicast down",
		Reverses:       "message 1 was read, not 0",
	} {
		r := Config{Peers: 12, Engines: 3, Seed: 1, Rounds: 10, Mutation: m}.Run()
		if r.Violations == 0 || !slices.ContainsFunc(r.Findings, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("mutation %d: found %q, want %q", m, r.Findings, want)
		}
	}
}
