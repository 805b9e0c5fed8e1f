// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"fmt"
	"sync"

	"github.com/utipc/utipc/test/bench/sealed"
)

// cryptoFigures are the last rows of the table of encryption.
var cryptoFigures = append(drops(64, 1400), rekeying()...)

// drops are what a frame with a wrong key costs, with a message of each size.
func drops(sizes ...int) (all []Single) {
	for _, size := range sizes {
		all = append(all, Single{
			ID: fmt.Sprintf("dropping-%d", size), What: fmt.Sprintf("dropping a frame with a wrong key, a message of %d B, engine alone", size), Unit: "ns",
			Measure: func(ctx context.Context, _ Options) (Figure, error) {
				wrong, beside, err := sealed.Drop(ctx, size)
				return Figure{wrong, fmt.Sprintf("%.0f ns when it comes twice under the right key", beside)}, err
			},
		})
	}
	return all
}

// rekeying is one change of keys, in two rows.
func rekeying() []Single {
	var mu sync.Mutex // guards c and known
	var c sealed.Change
	known := false
	once := func(ctx context.Context) (_ sealed.Change, err error) {
		mu.Lock()
		defer mu.Unlock()
		if !known {
			c, err = sealed.Rekey(ctx)
			known = err == nil
		}
		return c, err
	}
	return []Single{
		{
			ID: "rekeying-lost", What: "rekeying under load: messages lost", None: true,
			Measure: func(ctx context.Context, _ Options) (Figure, error) {
				c, err := once(ctx)
				return Figure{float64(c.Lost + c.Resets), fmt.Sprintf("of %d, in memory; %d link resets", c.Messages, c.Resets)}, err
			},
		},
		{
			ID: "rekeying-gap", What: "rekeying under load: the longest gap between two messages", Unit: "ms",
			Measure: func(ctx context.Context, _ Options) (Figure, error) {
				c, err := once(ctx)
				return Figure{c.Gap.Seconds() * 1e3, fmt.Sprintf("%.2f ms in as long a time without; the key was taken up in %.0f ms", c.Usual.Seconds()*1e3, c.Took.Seconds()*1e3)}, err
			},
		},
	}
}
