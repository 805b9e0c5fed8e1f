// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"

	"github.com/utipc/utipc/test/bench/daemon/manyclients"
)

// Programs of the crowd, and sockets of each.
const manyPrograms, socketsOfEach = 1000, 10

// figures are the last rows of the table of the daemon.
var figures = append(idleClients(), rounds.Single{
	ID: "flood", What: "p99 of 99 programs beside one that floods, beside without", Unit: "x", Goal: sheet.AtMost, Target: 3,
	Measure: func(ctx context.Context, o rounds.Options) (rounds.Figure, error) {
		f, err := manyclients.MeasureFlood(ctx, o.Program, min(o.Plan.Rounds, 5), 2*o.Plan.For)
		return rounds.Figure{Value: f.Ratio, Note: fmt.Sprintf("%v, %v without; %d messages of the flood", f.Beside.Round(time.Microsecond), f.Alone.Round(time.Microsecond), f.Messages)}, err
	},
})

// idleClients is one crowd that does nothing, in three rows.
func idleClients() []rounds.Single {
	var mu sync.Mutex // guards r and known
	var r manyclients.Idle
	known := false
	once := func(ctx context.Context, o rounds.Options) (_ manyclients.Idle, err error) {
		mu.Lock()
		defer mu.Unlock()
		if !known {
			r, err = manyclients.MeasureIdle(ctx, o.Program, manyPrograms, socketsOfEach, max(2*time.Second, o.Plan.For))
			known = err == nil
		}
		return r, err
	}
	what := fmt.Sprintf("%d programs with %d sockets and names each, idle: ", manyPrograms, socketsOfEach)
	return []rounds.Single{
		{
			ID: "clients-memory", What: what + "memory of the daemon for a socket", Unit: "B",
			Measure: func(ctx context.Context, o rounds.Options) (rounds.Figure, error) {
				r, err := once(ctx, o)
				return rounds.Figure{Value: r.Memory, Note: fmt.Sprintf("%.0f MB in all", r.Memory*manyPrograms*socketsOfEach/1e6)}, err
			},
		},
		{
			ID: "clients-cpu", What: what + "the daemon's share of a core", Unit: "%",
			Measure: func(ctx context.Context, o rounds.Options) (rounds.Figure, error) {
				r, err := once(ctx, o)
				return rounds.Figure{Value: 100 * r.CPU}, err
			},
		},
		{
			ID: "clients-opening", What: what + "the daemon's processor time to open and name a socket", Unit: "us",
			Measure: func(ctx context.Context, o rounds.Options) (rounds.Figure, error) {
				r, err := once(ctx, o)
				return rounds.Figure{Value: float64(r.Opening) / 1e3}, err
			},
		},
	}
}
