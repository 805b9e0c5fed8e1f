// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/report"
	"github.com/utipc/utipc/test/tier"
)

// program compiles examples/mpi, after change has had its sources.
func program(t *testing.T, mpi string, change func(dir string)) string {
	t.Helper()
	tier.SkipShort(t, "a compiler of MPI")
	for _, p := range [][2]string{launchers[mpi], compilers[mpi]} {
		if _, err := exec.LookPath(p[0]); err != nil {
			tier.Missing(t, missing(p[0], p[1]))
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../examples/mpi")); err != nil {
		t.Fatal(err)
	}
	change(dir)
	out := filepath.Join(dir, "kernels")
	if err := Compile(t.Context(), mpi, dir, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// launch runs a program of an MPI on this host, over shared memory.
func launch(t *testing.T, mpi string, ranks string, words ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"--pid", "--fork", "--kill-child", "--mount-proc", launchers[mpi][0], "-n", ranks}, words...)
	if mpi == OpenMPI {
		args = slices.Insert(args, 7, "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1")
	}
	cmd := exec.CommandContext(ctx, "unshare", args...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "TMPDIR="+t.TempDir())
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Each program of examples/mpi finds its results right, with each MPI, and says so in a line that Parse reads.
//
// Mutation it catches: report leaves out the number of steps.
//
// Proves: bench.mpi
func TestPrograms(t *testing.T) {
	for _, mpi := range []string{OpenMPI, MPICH} {
		p := program(t, mpi, func(string) {})
		out, err := launch(t, mpi, "4", p, "-t", "0.01", pingpong, "halo:20", "intsort:5000", "cg:50", "store:100", "migrate:3")
		if err != nil {
			t.Fatalf("%s: %v\n%s", mpi, err, out)
		}
		all, err := Parse(out, sizesOfPingpong+5)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.Ranks != 4 || r.Steps < 3 || r.Unit != figure.Seconds && r.Unit != figure.PerSecond {
				t.Errorf("%s: got %+v", mpi, r)
			}
		}
	}
}

// The checks of the programs can fail: each of them does when its algorithm is wrong.
//
// Mutations it catches: check of halo.c, of intsort.c and of cg.c compares nothing; get of store.c, work of migrate.c and ask
// of pingpong.c take any answer.
//
// Proves: bench.mpi
func TestChecksFail(t *testing.T) {
	for _, c := range []struct{ file, right, wrong, run, says string }{
		{"halo.c", "return (1 + i) * b->wide + far;", "return (2 + i) * b->wide + far;", "halo:20", "halo: point"},
		{"intsort.c", "pass(s->in, s->spare, s->got, DIGIT);", "memcpy(s->in, s->spare, sizeof *s->in * s->got);", "intsort:5000", "stands behind"},
		{"intsort.c", "= s->keys[i];\n\tMPI_Alltoall", "= s->keys[i] & ~1u;\n\tMPI_Alltoall", "intsort:5000", "came back"},
		{"cg.c", "s->r[i] -= alpha * s->q[i];", "s->r[i] -= alpha * s->q[i] * 0.999;", "cg:50", "cg: after"},
		{"store.c", "memcpy(at, ask + HEAD, size);", "memcpy(at, ask + HEAD, size - 1);", "store:100", "store: key"},
		{"migrate.c", "o->sum += in.last;", "o->sum += in.last + (in.last == 7);", "migrate:3", "migrate: object"},
		{"migrate.c", "tell(&in, host_of(o), NUMBER);", "tell(o, 0, ANSWER);", "migrate:3", "migrate: object"},
		{"pingpong.c", "MPI_Send(b, size, MPI_CHAR, 0, GO", "b[size > 2 ? 1 : 0]++, MPI_Send(b, size, MPI_CHAR, 0, GO", "pingpong", "pingpong: "},
	} {
		p := program(t, OpenMPI, func(dir string) {
			file := filepath.Join(dir, c.file)
			b, err := os.ReadFile(file)
			if err != nil || strings.Count(string(b), c.right) != 1 {
				t.Fatalf("%s: %v, and %q is not in it once", c.file, err, c.right)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(b), c.right, c.wrong, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		})
		if out, err := launch(t, OpenMPI, "4", p, "-t", "0.01", c.run); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s with %q: %v, want %q in\n%s", c.file, c.wrong, err, c.says, out)
		}
	}
}

// What is printed without a check, or is not as much as was asked for, is an error.
//
// Mutations it catches: Parse does not compare the number of results; it takes a value of 0.
//
// Proves: bench.mpi
func TestParse(t *testing.T) {
	const good = "halo size=79 ranks=2 steps=10 value=1.5e-05 p50=2 p99=2 max=3 checked: all points\nstore size=128 ranks=2 steps=9 value=700 p50=2 p99=2 max=3 checked: all\n"
	got, err := Parse("a word before\n"+good, 2)
	want := []Result{{"halo 79", 79, 2, 10, 1.5e-05, figure.Seconds, 2}, {"store 128", 128, 2, 9, 700, figure.PerSecond, 2}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{
		"", good + good, strings.Replace(good, "checked: all points", "checked: ", 1), strings.Replace(good, "value=700", "value=0", 1),
		strings.Replace(good, "value=700", "value=nan", 1),
	} {
		if got, err := Parse(bad, 2); err == nil {
			t.Errorf("%q: got %+v", bad, got)
		}
	}
}

// A daemon that did not see what was sent means that it went another way.
//
// Mutations it catches: checkTraffic looks at the first daemon alone; at connections alone; it takes no daemons for as many as there ought
// to be; sent counts one way of a ping-pong.
//
// Proves: bench.mpi
func TestFallBack(t *testing.T) {
	const out = "pingpong size=1000 ranks=2 steps=50 value=1 p50=1 p99=1 max=1 checked: all\ncg size=700 ranks=2 steps=20 value=1 p50=1 p99=1 max=1 checked: all\n"
	bytes := sent(out)
	if want := uint64(2*1000*50 + 20); bytes != want {
		t.Fatalf("%d bytes were sent, want %d", bytes, want)
	}
	for _, c := range []struct {
		all     []traffic
		daemons int
		good    bool
	}{
		{[]traffic{{2, bytes}, {2, bytes}}, 2, true},
		{nil, 0, true}, // over the kernel's TCP
		{nil, 2, false},
		{[]traffic{{2, bytes}, {2, bytes - 1}}, 2, false},
		{[]traffic{{2, bytes}, {0, bytes}}, 2, false},
		{[]traffic{{0, 0}, {0, 0}}, 2, false},
	} {
		if err := checkTraffic(c.all, c.daemons, bytes); (err == nil) != c.good {
			t.Errorf("%v: got %v", c.all, err)
		}
	}
}

// Ranks with nodes of their own fall back when the daemons carry what they send, when a rank has no node or no connection of it, or
// when too little went by the nodes.
//
// Mutations it catches: checkNodes does not look at the daemons' bytes; at the number of nodes; at each node's connections; it takes one
// direction of a node's bytes; it asks ranks that were killed.
//
// Proves: bench.mpi
func TestNodesFallBack(t *testing.T) {
	const first, second = "utipc: node 5a had 1 connections, 600 bytes in, 500 out\n", "utipc: node 5b had 1 connections, 500 bytes in, 600 out\n"
	launcher := []traffic{{1, 5000}, {1, 5000}}
	for name, c := range map[string]struct {
		daemons []traffic
		out     string
		ended   bool
		good    bool
	}{
		"all is well":         {launcher, "a line\n" + first + second, true, true},
		"killed":              {launcher, "", false, true},
		"by a daemon":         {[]traffic{{1, 5000}, {3, 2*launching + 1}}, first + second, true, false},
		"killed, by a daemon": {[]traffic{{1, 5000}, {3, 2*launching + 1}}, "", false, false},
		"by no daemon":        {nil, first + second, true, false},
		"no node":             {launcher, "", true, false},
		"one node":            {launcher, strings.Replace(first, "500 out", "5000 out", 1), true, false},
		"no connection":       {launcher, first + strings.Replace(second, "1 conn", "0 conn", 1), true, false},
		"too little":          {launcher, first + strings.Replace(second, "600 out", "599 out", 1), true, false},
	} {
		if err := checkNodes(c.daemons, c.out, 2, 1, 1100, c.ended); (err == nil) != c.good {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Ratios are of the same round, times and rates both as how many times as fast; a cell of ours below 1 is a loss with a
// reason; goals are judged.
//
// Mutations it catches: ratios divides rates as times; it takes values of other rounds; lose takes ways that are not ours;
// judge looks at no layout; least takes the mean alone.
//
// Proves: bench.mpi
func TestCompare(t *testing.T) {
	x := newTake(&report.Bench{Context: t.Context(), Progress: io.Discard})
	index := func(name string) int {
		i := slices.IndexFunc(Ways, func(w Way) bool { return w.Name == name })
		if i < 0 {
			t.Fatal(name)
		}
		return i
	}
	result := func(step, rate, p50 float64) []Result {
		return []Result{
			{Name: "halo 79", Value: step, Unit: figure.Seconds},
			{Name: "store 128", Value: rate, Unit: figure.PerSecond, P50: rate},
			{Name: "cg 700", Value: step, Unit: figure.Seconds, P50: p50},
		}
	}
	tcp, ours, ucx := errand{way: index(baseOpenMPI)}, errand{way: index("Open MPI, utipc, yields")}, errand{way: index("Open MPI, UCX")}
	for round, others := range []float64{0, 0, 0.9} {
		x.add(tcp, round, others, result(12e-6, 3000, 5e-6))
		x.add(ours, round, others, result(10e-6, 1500, 20e-6))
		x.add(ucx, round, others, result(24e-6, 1500, 5e-6))
	}
	x.add(ours, 3, 0, result(1e-6, 1, 1)) // in which TCP was not measured
	for _, c := range []struct {
		e    errand
		name string
		want float64
	}{{ours, "halo 79", 1.2}, {ours, "store 128", 0.5}, {ucx, "halo 79", 0.5}} {
		v := x.ratios(key{c.e, c.name}, whole)
		if len(v) != 2 || v[0] < c.want-1e-9 || v[0] > c.want+1e-9 || v[1] != v[0] {
			t.Errorf("%s of %s: got %v, want %v twice", c.name, Ways[c.e.way].Name, v, c.want)
		}
	}
	if v := x.ratios(key{tcp, "halo 79"}, whole); v != nil {
		t.Errorf("TCP beside itself: got %v", v)
	}
	s := x.section()
	if l := x.b.Losses; len(l) != 2 || l[0].Times != 2 || l[0].Reason != whyHops || !strings.Contains(l[0].Where, "store 128") || l[1].Times != 4 {
		t.Errorf("got the losses %+v", l)
	}
	if want := "1 of 2 targets met"; len(s.Says) != 3 || s.Says[2] != want || !strings.HasPrefix(s.Says[0], "ok: Open MPI, utipc, yields, halo 79") ||
		!strings.HasPrefix(s.Says[1], "MISS: Open MPI, utipc, yields, cg 700") {
		t.Errorf("got %q, want two goals and %q", s.Says, want)
	}
	if v := x.ratios(key{ours, "store 128"}, step); len(v) != 2 || v[0] != 2 {
		t.Errorf("by the median step: got %v, want 2 twice", v)
	}
	if len(s.Tables) != 3 || len(s.Tables[0].Heads) != 4 || len(s.Tables[1].Heads) != 3 || s.Tables[1].Rows[0].Cells[0].Value < 19.9 {
		t.Errorf("got the tables %+v", s.Tables)
	}
	if verdict, _ := x.judge(key{ours, "halo 79"}, goal{"halo 79", false, 9000, 1}); verdict != "" {
		t.Errorf("a goal of another MTU: %s", verdict)
	}
}

// Layouts are measured that were asked for by their titles, idle and beside burners apart; all of them, if none were.
//
// Mutations it catches: asked leaves out who has the cores; it looks at the layout of another program.
//
// Proves: bench.mpi
func TestLayouts(t *testing.T) {
	idle, loaded, program := errand{}, errand{burn: true}, errand{program: "HPCC"}
	for text, want := range map[string][3]bool{
		"":                                   {true, true, true},
		"^2 hosts, a rank each, cores idle$": {true, false, false},
		"burner":                             {false, true, false},
		"^HPCC":                              {false, false, true},
	} {
		x := newTake(&report.Bench{Context: t.Context(), Progress: io.Discard})
		if text != "" {
			x.layouts = regexp.MustCompile(text)
		}
		if got := [3]bool{x.asked(idle), x.asked(loaded), x.asked(program)}; got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// Each way has a base of the same MPI, over the kernel's TCP, and the launcher is told of all hosts.
//
// Mutations it catches: a way is compared with that of another MPI; command leaves out the ranks on a host.
//
// Proves: bench.mpi
func TestWays(t *testing.T) {
	for i := range Ways {
		w := &Ways[i]
		if k, ok := base(key{errand: errand{way: i}}); ok && (k.way < 0 || Ways[k.way].MPI != w.MPI || Ways[k.way].Ours) {
			t.Errorf("%s is compared with way %d", w.Name, k.way)
		}
		j := job{hosts: []string{"10.77.0.1", "10.77.0.2"}, network: "10.77.0.0/24", iface: "tipc0", each: 4, dir: "/d", agent: "/a", program: []string{"/p", "cg"}}
		line := strings.Join(w.command(&j), " ")
		want := regexp.MustCompile(`-N 4 .*--host 10\.77\.0\.1:1,10\.77\.0\.2:1 --mca .* /p cg$`)
		if w.MPI == MPICH {
			want = regexp.MustCompile(`-hosts 10\.77\.0\.1,10\.77\.0\.2 -ppn 4 -n 8 /p cg$`)
		}
		if !want.MatchString(line) {
			t.Errorf("%s: %s", w.Name, line)
		}
		for _, v := range w.environment(&j) {
			if strings.Contains(v, "$") {
				t.Errorf("%s: the environment has %s", w.Name, v)
			}
		}
	}
}

// Programs of the NAS Parallel Benchmarks are found by their names, with the MPI that they need, and what was not verified
// is an error.
//
// Mutations it catches: findNPB takes programs for four ranks; parseNPB takes what was not verified.
//
// Proves: bench.mpi
func TestNPB(t *testing.T) {
	dir := t.TempDir()
	self := program(t, MPICH, func(string) {})
	for _, name := range []string{"cg.S.x", "is.W.2", "lu.S.4", "readme.S.txt"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := findNPB(dir)
	want := []npb{{"cg.S", filepath.Join(dir, "cg.S.x"), MPICH, 2}, {"is.W", filepath.Join(dir, "is.W.2"), MPICH, 2}}
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("got %+v, %v, want %+v", all, err, want)
	}
	if _, err := findNPB(t.TempDir()); err == nil {
		t.Error("an empty folder: got no error")
	}
	const out = " Verification    =               SUCCESSFUL\n Time in seconds =                     0.05\n"
	if r, err := parseNPB("cg.S", out); err != nil || r[0].Value != 0.05 || r[0].Name != "NPB cg.S" {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, bad := range []string{strings.Replace(out, "SUCCESSFUL", "UNSUCCESSFUL", 1), strings.Replace(out, "Time in", "", 1)} {
		if r, err := parseNPB("cg.S", bad); err == nil {
			t.Errorf("%q: got %+v", bad, r)
		}
	}
}
