// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack/carrier/fault"
)

var update = flag.Bool("update", false, "measure, each row as long as faults run elsewhere, and write the table into docs/explanation/interop.md")

const interopDoc = "../../docs/explanation/interop.md"

// A faultRow is what befalls the frames of both directions.
type faultRow struct {
	name string
	fault.Faults
}

var faultRows = []faultRow{
	{"none", fault.Faults{}},
	{"loss 1 %", fault.Faults{Loss: 0.01}},
	{"loss 5 %", fault.Faults{Loss: 0.05}},
	{"loss 10 %", fault.Faults{Loss: 0.1}},
	{"duplication 5 %", fault.Faults{Duplicate: 0.05}},
	{"reordering 5 %", fault.Faults{Reorder: 0.05}},
}

// A faultWay is who sends to whom.
type faultWay struct {
	name, pair string
	from       int
}

var faultWays = []faultWay{
	{"us to kernel", usAndKernel, 0},
	{"kernel to us", usAndKernel, 1},
	{"kernel to kernel", twoKernels, 0},
}

// A faultCell is what was measured.
type faultCell struct {
	goodput           float64
	repeated, packets int
	resets            int
	verdict           string
}

// Under each fault, each way, messages of 1 to 66000 bytes arrive, and no link is
// reset that a pair of kernels would not have reset. The table in docs/explanation/interop.md
// has these rows; -update measures it anew, otherwise every other row is tried for
// a moment.
//
// Proves: link.kernel
func TestFaultTable(t *testing.T) {
	each, step := 300*time.Millisecond, 2
	if *update {
		each, step = faultTime(t), 1
	}
	cells := map[faultWay]map[string]faultCell{}
	opened := map[string]*pair{}
	var release string
	for _, way := range faultWays {
		p := opened[way.pair]
		if p == nil {
			p = newPair(t, way.pair, 1, 15*time.Minute+time.Duration(2*len(faultRows))*(each+10*time.Second))
			opened[way.pair] = p
			release = p.ends[1].(*theirs).guest.Release()
		}
		cells[way] = map[string]faultCell{}
		for i := 0; i < len(faultRows); i += step {
			row := faultRows[i]
			c := p.measure(way.from, row.Faults, each)
			cells[way][row.name] = c
			t.Logf("%s, %s: %s, %d of %d packets repeated, %d resets", way.name, row.name, rate(c.goodput), c.repeated, c.packets, c.resets)
		}
	}
	for _, row := range faultRows {
		kernels := cells[faultWays[2]][row.name].resets
		for _, way := range faultWays[:2] {
			if c := cells[way][row.name]; c.resets > kernels {
				t.Errorf("%s, %s: %d resets, %d between two kernels", way.name, row.name, c.resets, kernels)
			}
		}
	}
	document(t, "faults", release, faultTable(cells))
}

// measure sends one stream for a while.
func (p *pair) measure(from int, f fault.Faults, d time.Duration) (c faultCell) {
	p.t.Helper()
	p.lines[0].Set(fault.Config{Seed: 7, In: f, Out: f})
	before := p.totals()
	s := p.stream(from, 0, 0)
	p.run(d)
	r, _ := s.end()
	p.lines[0].Set(fault.Config{})
	after := p.totals()
	return faultCell{
		goodput:  r.Goodput(),
		repeated: after[from].retransmitted - before[from].retransmitted,
		packets:  after[from].sent - before[from].sent,
		resets:   after[0].resets - before[0].resets + after[1].resets - before[1].resets,
		verdict:  fmt.Sprintf("%d, %d, %d", r.Lost, r.Doubled, r.Reordered),
	}
}

// faultTable writes what was measured, row by row.
func faultTable(cells map[faultWay]map[string]faultCell) string {
	var b strings.Builder
	b.WriteString("| faults, both ways | who sends to whom | goodput, MB/s | beside no faults | packets repeated | resets | lost, doubled, reordered |\n")
	b.WriteString("|---|---|---|---|---|---|---|\n")
	for _, row := range faultRows {
		for _, way := range faultWays {
			c, none := cells[way][row.name], cells[way]["none"]
			fmt.Fprintf(&b, "| %s | %s | %.1f | %.2f | %.1f %% | %d | %s |\n", row.name, way.name, c.goodput/1e6,
				c.goodput/none.goodput, 100*float64(c.repeated)/float64(c.packets), c.resets, c.verdict)
		}
	}
	return b.String()
}

// document writes the table, or compares the rows and columns of what is written,
// not its figures, which are those of one run.
func document(t *testing.T, name, release, table string) {
	t.Helper()
	b, err := os.ReadFile(interopDoc)
	must(t, err)
	begin, end := "<!-- table "+name+" -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(b), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("no table %s in %s", name, interopDoc)
	}
	if *update {
		table = fmt.Sprintf("Kernel %s.\n\n%s", release, table)
		must(t, os.WriteFile(interopDoc, []byte(before+begin+table+end+after), 0o644))
		return
	}
	if got, want := headings(got), headings(table); got != want {
		t.Errorf("the table in %s has other rows (go test ./test/interop -run %s -update writes it): got\n%s\nwant\n%s", interopDoc, t.Name(), got, want)
	}
}

// headings are the table's first line and the first two columns of the others.
func headings(table string) (s string) {
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		switch {
		case len(cells) < 4:
		case s == "":
			s = line
		default:
			s += strings.Join(cells[:3], "|") + "\n"
		}
	}
	return s
}
