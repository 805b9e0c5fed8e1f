// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"net/netip"

	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/hop"
	"github.com/utipc/utipc/test/bench/load/tipc"
)

// attach opens a program of a daemon. Without a peer it talks to itself.
func attach(ctx context.Context, o Open) (load.Load, error) {
	c := tipc.Config{Path: o.Path, End: o.End, Attach: stack.AttachConfig{Ring: stack.RingNever, Wait: waits[o.Wait]}}
	if o.Socket == "ring" {
		c.Attach.Ring = stack.RingAlways
	}
	if o.End == 0 && o.Peer.Socket == "" {
		c.End = 1 // it is the one that it asks
	}
	return tipc.Open(ctx, c, o.Peer.Socket)
}

// openDaemon opens a node that serves programs; on an interface if there is one.
func openDaemon(ctx context.Context, o Open) (load.Load, error) {
	c := hop.DaemonConfig{Path: o.Path, Wait: waits[o.Wait], Address: tipc.Address(o.End)}
	if o.TCP != "" {
		p, err := netip.ParsePrefix(o.TCP)
		if err != nil {
			return nil, err
		}
		c.TCP = plain.TCP{Prefix: p.Masked(), Address: p.Addr()}
	}
	if o.Iface != "" {
		dev, _, err := OpenDevice(o)
		if err != nil {
			return nil, err
		}
		c.Bearers = append(c.Bearers, dev)
	}
	return hop.OpenDaemon(ctx, c)
}
