// SPDX-License-Identifier: Apache-2.0

package pattern_test

import (
	"testing"

	"github.com/utipc/utipc/test/interop/pattern"
)

func TestCheck(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 1000, 66000} {
		b := make([]byte, n)
		pattern.Fill(b, 9)
		want := error(nil)
		if n < pattern.HeaderLen {
			want = pattern.ErrForeign
		}
		if seq, err := pattern.Check(b); err != want || err == nil && seq != 9 {
			t.Errorf("len %d: got %d, %v, want 9, %v", n, seq, err, want)
		}
		if n <= pattern.HeaderLen {
			continue
		}
		if _, err := pattern.Check(b[:n-1]); err != pattern.ErrCorrupt {
			t.Errorf("len %d cut: got %v, want %v", n, err, pattern.ErrCorrupt)
		}
		b[n-1] ^= 1
		if _, err := pattern.Check(b); err != pattern.ErrCorrupt {
			t.Errorf("len %d flipped: got %v, want %v", n, err, pattern.ErrCorrupt)
		}
	}
}
