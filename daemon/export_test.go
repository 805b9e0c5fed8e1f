// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"testing"
	"time"
)

// DrainFor sets how long Shutdown lets sends wait for room, until the test ends.
func DrainFor(tb testing.TB, d time.Duration) {
	was := mostDrain
	tb.Cleanup(func() { mostDrain = was })
	mostDrain = d
}
