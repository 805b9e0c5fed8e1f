// SPDX-License-Identifier: Apache-2.0

package sealed

import "testing"

// Proves: bench.tables
func TestDrop(t *testing.T) {
	for _, size := range []int{64, 1400} {
		wrong, beside, err := Drop(t.Context(), size)
		if err != nil || wrong <= 0 || beside <= 0 {
			t.Errorf("%d B: got %v, %v, %v", size, wrong, beside, err)
		}
		t.Logf("%d B: %.0f ns with a wrong key, %.0f ns twice under the right one", size, wrong, beside)
	}
}
