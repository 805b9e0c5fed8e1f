// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Table is the table of utipc-lab bench daemon.
var Table = rounds.Table{Name: "daemon", Title: "Programs of the daemon", Rows: rows(), Sets: sets(), More: figures}

func rows() []rounds.Comparison {
	return []rounds.Comparison{
		{ID: "hop-ring", What: "program, daemon and back, 64 B through the ring, a core each, spinning, beside bare shared memory", Ours: "hop/ring", Beside: "hop/shared memory", Metric: rounds.TripTime, Goal: sheet.AtMost, Target: 6},
		{ID: "hop-socket", What: "the same without the ring, asleep, beside a UNIX socket", Ours: "hop/socket", Beside: "hop/unix", Metric: rounds.TripTime},
		{ID: "hop-asleep", What: "program, daemon and back, 64 B, asleep on one core, beside a UNIX socket", Ours: "hop asleep/attached", Beside: "hop asleep/unix", Metric: rounds.TripTime, Goal: sheet.AtMost, Target: 1.3},
		{ID: "path-tcp", What: "programs of two hosts' daemons, 64 B round trip, all asleep, beside Go net TCP", Ours: "path/attached", Beside: "path/go net", Metric: rounds.TripTime},
		{ID: "path-open", What: "the same beside programs that are nodes themselves", Ours: "path/attached", Beside: "path/embedded", Metric: rounds.TripTime},
	}
}

// sets returns the sets of the table of the daemon. Where both ends are of one host,
// end 1 is the daemon, and end 0 a program that writes to itself.
func sets() []rounds.Set {
	return []rounds.Set{
		{Name: "hop", Profiled: []string{"ring"}, Variants: []station.Variant{
			{Name: "shared memory", MTU: 1500, Ends: rounds.Ends(worker.Open{Load: worker.Shared}), Size: rounds.Small},
			{Name: "ring", MTU: 1500, Ends: hopEnds("ring", "spin"), Size: rounds.Small},
			{Name: "socket", MTU: 1500, Ends: hopEnds("", "sleep"), Size: rounds.Small},
			{Name: "unix", MTU: 1500, Ends: rounds.Ends(worker.Open{Load: worker.Unix}), Size: rounds.Small},
		}},
		{Name: "hop asleep", Profiled: []string{"attached"}, Variants: []station.Variant{
			{Name: "unix", MTU: 1500, Ends: rounds.Ends(worker.Open{Load: worker.Unix}), Size: rounds.Small, OneCore: true},
			{Name: "attached", MTU: 1500, Ends: hopEnds("", "sleep"), Size: rounds.Small, OneCore: true},
		}},
		{Name: "path", Variants: []station.Variant{
			{Name: "attached", MTU: 1500, Ends: rounds.Ends(worker.Open{Load: worker.Attached, Wait: "sleep"}), Size: rounds.Small, Daemons: true},
			{Name: "embedded", MTU: 1500, Ends: rounds.TIPC("sleep"), Size: rounds.Small},
			{Name: "go net", MTU: 1500, Ends: rounds.Conns("tcp", ""), Size: rounds.Small, Offloads: true},
		}},
	}
}

// hopEnds are a program, and the daemon that it is attached to.
func hopEnds(socket, wait string) [2]worker.Open {
	return [2]worker.Open{{Load: worker.Attached, Socket: socket, Wait: wait}, {Load: worker.Daemon, Wait: "sleep"}}
}
