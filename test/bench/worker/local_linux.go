// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/conns"
	"github.com/utipc/utipc/test/bench/load/tipc"
	"github.com/utipc/utipc/test/bench/load/within"
)

// openLocal opens two sockets of one node, which has no bearers, or two ends of channels.
func openLocal(ctx context.Context, o Open) (load.Load, error) {
	if o.Socket == "channel" {
		return within.NewChannels(frame.MaxPayload), nil
	}
	wait, ok := WaitMode(o.Wait)
	if !ok {
		return nil, fmt.Errorf("no way to wait is called %q", o.Wait)
	}
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: tipc.Address(0), Wait: wait})
	if err != nil {
		return nil, err
	}
	free := func() error { return node.Close(context.Background()) }
	var ends [2]load.Load
	peer := ""
	for _, end := range []int{1, 0} {
		if ends[end], err = localEnd(ctx, o.Socket, node, end, peer); err != nil {
			return nil, errors.Join(err, free())
		}
		peer = ends[end].Info().Socket
	}
	return within.NewPair(o.Socket+" of one node", ends, free), nil
}

// localEnd opens one end of a kind.
func localEnd(ctx context.Context, kind string, node *stack.Node, end int, peer string) (load.Load, error) {
	switch kind {
	case "rdm", "call":
		return tipc.Open(ctx, tipc.Config{Node: node, End: end, Call: kind == "call"}, peer)
	case "tipc", "tipcpacket":
		return conns.Open(ctx, conns.Config{Node: node, End: end, Network: kind})
	}
	return nil, fmt.Errorf("no socket is called %q", kind)
}
