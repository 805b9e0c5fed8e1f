// SPDX-License-Identifier: Apache-2.0

package gcm

import (
	"context"

	"github.com/utipc/utipc/test/bench/load"
)

// A priced is a load whose results say what AES alone takes of its frames.
type priced struct {
	load.Load
	census *Census
	cipher *Cipher
}

// Priced returns l, whose node is on the device that c counts, with Result.Sealed and
// Result.AES. AES is measured on the core l runs on, behind each job.
func Priced(l load.Load, c *Census, by *Cipher) load.Load { return priced{l, c, by} }

func (p priced) Run(ctx context.Context, j load.Job) (load.Result, error) {
	before := p.census.Tally()
	r, err := p.Load.Run(ctx, j)
	t := p.census.Tally().Since(before)
	r.Sealed, r.AES = t.Frames(), p.cipher.Cost(t)
	return r, err
}
