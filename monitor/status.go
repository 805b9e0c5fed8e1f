// SPDX-License-Identifier: Apache-2.0

package monitor

import "github.com/utipc/utipc/frame"

// A Status is how a bearer's neighbours are watched.
type Status struct {
	Generation frame.Seq // of the list of who is watched how
	Size       int       // of the ring, this node included
	Threshold  int       // up to which everybody watches everybody
	Active     bool      // the ring is larger than that
}

// Status returns how neighbours are watched.
func (m *Monitor) Status() Status {
	return Status{Generation: m.listGen, Size: len(m.ring), Threshold: m.threshold, Active: m.Active()}
}

// A Row is a member of the ring, as this node sees it.
type Row struct {
	Node       frame.NodeAddr
	Up         bool
	Direct     bool      // this node supervises it, else others do
	Generation frame.Seq // of its domain, 0 when it told none
	Applied    []Member  // of its domain that stand in our ring as it says
	Rest       []Member  // and those that do not
}

// A Member is one of a domain, in the state that its owner says.
type Member struct {
	Node frame.NodeAddr
	Up   bool
}

// Rows returns all members of the ring, this node first.
func (m *Monitor) Rows() []Row {
	rows := make([]Row, 0, len(m.ring))
	for i, p := range m.ring {
		r := p.record
		if i == 0 {
			r = &m.own
		}
		row := Row{Node: p.addr, Up: p.up, Direct: p.local || p.head}
		if r != nil {
			row.Generation = r.gen
			for k, a := range r.members {
				x := Member{a, r.up>>k&1 != 0}
				if k < int(p.applied) {
					row.Applied = append(row.Applied, x)
				} else {
					row.Rest = append(row.Rest, x)
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
