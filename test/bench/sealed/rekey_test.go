// SPDX-License-Identifier: Apache-2.0

package sealed

import (
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// A change of keys under load loses nothing and resets no link; how long the longest gap
// was is printed.
//
// Proves: bench.tables
func TestRekey(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	if testing.Short() {
		t.Skip("a key rests for ten seconds before the next")
	}
	c, err := Rekey(t.Context())
	if err != nil || c.Lost != 0 || c.Resets != 0 || c.Messages < 1000 || c.Took <= 0 {
		t.Errorf("got %+v, %v", c, err)
	}
	t.Logf("%d messages, %d lost; longest gap %v, else %v; the key was taken up in %v", c.Messages, c.Lost, c.Gap, c.Usual, c.Took)
}
