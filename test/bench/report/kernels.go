// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/kernels/cg"
	"github.com/utipc/utipc/internal/kernels/halo"
	"github.com/utipc/utipc/internal/kernels/intsort"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/launch"
	"github.com/utipc/utipc/internal/kernels/migrate"
	"github.com/utipc/utipc/internal/kernels/store"
	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

var applications = Kind{
	Name: "kernels", Title: "Application kernels", Ends: true, Measure: measureKernels,
	How: `Small programs of the kinds that clusters run, of examples/ and docs/explanation/kernels.md: each checks what it has worked out,
and a run that fails its check is an error here. A rank is a process in a network namespace, on a core to itself; objects
that move have three, of which the two hosts share a core. MTU 1500.

Ours is a node that waits adaptively, with connections between ranks ("tipc"), an active port and calls for the store, RDM
and calls for objects; links have MaxWindow 400, and the sort, in which two goroutines of a rank wait at once, GoPoller. Beside it Go net TCP, as most programs use it; and TCP that does as our node does: a read looks
for 50 us before it sleeps. TCP has cubic, NODELAY and offloads. The three take turns; each run is started anew.

The figure has how many times as fast ours is. Beside burners a busy process runs on each core meanwhile.`,
}

// A job is a kernel with a size.
type job struct {
	name   string
	kernel kernel.Kernel
	size   int
	steps  int // in the plan Short, on idle cores
	loaded int // beside burners, where a step may take a thousand times as long
}

var jobs = []job{
	{"halo, edges of 632 B", halo.Kernel, 79, 4000, 400},
	{"halo, edges of 1296 B", halo.Kernel, 162, 3000, 300},
	{"integer sort, 2 x 65536 keys", intsort.Kernel, 1 << 16, 60, 20},
	{"conjugate gradients, 2 x 700", cg.Kernel, 700, 1500, 150},
	{"store, values of 128 B", store.Kernel, 128, 5000, 400},
	{"objects that move", migrate.Kernel, 8, 3000, 1000},
}

// A way is what carries messages, and how who waits for them does.
type way struct{ name, over, wait string }

var ways = []way{
	{"utipc", launch.UTIPC, "adaptive"},
	{"TCP that looks first", launch.TCP, "adaptive"},
	{"Go net TCP", launch.TCP, "sleep"},
}

// An errand is one job in one way, idle or beside burners.
type errand struct {
	job, way int
	burn     bool
}

// A found is a run of it.
type found struct {
	launch.Report
	round  int
	others float64
}

// errands are what a measurement of kernels has found.
type errands struct {
	b       *Bench
	program []string
	found   map[errand][]found
	errors  []string
}

func measureKernels(b *Bench) (s figure.Section, err error) {
	// The worker's program, as a rank.
	all := &errands{b: b, program: append(slices.Clone(b.Program[:len(b.Program)-1]), "rank"), found: map[errand][]found{}}
	sites := map[int]*launch.Site{}
	defer func() {
		for _, site := range sites {
			site.Close()
		}
	}()
	for _, j := range jobs {
		if n := j.kernel.Ranks; sites[n] == nil {
			if sites[n], err = launch.NewSite(n, all.program); err != nil {
				return s, err
			}
		}
	}
	all.rounds(sites)
	s.Errors = all.errors
	for _, burn := range []bool{false, true} {
		s.Figures = append(s.Figures, all.figure(burn))
	}
	s.Tables = []figure.Table{all.values(), all.tails(), all.moves()}
	for i, burn := range []bool{false, true} {
		s.Says = append(s.Says, best(s.Figures[i], "Kernels, "+company(burn)))
	}
	return s, nil
}

// rounds has all ways take turns, as long as the Context lasts. A run is started anew and takes
// longer than an Exchange: so there is a round less.
func (a *errands) rounds(sites map[int]*launch.Site) {
	rounds, loaded := max(1, a.b.Plan.Rounds-1), max(1, a.b.Plan.LoadedRounds-1)
	for round := range rounds {
		a.b.say("kernels: round %d of %d", round+1, rounds)
		for i, j := range jobs {
			for _, burn := range []bool{false, true} {
				for w := range ways {
					if a.b.Context.Err() != nil {
						return
					}
					if !burn || round < loaded {
						a.run(sites[j.kernel.Ranks], errand{i, w, burn}, round)
					}
				}
			}
		}
	}
}

