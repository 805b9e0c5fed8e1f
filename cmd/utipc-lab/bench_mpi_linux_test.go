// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// Programs of MPI are measured over the kernel's TCP, over the daemons', and with nodes in the ranks, so shortly that the figures say
// nothing. The tables have all three; what is printed of ours has gone by the daemons, or by the nodes.
//
// Mutations it catches: the hosts of ours get addresses of the kernel's TCP and no library (the daemons see nothing); pair
// leaves out ways of ours; withNode gives ranks no node (the daemons carry all).
//
// Proves: bench.mpi
func TestBenchMPI(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	for _, name := range []string{"mpirun.openmpi", "mpicc.openmpi", "hpcc"} {
		if _, err := exec.LookPath(name); err != nil {
			tier.Missing(t, err)
		}
	}
	dir := t.TempDir()
	cmd := itself("bench", "mpi", "--tiny", "--wait", "0", "--out", dir, "--systems", "^Open MPI, TCP$|^Open MPI, utipc, yields$|^Open MPI, node in rank, yields$")
	out, errs, err := runBench(t, cmd, (*exec.Cmd).Start)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, errs, out)
	}
	r := readReport(t, dir)
	s := r.Sections[0]
	if len(s.Errors) > 0 || len(s.Figures) != 1 || len(s.Tables) != 6 {
		t.Fatalf("got %d figures and %d tables, %q", len(s.Figures), len(s.Tables), s.Errors)
	}
	for i, want := range []struct{ rows, ways int }{{16, 3}, {16, 2}, {5, 2}, {5, 3}, {5, 2}, {5, 2}} {
		table := s.Tables[i]
		if len(table.Rows) != want.rows || len(table.Heads) != 1+want.ways {
			t.Errorf("%s: got %d rows and the heads %q, want %d rows and %d ways", table.Title, len(table.Rows), table.Heads, want.rows, want.ways)
		}
		for _, row := range table.Rows {
			for w, c := range row.Cells {
				if c.Word != "" {
					t.Errorf("%s, %s: %s was not measured", table.Title, row.Name, table.Heads[1+w])
				}
			}
		}
	}
	for _, want := range []string{"halo 79", "percent", "targets met", "NAS Parallel Benchmarks: not run"} {
		if !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
			t.Errorf("got\n%s\nwant %q in it", out, want)
		}
	}
}
