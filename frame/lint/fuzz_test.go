// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/internal/samples"
	"github.com/utipc/utipc/frame/lint"
)

// FuzzCheck: what no parser takes breaks a rule, and every finding is of a rule
// there is.
//
// Proves: wire.hostile
func FuzzCheck(f *testing.F) {
	for _, b := range append(samples.Few(f), samples.OfEachKind(f)...) {
		f.Add(b)
	}
	for _, x := range samples.Read(f, "25")[:20] {
		f.Add(x.Data[frame.EthernetLen:])
	}
	known := map[string]bool{}
	for _, r := range lint.Rules() {
		known[r.ID] = true
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		found := lint.Check(b)
		for _, x := range found {
			if !known[x.Rule] || x.Where == "" || x.Text == "" {
				t.Errorf("got %+v, want a rule, a place and a text", x)
			}
		}
		if _, err := describe.Message(b); err != nil && err != frame.ErrEncrypted && len(found) == 0 {
			t.Errorf("%v: got nothing", err)
		}
	})
}
