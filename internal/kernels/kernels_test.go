// SPDX-License-Identifier: Apache-2.0

package kernels_test

import (
	"fmt"
	"testing"

	"github.com/utipc/utipc/internal/kernels"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/launch"
)

// Each kernel checks its own result, and fails when that is wrong: halo's stencil against a
// single rank's, and so on.
//
// Proves: bench.kernels
func TestInProcess(t *testing.T) {
	sizes := map[string]kernel.Config{
		"halo": {Steps: 300, Size: 20}, "intsort": {Steps: 5, Size: 20000}, "cg": {Steps: 60, Size: 50},
		"store": {Steps: 500, Size: 100}, "migrate": {Steps: 4000, Size: 3},
	}
	modes := []struct{ over, wait string }{{launch.UTIPC, "adaptive"}, {launch.TCP, "sleep"}, {launch.TCP, "adaptive"}}
	for _, k := range kernels.All() {
		for _, m := range modes {
			for _, ranks := range []int{k.Ranks, 4} {
				if m.wait == "adaptive" && m.over == launch.TCP && ranks > k.Ranks {
					continue // more that look, in one process, than there are cores
				}
				t.Run(fmt.Sprintf("%s/%s/%s/%d", k.Name, m.over, m.wait, ranks), func(t *testing.T) {
					t.Parallel()
					o := launch.Options{Kernel: k, Over: m.over, Ranks: ranks, Wait: m.wait, Config: sizes[k.Name]}
					r, err := launch.InProcess(t.Context(), o)
					if err != nil {
						t.Fatal(err)
					}
					if r.Steps != o.Config.Steps || r.Value <= 0 || r.Checked == "" {
						t.Errorf("got %+v", r)
					}
					if r.Moves != nil && r.Moves.Count == 0 {
						t.Errorf("no object has moved")
					}
				})
			}
		}
	}
}
