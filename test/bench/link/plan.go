// SPDX-License-Identifier: Apache-2.0

package link

import "time"

// A Plan says how long is measured.
type Plan struct {
	Rounds    int           // of loss and of long messages
	For       time.Duration // of each measurement of a rate
	Failovers int           // rounds of each way to lose a bearer
	Flow      int           // messages of each simulated flow
	Batches   int           // of messages, for the core
}

// Plans.
var (
	Short = Plan{Rounds: 5, For: 300 * time.Millisecond, Failovers: 4, Flow: 100_000, Batches: 20_000}
	Full  = Plan{Rounds: 7, For: time.Second, Failovers: 8, Flow: 1_000_000, Batches: 100_000}
)

// idle is what this program cannot measure.
const idle = "go test -run '^$' -bench Idle ./stack/engine"
