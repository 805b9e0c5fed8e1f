// SPDX-License-Identifier: Apache-2.0

package sealed

import (
	"context"
	"fmt"
	"sync"

	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
)

// figures are the last rows of the table.
func figures() []rounds.Single { return append(drops(64, 1400), rekeying()...) }

// drops are what a frame with a wrong key costs, with a message of each size.
func drops(sizes ...int) (all []rounds.Single) {
	for _, size := range sizes {
		all = append(all, rounds.Single{
			ID: fmt.Sprintf("dropping-%d", size), What: fmt.Sprintf("dropping a frame with a wrong key, a message of %d B, engine alone", size), Unit: "ns",
			Measure: func(ctx context.Context, _ rounds.Options) (rounds.Figure, error) {
				wrong, beside, err := Drop(ctx, size)
				return rounds.Figure{Value: wrong, Note: fmt.Sprintf("%.0f ns when it comes twice under the right key", beside)}, err
			},
		})
	}
	return all
}

// rekeying is one change of keys, in two rows.
func rekeying() []rounds.Single {
	var mu sync.Mutex // guards c and known
	var c Change
	known := false
	once := func(ctx context.Context) (_ Change, err error) {
		mu.Lock()
		defer mu.Unlock()
		if !known {
			c, err = Rekey(ctx)
			known = err == nil
		}
		return c, err
	}
	return []rounds.Single{
		{
			ID: "rekeying-lost", What: "rekeying under load: messages lost", Goal: sheet.AtMost,
			Measure: func(ctx context.Context, _ rounds.Options) (rounds.Figure, error) {
				c, err := once(ctx)
				return rounds.Figure{Value: float64(c.Lost + c.Resets), Note: fmt.Sprintf("of %d, in memory; %d link resets", c.Messages, c.Resets)}, err
			},
		},
		{
			ID: "rekeying-gap", What: "rekeying under load: the longest gap between two messages", Unit: "ms",
			Measure: func(ctx context.Context, _ rounds.Options) (rounds.Figure, error) {
				c, err := once(ctx)
				return rounds.Figure{Value: c.Gap.Seconds() * 1e3, Note: fmt.Sprintf("%.2f ms in as long a time without; the key was taken up in %.0f ms", c.Usual.Seconds()*1e3, c.Took.Seconds()*1e3)}, err
			},
		},
	}
}
