// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"

	"github.com/utipc/utipc/test/bench/load"
)

// A burner uses all of its core that it gets, as a busy program beside ours does.
type burner struct{}

func (burner) Info() load.Info { return load.Info{} }
func (burner) Close() error    { return nil }

func (burner) Run(ctx context.Context, _ load.Job) (load.Result, error) {
	stop := load.StopOn(ctx)
	defer stop.Release()
	var r load.Result
	for !stop.Load() {
		r.Count++
	}
	return r, nil
}