func company(burn bool) string {
	if burn {
		return "a CPU burner on each core"
	}
	return "cores idle"
}

// run makes one run.
func (a *errands) run(site *launch.Site, e errand, round int) {
	j, w := jobs[e.job], ways[e.way]
	steps := int(int64(j.steps) * int64(a.b.Plan.For) / int64(Short.For))
	if e.burn {
		steps = int(int64(j.loaded) * int64(a.b.Plan.Loaded) / int64(Short.Loaded))
	}
	a.b.Site.Settle()
	before := a.b.Site.Usage()
	r, err := site.Run(a.b.Context, launch.Options{
		Kernel: j.kernel, Over: w.over, Wait: w.wait, Burn: e.burn, Nice: a.b.Site.Nice,
		Config: kernel.Config{Steps: max(steps, 10), Size: j.size},
	})
	if a.b.Context.Err() != nil {
		return
	}
	if err != nil {
		what := fmt.Sprintf("%s, %s, %s: %v", j.name, w.name, company(e.burn), err)
		a.errors = append(a.errors, what)
		a.b.say("%s", what)
		return
	}
	a.found[e] = append(a.found[e], found{r, round, a.b.Site.Usage().Others(before)})
}

// counted are the runs that count, as a Take's.
func (a *errands) counted(e errand) []found {
	all := a.found[e]
	quiet := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.others > station.Busy })
	if !rounds.Enough(len(quiet), len(all)) {
		return all
	}
	return quiet
}

// cell is a value of an errand; nothing, where it was not measured.
func (a *errands) cell(unit figure.Unit, e errand, value func(found) float64) figure.Cell {
	var v []float64
	for _, f := range a.counted(e) {
		v = append(v, value(f))
	}
	return figure.CellOf(unit, v)
}

// ratios are how many times as fast ours is as another way, one for each round that has both.
func (a *errands) ratios(e errand) (v []float64) {
	other := map[int]float64{}
	for _, f := range a.counted(e) {
		other[f.round] = f.Value
	}
	ours := e
	ours.way = 0
	for _, f := range a.counted(ours) {
		theirs, ok := other[f.round]
		switch {
		case !ok || theirs <= 0 || f.Value <= 0:
		case f.Unit == string(figure.PerSecond):
			v = append(v, f.Value/theirs)
		default:
			v = append(v, theirs/f.Value)
		}
	}
	return v
}

