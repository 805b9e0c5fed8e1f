// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/monitor"
)

// A Monitor is how a bearer's neighbours are watched: in a cluster of at most
// MonitorThreshold nodes by every node, in a larger one by some, which tell the others.
// Source: docs/spec/03-discovery-and-node.md §8.
type Monitor struct {
	Bearer string // as tipc(8) names it, "eth:eth0"
	monitor.Status
	Members []monitor.Row // of the ring, this node first, the others by address behind it
}

// Algorithm is what supervises: "full-mesh" or "overlapping-ring".
func (m *Monitor) Algorithm() string {
	if m.Active {
		return "overlapping-ring"
	}
	return "full-mesh"
}

// Summary returns what "tipc link monitor summary" prints for the bearer.
func (m *Monitor) Summary() string {
	return fmt.Sprintf("\nbearer %s\n    table_generation %d\n    cluster_size %d\n    algorithm %s\n",
		m.Bearer, m.Generation, m.Size, m.Algorithm())
}

// String returns what "tipc link monitor list" prints for the bearer: of each member
// whether its link is up, who supervises it, and the state of its own domain as it told.
// Source: docs/spec/10-management.md §3.
func (m *Monitor) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nbearer %s\n", m.Bearer)
	b.WriteString("node          status monitored generation applied_node_status [non_applied_node:status]\n")
	for _, r := range m.Members {
		state, watched := "down", "indirect"
		if r.Up {
			state = "up"
		}
		if r.Direct {
			watched = "direct"
		}
		fmt.Fprintf(&b, "%-14s%-7s%-10s%-11d", zcn(r.Node), state, watched, r.Generation)
		if len(r.Applied)+len(r.Rest) > 0 {
			for i, x := range r.Applied {
				if i > 0 && i%5 == 0 {
					b.WriteByte(',')
				}
				b.WriteString(letter(x.Up))
			}
			b.WriteString(" [")
			for i, x := range r.Rest { // whose addresses are told another way
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(x.Node.String() + ":" + letter(x.Up))
			}
			b.WriteByte(']')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// zcn is an address as zone, cluster and node.
func zcn(a NodeAddr) string { return fmt.Sprintf("%d.%d.%d", a>>24, a>>12&0xfff, a&0xfff) }

func letter(up bool) string {
	if up {
		return "U"
	}
	return "D"
}
