// SPDX-License-Identifier: Apache-2.0

// Package targets is the table of what the short path is to reach: rows of the other tables, with the
// targets that are set for the whole, measured in one run.
package targets

import (
	"github.com/utipc/utipc/test/bench/daemon"
	"github.com/utipc/utipc/test/bench/datapath"
	"github.com/utipc/utipc/test/bench/load/tcp"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sockets"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Table is the table of utipc-lab bench targets.
var Table = table()

// A target is what the row of a table with a name is to reach.
type target struct {
	id    string
	value float64
}

func table() rounds.Table {
	t := rounds.Table{Name: "targets", Title: "What the short path is to reach"}
	add(&t, &datapath.Table, target{"rtt-bare", 1.25})
	add(&t, &sockets.Table, target{"call-bare", 1.2})
	add(&t, &datapath.Table, target{"rtt-sleep-one-core-tcp", 1.15}, target{"rtt-sleep-tcp", 1.1})
	t.Rows = append(t.Rows, rounds.Comparison{
		ID: "rtt-adaptive-spin", What: "Adaptive, one core each, beside Spin",
		Ours: "datapath rtt/tipc adaptive", Beside: "datapath rtt/tipc spin", Metric: rounds.TripTime, Target: 0.95,
	})
	add(&t, &datapath.Table,
		target{"bundle-1500-bare", 0.6}, target{"bundle-3506-bare", 0.5}, target{"single-bare", 0.9},
		target{"bulk-1500-bare", 0.9}, target{"bulk-9000-bare", 0.9}, target{"bulk-65000-bare", 0.8}, target{"udp-stream", 1})
	long(&t)
	add(&t, &daemon.Table, target{"path-tcp", 0.45}, target{"hop-ring", 4})
	add(&t, &datapath.Table, target{"attached", 0.97})
	for _, s := range daemon.Table.More {
		if s.ID == "flood" {
			s.Target = 2
			t.More = append(t.More, s)
		}
	}
	return t
}

// add adds rows of another table with what they need, under its name.
func add(t, from *rounds.Table, targets ...target) {
	under := func(variant string) string {
		if variant != "" {
			variant = from.Name + " " + variant
		}
		return variant
	}
	for _, x := range targets {
		found := false
		for _, r := range from.Rows {
			if r.ID == x.id {
				found = true
				r.Target, r.Ours, r.Also, r.Beside, r.Limit = x.value, under(r.Ours), under(r.Also), under(r.Beside), under(r.Limit)
				t.Rows = append(t.Rows, r)
			}
		}
		if !found {
			panic("targets: table " + from.Name + " has no row " + x.id)
		}
	}
	for _, s := range from.Sets {
		s.Name = under(s.Name)
		if !has(t, s.Name) {
			t.Sets = append(t.Sets, s)
		}
	}
}

func has(t *rounds.Table, set string) bool {
	for i := range t.Sets {
		if t.Sets[i].Name == set {
			return true
		}
	}
	return false
}

// long adds streams of long writes, there and back: over frames, and over UDP with its offloads.
func long(t *rounds.Table) {
	const size = 256 << 10
	over := func(driver string) [2]worker.Open {
		return rounds.Ends(worker.Open{Load: worker.Conns, Socket: "tipc", Wait: "spin", Driver: driver})
	}
	t.Sets = append(t.Sets, rounds.Set{Name: "long", Variants: []station.Variant{
		{Name: "frames", MTU: 1500, Ends: over(""), Size: size},
		{Name: "udp", MTU: 1500, Ends: over(worker.UDP), Size: size, Offloads: true},
		{Name: "tcp", MTU: 1500, Ends: rounds.TCP(tcp.Spin), Size: size, Offloads: true},
	}})
	for _, carrier := range []string{"frames", "udp"} {
		t.Rows = append(t.Rows, rounds.Comparison{
			ID: "long-" + carrier, What: "256 KiB there and back over " + carrier + ", MTU 1500, spinning, beside TCP",
			Ours: "long/" + carrier, Beside: "long/tcp", Metric: rounds.TripTime, Target: 0.5,
		})
	}
}
