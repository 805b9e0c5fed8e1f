// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/utipc/utipc/test/bench/crowd"
)

// Programs of the crowd, and sockets of each.
const crowdPrograms, crowdSockets = 1000, 10

// daemonFigures are the last rows of the table of the daemon.
var daemonFigures = append(idleCrowd(), Single{
	ID: "flood", What: "p99 of 99 programs beside one that floods, beside without", Unit: "x", Most: 3,
	Measure: func(ctx context.Context, o Options) (Figure, error) {
		f, err := crowd.MeasureFlood(ctx, o.Program, min(o.Plan.Rounds, 5), 2*o.Plan.For)
		return Figure{f.Ratio, fmt.Sprintf("%v, %v without; %d messages of the flood", f.Beside.Round(time.Microsecond), f.Alone.Round(time.Microsecond), f.Messages)}, err
	},
})

// idleCrowd is one crowd that does nothing, in three rows.
func idleCrowd() []Single {
	var mu sync.Mutex // guards r and known
	var r crowd.Idle
	known := false
	once := func(ctx context.Context, o Options) (_ crowd.Idle, err error) {
		mu.Lock()
		defer mu.Unlock()
		if !known {
			r, err = crowd.MeasureIdle(ctx, o.Program, crowdPrograms, crowdSockets, max(2*time.Second, o.Plan.For))
			known = err == nil
		}
		return r, err
	}
	what := fmt.Sprintf("%d programs with %d sockets and names each, idle: ", crowdPrograms, crowdSockets)
	return []Single{
		{
			ID: "crowd-memory", What: what + "memory of the daemon for a socket", Unit: "B",
			Measure: func(ctx context.Context, o Options) (Figure, error) {
				r, err := once(ctx, o)
				return Figure{Value: r.Memory, Note: fmt.Sprintf("%.0f MB in all", r.Memory*crowdPrograms*crowdSockets/1e6)}, err
			},
		},
		{
			ID: "crowd-cpu", What: what + "the daemon's share of a core", Unit: "%",
			Measure: func(ctx context.Context, o Options) (Figure, error) {
				r, err := once(ctx, o)
				return Figure{Value: 100 * r.CPU}, err
			},
		},
		{
			ID: "crowd-opening", What: what + "the daemon's processor time to open and name a socket", Unit: "us",
			Measure: func(ctx context.Context, o Options) (Figure, error) {
				r, err := once(ctx, o)
				return Figure{Value: float64(r.Opening) / 1e3}, err
			},
		},
	}
}
