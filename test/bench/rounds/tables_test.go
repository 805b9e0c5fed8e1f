// SPDX-License-Identifier: Apache-2.0

package rounds_test

import (
	"testing"

	"github.com/utipc/utipc/test/bench/daemon"
	"github.com/utipc/utipc/test/bench/datapath"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sealed"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/sockets"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Every row of the tables names variants there are, of one set where it divides them, and no
// two have one name.
//
// It fails if a variant of a set is renamed.
//
// Proves: bench.tables, daemon.cost
func TestRowsAndSetsAgree(t *testing.T) {
	for _, table := range []rounds.Table{datapath.Table, sockets.Table, daemon.Table, sealed.Table} {
		if err := table.Check(); err != nil {
			t.Errorf("%s: %v", table.Name, err)
		}
	}
}

// What is wrong with a table is found.
//
// It fails if a mistake is not looked for, such as two rows of one name.
func TestCheck(t *testing.T) {
	trip := station.Variant{Name: "a", MTU: 1500, Size: rounds.Small, Ends: rounds.TIPC("spin")}
	oneWay := trip
	oneWay.Name, oneWay.OneWay = "one way", true
	sets := []rounds.Set{{Name: "s", Variants: []station.Variant{trip, oneWay}}, {Name: "t", Variants: []station.Variant{trip}}}
	good := []rounds.Comparison{
		{ID: "a", Ours: "s/a", Beside: "s/a", Goal: sheet.AtMost, Target: 1},
		{ID: "t", Ours: "t/a", Beside: "t/a"},
		{ID: "one", Ours: "s/one way", Beside: "s/one way", Metric: rounds.Bits},
	}
	if err := (&rounds.Table{Rows: good, Sets: sets}).Check(); err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]rounds.Table{
		"two rows of one name":           {Rows: good[:1], Sets: nil},
		"a variant there is not":         {Rows: []rounds.Comparison{{ID: "x", Ours: "s/b", Beside: "s/a"}}},
		"one way beside round trips":     {Rows: []rounds.Comparison{{ID: "x", Ours: "s/a", Beside: "s/one way"}}},
		"sets that do not take turns":    {Rows: []rounds.Comparison{{ID: "x", Ours: "s/a", Beside: "t/a"}}},
		"a metric of round trips":        {Rows: []rounds.Comparison{{ID: "x", Ours: "s/one way", Beside: "s/one way"}}},
		"a goal without a target":        {Rows: []rounds.Comparison{{ID: "x", Ours: "s/a", Beside: "s/a", Goal: sheet.AtLeast}}},
		"a variant of no row":            {Sets: []rounds.Set{{Name: "u", Variants: []station.Variant{trip}}}},
		"two variants of one name":       {Sets: []rounds.Set{sets[1]}},
		"a single of a row's name":       {More: []rounds.Single{{ID: "a"}}},
		"a variant without a size":       {Sets: []rounds.Set{{Name: "u", Variants: []station.Variant{{Name: "a", MTU: 1500, Ends: rounds.Ends(worker.Open{Load: worker.TIPC})}}}}, Rows: []rounds.Comparison{{ID: "x", Ours: "u/a", Beside: "u/a"}}},
		"twice what does not come first": {Sets: []rounds.Set{{Name: "u", Twice: [2]string{"a", "b"}, Variants: []station.Variant{trip}}}, Rows: []rounds.Comparison{{ID: "x", Ours: "u/a", Beside: "u/a"}}},
	} {
		table := rounds.Table{Rows: append(good[:3:3], more.Rows...), Sets: append(sets[:2:2], more.Sets...), More: more.More}
		if table.Check() == nil {
			t.Errorf("%s was not found", name)
		}
	}
}
