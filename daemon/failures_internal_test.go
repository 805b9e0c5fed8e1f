// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"testing"

	"github.com/utipc/utipc/attach"
)

// A report that takes the place of another takes no more than that was charged: it loses its message,
// then its words. Mutations it catches: replace keeps the message; it keeps the words; it charges what
// the report has.
func TestFailureKeepsItsCharge(t *testing.T) {
	const words, message = 100, 1000
	for _, x := range []struct{ charged, data, arg1 int }{
		{0, words + message, message}, // the only one: without charge
		{attach.HeaderLen + words + message, words + message, message},
		{attach.HeaderLen + words + message - 1, words, 0},
		{attach.HeaderLen + words - 1, 0, 0},
	} {
		f := failure{outgoing: outgoing{h: attach.Header{Arg0: 3}}, charged: x.charged}
		f.replace(failure{outgoing: outgoing{h: attach.Header{ID: 7, Arg0: 1, Arg1: message}, data: make([]byte, words+message)}})
		if f.h.ID != 7 || f.h.Arg0 != 4 || f.charged != x.charged || len(f.data) != x.data || int(f.h.Arg1) != x.arg1 {
			t.Errorf("charged %d: %v, %d bytes, charged %d", x.charged, &f.h, len(f.data), f.charged)
		}
	}
}