// figure has the ratios as bars, and keeps those below 1 as losses.
func (a *errands) figure(burn bool) figure.Figure {
	f := figure.Figure{
		ID: "kernels-idle", Title: "How many times as fast ours is, " + company(burn),
		X: figure.Axis{Label: "kernel"}, Y: figure.Axis{Label: "other / ours", Unit: figure.Ratio},
	}
	if burn {
		f.ID = "kernels-loaded"
	}
	for _, j := range jobs {
		f.Ticks = append(f.Ticks, j.name)
	}
	for w := 1; w < len(ways); w++ {
		s := figure.Series{Name: ways[0].name + " : " + ways[w].name, Ours: true}
		for i := range jobs {
			e := errand{i, w, burn}
			v := a.ratios(e)
			if len(v) == 0 {
				continue
			}
			p := figure.PointOf(float64(i), v)
			s.Points = append(s.Points, p)
			if p.Y < 1 {
				a.lose(e, p)
			}
		}
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	return f
}

// Why TCP is better at a kernel.
const (
	whySort = "the buckets, of 128 KiB each, are some 90 frames a way, each a passage through the driver; TSO moves them in three. " +
		"A larger MTU changes it: with 9000 and Wait: Spin ours is faster"
	whyScheduled = "between two messages the ranks compute, and what is left of a step is the scheduler's: ours and TCP's wait for it alike"
	whyHosts     = "the two hosts share a core, where a node that looks for messages takes the time of the other; Wait: Sleep for the hosts changes it"
)

func kernelReason(e errand) string {
	switch {
	case jobs[e.job].kernel.Name == intsort.Kernel.Name && e.burn:
		return whySort + "; " + whyBurners
	case jobs[e.job].kernel.Name == intsort.Kernel.Name:
		return whySort
	case e.burn:
		return whyBurners
	case jobs[e.job].kernel.Name == migrate.Kernel.Name:
		return whyHosts
	}
	return whyScheduled
}

// lose keeps a cell as a loss.
func (a *errands) lose(e errand, p figure.Point) {
	j := jobs[e.job]
	reason := kernelReason(e)
	if p.High >= 1 {
		reason = "not in every round: the spread reaches 1. " + reason
	}
	text := func(way int) string {
		var v []float64
		for _, f := range a.counted(errand{e.job, way, e.burn}) {
			v = append(v, f.Value)
		}
		return ways[way].name + ": " + figure.Unit(j.kernel.Unit).Text(sheet.Median(v))
	}
	a.b.Losses = append(a.b.Losses, figure.Loss{
		Section: "kernels", Where: j.name + ", " + j.kernel.Value + ", " + company(e.burn),
		Ours: text(0), Theirs: text(e.way), Times: 1 / p.Y, Reason: reason,
	})
}

// each makes a table with a row for each kernel that keep keeps, idle and beside burners.
func (a *errands) each(t figure.Table, keep func(job) bool, cells func(i int, burn bool) []figure.Cell) figure.Table {
	for i, j := range jobs {
		if !keep(j) {
			continue
		}
		for _, burn := range []bool{false, true} {
			name := j.name
			if burn {
				name += ", beside burners"
			}
			t.Rows = append(t.Rows, figure.Row{Name: name, Cells: cells(i, burn)})
		}
	}
	return t
}

func every(job) bool { return true }

// values are a step's time, or steps a second, in each way, and the ratios.
func (a *errands) values() figure.Table {
	t := figure.Table{ID: "kernels", Title: "Time a step, or rate", Heads: []string{"", ways[0].name, ways[1].name, ways[2].name, "times as fast as TCP that looks", "as Go net TCP"}}
	return a.each(t, every, func(i int, burn bool) (cells []figure.Cell) {
		for w := range ways {
			cells = append(cells, a.cell(figure.Unit(jobs[i].kernel.Unit), errand{i, w, burn}, func(f found) float64 { return f.Value }))
		}
		for w := 1; w < len(ways); w++ {
			cells = append(cells, figure.CellOf(figure.Ratio, a.ratios(errand{i, w, burn})))
		}
		return cells
	})
}

// tails are what half of the steps, and 99 of 100, take at most.
func (a *errands) tails() figure.Table {
	t := figure.Table{ID: "kernels-tails", Title: "A step, a request, a message: how long", Heads: []string{""}}
	for _, w := range ways {
		t.Heads = append(t.Heads, w.name+", median", "p99")
	}
	return a.each(t, every, func(i int, burn bool) (cells []figure.Cell) {
		for w := range ways {
			for _, of := range []func(found) time.Duration{func(f found) time.Duration { return f.P50 }, func(f found) time.Duration { return f.P99 }} {
				cells = append(cells, a.cell(figure.Seconds, errand{i, w, burn}, func(f found) float64 { return of(f).Seconds() }))
			}
		}
		return cells
	})
}

// moves are of the objects: how long one gives no answer when it changes hosts.
func (a *errands) moves() figure.Table {
	t := figure.Table{ID: "kernels-moves", Title: "Objects that move: without an answer at a move", Heads: []string{""}}
	for _, w := range ways {
		t.Heads = append(t.Heads, w.name+", median", "longest")
	}
	return a.each(t, func(j job) bool { return j.kernel.Name == migrate.Kernel.Name }, func(i int, burn bool) (cells []figure.Cell) {
		for w := range ways {
			for _, of := range []func(*kernel.Moves) time.Duration{func(m *kernel.Moves) time.Duration { return m.P50 }, func(m *kernel.Moves) time.Duration { return m.Max }} {
				cells = append(cells, a.cell(figure.Seconds, errand{i, w, burn}, func(f found) float64 { return of(f.Moves).Seconds() }))
			}
		}
		return cells
	})
}
