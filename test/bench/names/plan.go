// SPDX-License-Identifier: Apache-2.0

package names

import (
	"time"

	"github.com/utipc/utipc/test/bench/names/bindings"
	"github.com/utipc/utipc/test/bench/sheet"
)

// A Row is one line of the table.
type Row = sheet.Row

// A Plan says how much is measured.
type Plan struct {
	Bound    uint32        // bindings of a table for look-ups, at most 100,000; a tenth of it around one point
	Lookups  int           // rounds of 16384 look-ups
	Binds    int           // of one range more, gone again
	Millions int           // ways in which a million bindings lie
	Each     uint32        // bindings of each of 100 nodes, at most 10,000
	Rounds   int           // of multicast
	For      time.Duration // of each measurement of a rate
	Names    int           // bound one after the other, to see how fast they are known
	Deaths   int           // of a node
}

// Plans.
var (
	Short = Plan{Bound: 100_000, Lookups: 200, Binds: 20_000, Millions: 3, Each: 10_000, Rounds: 5, For: 300 * time.Millisecond, Names: 200, Deaths: 2}
	Full  = Plan{Bound: 100_000, Lookups: 1000, Binds: 100_000, Millions: len(bindings.Millions()), Each: 10_000, Rounds: 11, For: time.Second, Names: 1000, Deaths: 5}
)
