// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Daemon is the table of utipc-lab bench daemon.
var Daemon = Sheet{Rows: DaemonRows, Sets: DaemonSets, More: daemonFigures}

// DaemonRows returns the rows of the table of the daemon, in order.
func DaemonRows() []Row {
	return []Row{
		{ID: "hop-ring", What: "program, daemon and back, 64 B through the ring, a core each, spinning, beside bare shared memory", Ours: "hop/ring", Beside: "hop/shared memory", Metric: TripTime, Goal: AtMost, Target: 6},
		{ID: "hop-socket", What: "the same without the ring, asleep, beside a UNIX socket", Ours: "hop/socket", Beside: "hop/unix", Metric: TripTime, Goal: Printed},
		{ID: "hop-asleep", What: "program, daemon and back, 64 B, asleep on one core, beside a UNIX socket", Ours: "hop asleep/attached", Beside: "hop asleep/unix", Metric: TripTime, Goal: AtMost, Target: 1.3},
		{ID: "path-tcp", What: "programs of two hosts' daemons, 64 B round trip, all asleep, beside Go net TCP", Ours: "path/attached", Beside: "path/go net", Metric: TripTime, Goal: Printed},
		{ID: "path-open", What: "the same beside programs that are nodes themselves", Ours: "path/attached", Beside: "path/embedded", Metric: TripTime, Goal: Printed},
	}
}

// DaemonSets returns the sets of the table of the daemon. Where both ends are of one host,
// end 1 is the daemon, and end 0 a program that writes to itself.
func DaemonSets() []Set {
	return []Set{
		{Name: "hop", Profiled: []string{"ring"}, Variants: []station.Variant{
			{Name: "shared memory", MTU: 1500, Ends: both(worker.Open{Load: worker.Shared}), Size: small},
			{Name: "ring", MTU: 1500, Ends: hopEnds("ring", "spin"), Size: small},
			{Name: "socket", MTU: 1500, Ends: hopEnds("", "sleep"), Size: small},
			{Name: "unix", MTU: 1500, Ends: both(worker.Open{Load: worker.Unix}), Size: small},
		}},
		{Name: "hop asleep", Profiled: []string{"attached"}, Variants: []station.Variant{
			{Name: "unix", MTU: 1500, Ends: both(worker.Open{Load: worker.Unix}), Size: small, OneCore: true},
			{Name: "attached", MTU: 1500, Ends: hopEnds("", "sleep"), Size: small, OneCore: true},
		}},
		{Name: "path", Variants: []station.Variant{
			{Name: "attached", MTU: 1500, Ends: both(worker.Open{Load: worker.Attached, Wait: "sleep"}), Size: small, Daemons: true},
			{Name: "embedded", MTU: 1500, Ends: tipcEnds("sleep"), Size: small},
			{Name: "go net", MTU: 1500, Ends: connEnds("tcp", ""), Size: small, Offloads: true},
		}},
	}
}

// hopEnds are a program, and the daemon that it is attached to.
func hopEnds(socket, wait string) [2]worker.Open {
	return [2]worker.Open{{Load: worker.Attached, Socket: socket, Wait: wait}, {Load: worker.Daemon, Wait: "sleep"}}
}
