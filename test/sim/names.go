// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"

	"github.com/utipc/utipc/naming"
)

// checkName is invariant 7: a binding is published and withdrawn in turns.
func (l *life) checkName(ev naming.Event) {
	was := l.told[ev.Binding]
	switch {
	case ev.Withdrawn && !was:
		l.n.w.violate(7, "node %d: %+v withdrawn and was not published", l.n.idx, ev.Binding)
	case !ev.Withdrawn && was:
		l.n.w.violate(7, "node %d: %+v published and was already", l.n.idx, ev.Binding)
	case ev.Withdrawn:
		delete(l.told, ev.Binding)
	default:
		l.told[ev.Binding] = true
	}
}

// checkTold compares the table with what the events told.
func (l *life) checkTold() {
	n := 0
	for b := range l.eng.Bindings {
		n++
		if !l.told[b] {
			l.n.w.violate(7, "node %d: the table has %+v, which no event told", l.n.idx, b)
		}
	}
	if n != len(l.told) {
		l.n.w.violate(7, "node %d: the table has %d bindings, events told of %d", l.n.idx, n, len(l.told))
	}
}

// A row is a binding without the key, which the engine chose.
type row struct {
	typ, lower, upper uint32
	scope             uint8
	port, node        uint32
}

func rowOf(b naming.Binding) row {
	return row{b.Range.Type, b.Range.Lower, b.Range.Upper, uint8(b.Scope), b.Socket.Port, uint32(b.Socket.Node)}
}

func (a row) compare(b row) int {
	return slices.Compare([]uint32{a.typ, a.lower, a.upper, uint32(a.scope), a.port, a.node},
		[]uint32{b.typ, b.lower, b.upper, uint32(b.scope), b.port, b.node})
}

// rows is a node's table, sorted.
func (l *life) rows() (rows []row) {
	for b := range l.eng.Bindings {
		rows = append(rows, rowOf(b))
	}
	slices.SortFunc(rows, row.compare)
	return rows
}
