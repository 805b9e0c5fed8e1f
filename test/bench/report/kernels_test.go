// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"io"
	"slices"
	"testing"

	"github.com/utipc/utipc/internal/kernels"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/launch"
)

// Of a time less is better, of a rate more; a ratio below 1 is a loss, and rounds that others
// disturbed do not count.
//
// Proves: bench.kernels
func TestKernelRatios(t *testing.T) {
	a := &errands{b: &Bench{Progress: io.Discard}, found: map[errand][]found{}}
	add := func(e errand, round int, value, others float64) {
		r := launch.Report{Unit: jobs[e.job].kernel.Unit, Result: kernel.Result{Value: value}}
		a.found[e] = append(a.found[e], found{r, round, others})
	}
	index := func(k kernel.Kernel) int {
		return slices.IndexFunc(jobs, func(j job) bool { return j.kernel.Name == k.Name })
	}
	halo, _ := kernels.Find("halo")
	store, _ := kernels.Find("store")
	step, rate := index(halo), index(store)
	for round, v := range []float64{10e-6, 20e-6, 5e-6} {
		others := []float64{0, 0, 0.9}[round]
		add(errand{step, 0, false}, round, v, others)
		add(errand{step, 2, false}, round, 3*v, others)
		add(errand{rate, 0, false}, round, 1/v, others)
		add(errand{rate, 2, false}, round, 2/v, others)
	}
	if got, want := a.ratios(errand{step, 2, false}), []float64{3, 3}; len(got) != 2 || int(got[0]+0.5) != 3 || int(got[1]+0.5) != 3 {
		t.Errorf("times: got %v, want %v", got, want)
	}
	if got, want := a.ratios(errand{rate, 2, false}), []float64{0.5, 0.5}; !slices.Equal(got, want) {
		t.Errorf("rates: got %v, want %v", got, want)
	}
	a.figure(false)
	if len(a.b.Losses) != 1 || a.b.Losses[0].Times != 2 || a.b.Losses[0].Reason == "" {
		t.Errorf("losses: got %+v", a.b.Losses)
	}
	for _, table := range []struct{ rows, want int }{{len(a.values().Rows), 2 * len(jobs)}, {len(a.tails().Rows), 2 * len(jobs)}, {len(a.moves().Rows), 2}} {
		if table.rows != table.want {
			t.Errorf("%d rows, want %d", table.rows, table.want)
		}
	}
	for _, k := range kernels.All() {
		if index(k) < 0 {
			t.Errorf("%s is not measured", k.Name)
		}
	}
}
