// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"

	"github.com/utipc/utipc/test/bench/conns"
)

// idleConns is how many connections are measured while nothing is under way.
const idleConns = 10_000

// socketFigures are the last rows of the table of sockets.
var socketFigures = []Single{
	{
		ID: "idle", What: "an idle connection, 10,000 of them: heap at each end", Unit: "B", Most: 2048,
		Measure: func(ctx context.Context, _ Options) (Figure, error) {
			bytes, err := conns.Idle(ctx, idleConns)
			return Figure{Value: bytes}, err
		},
	},
}
