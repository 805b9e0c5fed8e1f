// SPDX-License-Identifier: Apache-2.0

package manyclients

import (
	"context"
	"fmt"
	"time"

	"github.com/utipc/utipc/stack"
)

// An Idle is what a daemon takes for programs that do nothing.
type Idle struct {
	Programs, Sockets int           // sockets each
	Memory            float64       // of the daemon, bytes a socket
	CPU               float64       // of the daemon, share of a core
	Opening           time.Duration // of the daemon's processor time, a socket
}

// MeasureIdle attaches programs, has each open sockets with a name, and watches the
// daemon for a time. program is the command that calls worker.Serve.
func MeasureIdle(ctx context.Context, program []string, programs, sockets int, d time.Duration) (r Idle, err error) {
	if need := programs*(sockets+1) + 100; need > files() {
		return r, fmt.Errorf("%d programs with %d sockets need %d descriptors, a process may have %d", programs, sockets, need, files())
	}
	h, err := openHost(ctx, program)
	if err != nil {
		return r, err
	}
	defer h.close()
	pid := h.daemon.PID()
	before, err := memory(pid)
	if err != nil {
		return r, err
	}
	all, err := h.attach(ctx, programs)
	if err != nil {
		return r, err
	}
	defer detach(all)
	for i, p := range all {
		for k := range sockets {
			if _, err := p.ListenPacket(ctx, "tipcrdm", stack.Service{Type: 18888, Instance: uint32(i*sockets + k)}); err != nil {
				return r, fmt.Errorf("socket %d of program %d: %w", k, i, err)
			}
		}
	}
	opened, err := processorTime(pid)
	if err != nil {
		return r, err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	after, err := memory(pid)
	if err != nil {
		return r, err
	}
	used, err := processorTime(pid)
	n := programs * sockets
	return Idle{
		Programs: programs, Sockets: sockets,
		Memory:  float64(after-before) / float64(n),
		CPU:     (used - opened).Seconds() / d.Seconds(),
		Opening: opened / time.Duration(n),
	}, err
}
