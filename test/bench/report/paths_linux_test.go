// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
	"github.com/utipc/utipc/test/tier"
)

// role says that a child of this test is a worker.
const role = "UTIPC_BENCH_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "worker" {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, worker.OpenLoad); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	link.Tolerance = load.Tolerance
	os.Exit(m.Run())
}

// bench is one with a site and a tiny plan.
func bench(t *testing.T) *Bench {
	t.Helper()
	t.Setenv(role, "worker")
	s, err := station.NewSite(t.Context(), station.Options{Program: []string{os.Args[0]}, Driver: worker.Auto})
	if errors.Is(err, os.ErrPermission) {
		tier.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &Bench{Context: t.Context(), Plan: Tiny, Site: s, Program: []string{os.Args[0]}, Progress: io.Discard}
}

// measure measures a kind.
func measure(t *testing.T, k Kind) figure.Section {
	t.Helper()
	s, err := bench(t).Measure(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// filled reports cells without a value, but for those that are known to have none.
func filled(t *testing.T, table figure.Table, none ...string) {
	t.Helper()
	for _, r := range table.Rows {
		for i, c := range r.Cells {
			at := r.Name + "/" + table.Heads[i+1]
			allowed := false
			for _, n := range none {
				allowed = allowed || strings.HasPrefix(at, n)
			}
			if (c.Word != "") != allowed || !allowed && c.Value <= 0 {
				t.Errorf("%s: %s: got %+v", table.ID, at, c)
			}
		}
	}
}

// Every way to the network has its row, and zero copy, which a veth has not, its reason.
//
// Proves: bench.report
func TestBypass(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	s := measure(t, bypass)
	if len(s.Tables) != 1 || len(s.Tables[0].Rows) != len(paths) {
		t.Fatalf("got %+v", s.Tables)
	}
	filled(t, s.Tables[0], "AF_XDP native, zero copy/", "in memory/64 B round trip, spinning")
	if i := slices.IndexFunc(paths, func(p path) bool { return p.driver == worker.Zero }); !strings.Contains(s.Tables[0].Rows[i].Note, "refused: the driver of tipc1, veth, does not offer it") {
		t.Errorf("got %+v", s.Tables[0].Rows[i])
	}
	if len(s.Errors) > 0 {
		t.Errorf("got %q", s.Errors)
	}
	for _, f := range s.Figures {
		if len(f.Ticks) != len(paths)-1 {
			t.Errorf("%s: got %q", f.ID, f.Ticks)
		}
	}
}

// complete reports figures that have not as many curves as they should, and curves that
// have not all sizes.
func complete(t *testing.T, s figure.Section, curves map[string]int, sizes int) {
	t.Helper()
	if len(s.Errors) > 0 {
		t.Errorf("got %q", s.Errors)
	}
	for _, f := range s.Figures {
		if len(f.Series) != curves[f.ID] {
			t.Errorf("%s: got %d curves, want %d", f.ID, len(f.Series), curves[f.ID])
		}
		for _, c := range f.Series {
			if len(c.Points) != sizes {
				t.Errorf("%s: %s: got %+v", f.ID, c.Name, c.Points)
			}
		}
	}
	if len(s.Figures) != len(curves) {
		t.Errorf("got %d figures, want %d", len(s.Figures), len(curves))
	}
}

// Proves: bench.report
func TestCopied(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	s := measure(t, copied)
	complete(t, s, map[string]int{"copy-rate-1500": 4, "copy-cpu-1500": 4, "copy-ratio-1500": 4, "copy-rate-65000": 4, "copy-cpu-65000": 4, "copy-ratio-65000": 4}, len(some(Tiny, copiedSizes)))
	if len(s.Says) != 4 {
		t.Errorf("got %q", s.Says)
	}
}

// Proves: bench.report
func TestLocal(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	s := measure(t, local)
	complete(t, s, map[string]int{
		"local-trip-asleep": 12, "local-rate-asleep": 11, "local-ratio-trip-asleep": 6, "local-ratio-rate-asleep": 6,
		"local-trip-spinning": 4, "local-rate-spinning": 3, "local-ratio-trip-spinning": 2,
	}, len(some(Tiny, localSizes)))
	for _, table := range s.Tables {
		filled(t, table, "call to an active port, one process/64 B one", "call to an active port, one process/64 KiB one", localBack+"/64 B one", localBack+"/64 KiB one")
	}
}
