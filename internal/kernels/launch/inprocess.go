// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"sync"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// InProcess runs the ranks as goroutines of this process: over nodes on a network in memory,
// or over TCP on the loopback interface.
func InProcess(ctx context.Context, o Options) (Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var wg sync.WaitGroup
	segment, hosts := hub.New(hub.Config{}), loopback(o.Ranks)
	results, errs := make([]kernel.Result, o.Ranks), make([]error, o.Ranks)
	for rank := range o.Ranks {
		open := func() (stack.Bearer, error) {
			return segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(rank + 1)})
		}
		s := Spec{Rank: rank, Ranks: o.Ranks, Over: o.Over, Wait: o.Wait, Hosts: hosts}
		wg.Go(func() {
			errs[rank] = enter(ctx, s, o.Kernel, open, func(p ranks.Place) (err error) {
				results[rank], err = o.Kernel.Run(ctx, p, o.Config)
				if err != nil {
					cancel() // the others wait for this one
				}
				return err
			})
		})
	}
	wg.Wait()
	return o.report("memory", results[0]), errors.Join(errs...)
}
