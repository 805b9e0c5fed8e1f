// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/report"
)

// An errand is what is run in one way: the programs of a layout, idle or beside burners, or another program.
type errand struct {
	way, layout int
	burn        bool
	program     string // "": examples/mpi
}

// A found is a result of a round.
type found struct {
	Result
	round  int
	others float64 // share of the cores that others used
}

// A key is what values are of: a result by its name, in a layout.
type key struct {
	errand
	name string
}

// A take is a measurement under way, and then what it has found.
type take struct {
	b        *report.Bench
	dir      string
	library  string            // the preload library
	node     string            // the library that has a node; empty: no way wants it
	programs map[string]string // of examples/mpi, by MPI
	hpcc     string
	npb      []npb
	grounds  map[string]*ground
	layouts  *regexp.Regexp // that are measured; nil: all
	found    map[key][]found
	names    map[errand][]string // of results, with way 0, in their order
	errors   []string
	failed   map[errand]int // runs that failed
}

func newTake(b *report.Bench) *take {
	return &take{
		b: b, programs: map[string]string{}, grounds: map[string]*ground{}, found: map[key][]found{}, names: map[errand][]string{}, failed: map[errand]int{},
	}
}

// prepare builds what is run, and finds what is there.
func (t *take) prepare(o *Options) (err error) {
	if t.dir, err = os.MkdirTemp("", "utipc-mpi-"); err != nil {
		return err
	}
	root, err := report.Checkout(t.b.Context)
	if err != nil {
		return fmt.Errorf("%s: run this in a checkout of the project, with Go at hand: %w", sources, err)
	}
	for _, mpi := range []string{OpenMPI, MPICH} {
		if !slices.ContainsFunc(Ways, func(w Way) bool { return w.MPI == mpi && t.chosen(&w) }) {
			continue
		}
		out := filepath.Join(t.dir, strings.ReplaceAll(mpi, " ", ""))
		err := Compile(t.b.Context, mpi, filepath.Join(root, sources), out)
		if _, e := exec.LookPath(launchers[mpi][0]); err == nil && e != nil {
			err = missing(launchers[mpi][0], launchers[mpi][1])
		}
		if err != nil {
			t.fail(mpi, err)
			continue
		}
		t.programs[mpi] = out
	}
	if len(t.programs) == 0 {
		return errors.New("there is no MPI")
	}
	if t.hpcc, err = exec.LookPath("hpcc"); err != nil {
		t.fail("HPCC", missing("hpcc", "hpcc"))
	}
	if t.library = o.Library; t.library == "" {
		if t.library, err = buildPreload(t.b.Context, root, t.dir); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(Ways, func(w Way) bool { return w.Node && t.wanted(&w) }) {
		if t.node, err = buildNode(t.b.Context, root, t.dir); err != nil {
			return err
		}
	}
	if o.NPB != "" {
		if t.npb, err = findNPB(o.NPB); err != nil {
			t.fail("NPB", err)
		}
	}
	return nil
}

func (t *take) close() {
	for _, g := range t.grounds {
		g.close()
	}
	t.b.Site.Close() // the daemons, whose sockets are in the folder
	if t.dir != "" {
		os.RemoveAll(t.dir)
	}
}

func (t *take) say(format string, args ...any) { fmt.Fprintf(t.b.Progress, format+"\n", args...) }

func (t *take) fail(what string, err error) {
	text := what + ": " + err.Error()
	t.errors = append(t.errors, text)
	t.say("%s", text)
}

// ground is the one for a way and a layout, made when it is first wanted.
func (t *take) ground(w *Way, l *layout) (*ground, error) {
	name, library, own := fmt.Sprintf("%v-%v-%d-%d", w.Ours, w.Node, l.hosts, l.mtu), "", ""
	if w.Ours {
		library = t.library
	}
	if w.Node {
		own = t.node
	}
	if g := t.grounds[name]; g != nil {
		return g, nil
	}
	g, err := newGround(t.b.Site, filepath.Join(t.dir, name), l.hosts, l.mtu, library, own)
	if err == nil {
		t.grounds[name] = g
	}
	return g, err
}

// chosen reports whether a way is one of those that were asked for.
func (t *take) chosen(w *Way) bool { return t.b.Systems == nil || t.b.Systems.MatchString(w.Name) }

// wanted reports whether a way is measured here.
func (t *take) wanted(w *Way) bool { return t.programs[w.MPI] != "" && t.chosen(w) }

// asked reports whether the layout of an errand is one of those that were asked for, or the program.
func (t *take) asked(e errand) bool {
	return t.layouts == nil || t.layouts.MatchString(t.title(e)+", "+company(e.burn))
}

// rounds has all ways take turns, as long as the Context lasts.
func (t *take) rounds() {
	p := t.b.Plan
	for round := range p.Rounds {
		t.say("mpi: round %d of %d", round+1, p.Rounds)
		for i := range layouts {
			l := &layouts[i]
			if p.Name == report.Tiny.Name && !l.often {
				continue
			}
			for _, burn := range []bool{false, true} {
				if burn && (!l.loaded || round >= p.LoadedRounds || p.Name == report.Tiny.Name) {
					continue
				}
				for w := range Ways {
					t.turn(errand{way: w, layout: i, burn: burn}, round)
				}
			}
		}
		for w := range Ways {
			if t.hpcc != "" && p.Name != report.Tiny.Name {
				t.turn(errand{way: w, program: "HPCC"}, round)
			}
			for _, n := range t.npb {
				t.turn(errand{way: w, program: n.name}, round)
			}
		}
	}
}

// most is how often a run may fail before it is not tried any more.
const most = 2

// turn makes one run, unless it is none of this way, or has failed too often.
func (t *take) turn(e errand, round int) {
	w := &Ways[e.way]
	if t.b.Context.Err() != nil || !t.wanted(w) || !t.asked(e) || t.failed[e] >= most || e.program == "HPCC" && w.MPI != OpenMPI {
		return
	}
	results, others, err := t.run(e, w, &layouts[e.layout])
	switch {
	case t.b.Context.Err() != nil || errors.Is(err, errOtherMPI):
	case err != nil:
		t.failed[e]++
		t.fail(fmt.Sprintf("%s, %s, %s, round %d", w.Name, t.title(e), company(e.burn), round+1), err)
	}
	t.add(e, round, others, results)
}

// add keeps results.
func (t *take) add(e errand, round int, others float64, results []Result) {
	some := e
	some.way = 0
	for _, r := range results {
		if !slices.Contains(t.names[some], r.Name) {
			t.names[some] = append(t.names[some], r.Name)
		}
		t.found[key{e, r.Name}] = append(t.found[key{e, r.Name}], found{r, round, others})
	}
}

// title is what is run, in words.
func (t *take) title(e errand) string {
	if e.program != "" {
		return e.program
	}
	return layouts[e.layout].name
}

// limit is how long a run may take, beyond what it measures. In a plan whose figures are worth nothing it is there for what
// hangs alone.
func (t *take) limit() time.Duration {
	if t.b.Plan.Name == report.Tiny.Name {
		return 10 * time.Minute
	}
	return 45 * time.Second
}

// errOtherMPI is of a program that was built with another MPI than a way's.
var errOtherMPI = errors.New("built with another MPI")

// run makes one run.
func (t *take) run(e errand, w *Way, l *layout) (results []Result, others float64, err error) {
	g, err := t.ground(w, l)
	if err != nil {
		return nil, 0, err
	}
	dir, err := os.MkdirTemp(t.dir, "run")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	length, j, read := t.b.Plan.For, job{each: l.each, dir: dir}, func(out string) ([]Result, error) { return Parse(out, l.results()) }
	if e.burn {
		length = t.b.Plan.Loaded
	}
	switch e.program {
	case "":
		j.program = append([]string{t.programs[w.MPI], "-t", fmt.Sprint(length.Seconds())}, l.jobs...)
	case "HPCC":
		j.program, read = []string{t.hpcc}, func(string) ([]Result, error) { return readHPCC(dir) }
		if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(HPCCInput), 0o644); err != nil {
			return nil, 0, err
		}
	default:
		if j.program, read, err = t.programNPB(e.program, w.MPI); err != nil {
			return nil, 0, err
		}
	}
	t.say("%s, %s, %s", w.Name, t.title(e), company(e.burn))
	t.b.Site.Settle()
	if e.burn {
		stop, err := t.b.Site.Burn()
		defer stop()
		if err != nil {
			return nil, 0, err
		}
	}
	ctx, cancel := context.WithTimeout(t.b.Context, t.limit()+4*time.Duration(len(l.jobs))*length)
	defer cancel()
	before := t.b.Site.Usage()
	out, err := g.run(ctx, w, j, sent)
	switch {
	case err == nil:
		results, err = read(out)
	case errors.Is(err, errLate) && e.program == "":
		results, _ = parse(out)
		err = fmt.Errorf("%w: of %d results there are %d", err, l.results(), len(results))
	}
	return results, t.b.Site.Usage().Others(before), err
}

// readHPCC reads the file that HPCC has written into a folder.
func readHPCC(dir string) ([]Result, error) {
	b, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
	if err != nil {
		return nil, err
	}
	return parseHPCC(string(b))
}

// programNPB finds a program of NPB, of an MPI.
func (t *take) programNPB(name, mpi string) (command []string, read func(string) ([]Result, error), err error) {
	for _, n := range t.npb {
		if n.name == name && n.mpi == mpi {
			return []string{n.path}, func(out string) ([]Result, error) { return parseNPB(name, out) }, nil
		}
	}
	return nil, nil, errOtherMPI
}
