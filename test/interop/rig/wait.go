// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"context"
	"fmt"
)

// WaitName returns once the guest knows a binding within a range. Where it was
// made does not matter.
func (g *Guest) WaitName(ctx context.Context, typ, lo, hi uint32) error {
	j, err := g.Job(ctx, "peer", "subscribe", fmt.Sprint(typ), fmt.Sprint(lo), fmt.Sprint(hi))
	if err != nil {
		return err
	}
	defer j.Kill()
	_, err = j.Expect(ctx, "event published")
	return err
}

// WaitNode returns once the guest has a link to a node. The names bound there
// may arrive later.
func (g *Guest) WaitNode(ctx context.Context, node uint32) error {
	const nodeState = 0 // the service type that tells of nodes
	return g.WaitName(ctx, nodeState, node, node)
}
