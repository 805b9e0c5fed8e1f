// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// habits are what kernels do against a rule, with the reason.
var habits = []struct{ rule, reason string }{
}

// TestLintCaptures lints all frames, and what is in the encrypted ones.
func TestLintCaptures(t *testing.T) {
	used := map[string]int{}
	for _, c := range captures {
		keys := newOpener(t)
		for i, x := range readCapture(t, c.number) {
			_, b, err := layers.Unwrap(x.Data)
			if err != nil {
				continue
			}
			found := frame.Lint(b)
			if e, err := frame.ParseEncrypted(b); err == nil {
				for _, f := range frame.Lint(keys.open(e)) {
					if f.Rule != "clear-key" { // it was encrypted
						found = append(found, f)
					}
				}
			}
			for _, f := range found {
				used[f.Rule]++
				if slices.IndexFunc(habits, func(h struct{ rule, reason string }) bool { return h.rule == f.Rule }) < 0 {
					t.Errorf("capture %s frame %d: %v", c.number, i+1, f)
				}
			}
		}
	}
	for _, h := range habits {
		if used[h.rule] == 0 {
			t.Errorf("%s: no capture has it, want it out of the list", h.rule)
		}
	}
	t.Logf("habits: %v", used)
}
