// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"fmt"
	"io"

	"github.com/utipc/utipc/monitor"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// MonitorList writes what "tipc link monitor list" prints.
func MonitorList(w io.Writer, all []admin.Monitor) {
	for i := range all {
		io.WriteString(w, all[i].String())
	}
}

// MonitorListJSON is the same as JSON.
func MonitorListJSON(all []admin.Monitor) Array {
	list := Array{}
	for _, m := range all {
		rows := Array{}
		for _, r := range m.Members {
			watched := "indirect"
			if r.Direct {
				watched = "direct"
			}
			o := Object{{"node", zcn(r.Node)}, {"status", upDown(r.Up)}, {"monitored", watched}, {"generation", uint16(r.Generation)}}
			if len(r.Applied)+len(r.Rest) > 0 {
				o = append(o, Field{"applied_node_status", told(r.Applied, false)}, Field{"[non_applied_node:status]", told(r.Rest, true)})
			}
			rows = append(rows, o)
		}
		list = append(list, Object{{"bearer", m.Bearer}, {m.Bearer, rows}})
	}
	return list
}

func told(all []monitor.Member, named bool) Array {
	a := Array{}
	for _, m := range all {
		s := "D"
		if m.Up {
			s = "U"
		}
		if named {
			s = m.Node.String() + ":" + s
		}
		a = append(a, s)
	}
	return a
}

// MonitorSummary writes what "tipc link monitor summary" prints.
func MonitorSummary(w io.Writer, all []admin.Monitor) {
	for i := range all {
		io.WriteString(w, all[i].Summary())
	}
}

// MonitorSummaryJSON is the same as JSON.
func MonitorSummaryJSON(all []admin.Monitor) Array {
	list := Array{}
	for _, m := range all {
		list = append(list, Object{
			{"bearer", m.Bearer}, {"table_generation", uint16(m.Generation)}, {"cluster_size", m.Size}, {"algorithm", m.Algorithm()},
		})
	}
	return list
}

// zcn is an address as zone, cluster and node.
func zcn(a stack.NodeAddr) string { return fmt.Sprintf("%d.%d.%d", a>>24, a>>12&0xfff, a&0xfff) }
