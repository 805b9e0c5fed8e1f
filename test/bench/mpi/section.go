// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/sheet"
)

// section is what was found.
func (t *take) section() (s figure.Section) {
	s.Errors = t.errors
	for _, burn := range []bool{false, true} {
		if f := t.curves(burn); len(f.Series) > 0 {
			s.Figures = append(s.Figures, f)
		}
	}
	for _, burn := range []bool{false, true} {
		for i := range layouts {
			s.Tables = append(s.Tables, t.pair(errand{layout: i, burn: burn})...)
		}
	}
	s.Tables = append(s.Tables, t.pair(errand{program: "HPCC"})...)
	for _, n := range t.npb {
		s.Tables = append(s.Tables, t.pair(errand{program: n.name})...)
	}
	s.Says = t.goals()
	t.lose()
	return s
}

// curves are the ping-pong's, normalised to TCP: how many times as fast each way is as its base, by the size of the message.
func (t *take) curves(burn bool) figure.Figure {
	f := figure.Figure{
		ID: "mpi-pingpong-idle", Title: "Ping-pong: how many times as fast as the same MPI over TCP, " + company(burn),
		X: figure.Axis{Label: "message", Unit: figure.Bytes, Log: true}, Y: figure.Axis{Label: "TCP / this", Unit: figure.Ratio, Log: true},
	}
	if burn {
		f.ID = "mpi-pingpong-loaded"
	}
	for w := range Ways {
		e := errand{way: w, burn: burn}
		c := figure.Series{Name: Ways[w].Name, Ours: Ways[w].Ours}
		for _, name := range t.names[errand{burn: burn}] {
			text, ok := strings.CutPrefix(name, pingpong+" ")
			size, err := strconv.ParseFloat(text, 64)
			if v := t.ratios(key{e, name}, whole); ok && err == nil && size > 0 && len(v) > 0 {
				c.Points = append(c.Points, figure.PointOf(size, v))
			}
		}
		if len(c.Points) > 0 {
			f.Series = append(f.Series, c)
		}
	}
	return f
}

// pair are the tables of an errand: raw figures, and percentages of these; none where nothing was measured.
func (t *take) pair(e errand) (tables []figure.Table) {
	id, names := fmt.Sprintf("mpi-%d-%v", e.layout, e.burn), t.names[e]
	if e.program != "" {
		id = "mpi-" + e.program
	}
	if len(names) == 0 {
		return nil
	}
	what := t.title(e) + ", " + company(e.burn)
	tables = append(tables, t.table(e, names, id, what, t.values, false))
	faster := func(of figureOf) func(k key) ([]float64, figure.Unit) {
		return func(k key) ([]float64, figure.Unit) { return ahead(t.ratios(k, of)), figure.Percent }
	}
	tables = append(tables, t.table(e, names, id+"-percent", "Percent faster than the same MPI over TCP: "+what, faster(whole), true))
	kernels := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.HasPrefix(name, pingpong+" ") })
	if e.program == "" {
		tables = append(tables, t.table(e, kernels, id+"-steps", "Percent faster, by the median step: "+what, faster(step), true))
	}
	return slices.DeleteFunc(tables, func(t figure.Table) bool { return len(t.Heads) == 1 })
}

// table has a row for each name, and a column for each way that was measured; compared leaves out what others are compared with.
func (t *take) table(e errand, names []string, id, title string, cell func(k key) ([]float64, figure.Unit), compared bool) figure.Table {
	table := figure.Table{ID: id, Title: title, Heads: []string{""}}
	for _, name := range names {
		table.Rows = append(table.Rows, figure.Row{Name: name})
	}
	for w := range Ways {
		e.way = w
		measured := slices.ContainsFunc(names, func(name string) bool { return len(t.found[key{e, name}]) > 0 })
		if !measured || compared && Ways[w].Base == "" {
			continue
		}
		table.Heads = append(table.Heads, Ways[w].Name)
		for i, name := range names {
			v, unit := cell(key{e, name})
			table.Rows[i].Cells = append(table.Rows[i].Cells, figure.CellOf(unit, v))
		}
	}
	return table
}

// each calls f with each key of ours that was measured, in their order.
func (t *take) each(f func(k key)) {
	for _, e := range t.errands() {
		for _, name := range t.names[e] {
			for w := range Ways {
				k := key{e, name}
				if k.way = w; Ways[w].Ours && len(t.found[k]) > 0 {
					f(k)
				}
			}
		}
	}
}

// errands are all, with way 0.
func (t *take) errands() (all []errand) {
	for _, burn := range []bool{false, true} {
		for i := range layouts {
			all = append(all, errand{layout: i, burn: burn})
		}
	}
	all = append(all, errand{program: "HPCC"})
	for _, n := range t.npb {
		all = append(all, errand{program: n.name})
	}
	return all
}

// goals says which goals are met, and last how many.
func (t *take) goals() (lines []string) {
	met, all := 0, 0
	t.each(func(k key) {
		for _, g := range goals {
			verdict, ratio := t.judge(k, g)
			if verdict == "" {
				continue
			}
			if all++; verdict == "ok" {
				met++
			}
			lines = append(lines, fmt.Sprintf("%s: %s, %s, %s, %s: %.2f times as fast as TCP, to be %.2f or more",
				verdict, Ways[k.way].Name, k.name, t.title(k.errand), company(k.burn), ratio, g.at))
		}
	})
	if all == 0 {
		return nil
	}
	return append(lines, fmt.Sprintf("%d of %d targets met", met, all))
}

// Why TCP is better. Which of these weighs most was not found out by a profile.
const (
	whySpins = "a rank that spins has the core that its daemon needs, until the scheduler takes it: what is sent and what comes waits for that, some milliseconds. " +
		"mpi_yield_when_idle changes it, or a node in the process of the rank"
	whyHops = "a message goes through two daemons, each a process that has to be scheduled on the core of the rank, and is copied into a UNIX socket and out of it at both ends, where the kernel's TCP " +
		"is a function of the rank's own system call. A node in the process of the rank would do without"
	whyFrames = "a message is a frame for each 1500 bytes, which the rank's node makes and sends by a socket of AF_PACKET on a macvlan, where the kernel's TCP hands a veth cable up to " +
		"64 KiB at once"
)

// lose keeps cells of ours below 1 as losses.
func (t *take) lose() {
	t.each(func(k key) {
		ratio, ok := t.least(k)
		if !ok || ratio >= 1 {
			return
		}
		w := &Ways[k.way]
		reason := whySpins
		switch {
		case w.Node:
			reason = whyFrames
		case strings.HasSuffix(w.Name, ", yields"):
			reason = whyHops
		}
		text := func(k key) string {
			v, unit := t.values(k)
			return Ways[k.way].Name + ": " + unit.Text(sheet.Median(v))
		}
		other, _ := base(k)
		t.b.Losses = append(t.b.Losses, figure.Loss{
			Section: "mpi", Where: fmt.Sprintf("%s, %s, %s", k.name, t.title(k.errand), company(k.burn)),
			Ours: text(k), Theirs: text(other), Times: 1 / ratio, Reason: reason,
		})
	})
}
