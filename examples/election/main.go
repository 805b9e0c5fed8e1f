// SPDX-License-Identifier: Apache-2.0

// Election has a leader among the nodes that stand for it, without a message between
// them: each candidate binds its number under one type and watches the type. The lowest
// number that is bound leads. All hear of a candidate that comes, leaves or dies, and so
// all come to the same leader.
//
// A node that dies is noticed after the tolerance of its links, 1.5 s by default. Where
// the network is cut in two each part has a leader of its own: who must not have that
// asks for a majority of stack.AllNodes first.
package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

// office is the type; the instances are the numbers of the candidates.
const office = 18888

func main() { cluster.Main(3, election) }

// A candidate is one node's part.
type candidate struct {
	node   *stack.Node
	socket *stack.PacketConn // only to have the name
	sub    *stack.Subscription
	views  chan view
}

// A view is what a candidate knows at one moment.
type view struct {
	leader uint32 // 0: none
	alive  int
}

func election(ctx context.Context, nodes []*stack.Node) error {
	var all []*candidate
	for i, n := range nodes {
		c, err := stand(ctx, n, uint32(i+1))
		if err != nil {
			return err
		}
		defer c.leave()
		all = append(all, c)
	}
	if err := agree(ctx, "three candidates", all, 3); err != nil {
		return err
	}
	all[0].socket.Close() // steps down; its watch goes on
	if err := agree(ctx, "1 has stepped down", all, 2); err != nil {
		return err
	}
	if err := all[1].node.Close(ctx); err != nil { // takes its names with it
		return err
	}
	return agree(ctx, "2 has left the cluster", []*candidate{all[0], all[2]}, 1)
}

// stand makes a node a candidate.
func stand(ctx context.Context, node *stack.Node, number uint32) (*candidate, error) {
	sub, err := node.Subscribe(ctx, stack.Range{Type: office, Lower: 1, Upper: 1<<32 - 1})
	if err != nil {
		return nil, err
	}
	socket, err := node.ListenPacket(ctx, "tipcrdm", stack.Service{Type: office, Instance: number})
	if err != nil {
		sub.Close()
		return nil, err
	}
	c := &candidate{node: node, socket: socket, sub: sub, views: make(chan view, 100)}
	go c.watch(ctx)
	return c, nil
}

// leave ends the candidacy, and the watch.
func (c *candidate) leave() {
	c.socket.Close()
	c.sub.Close()
}

// watch tells c.views what every event makes of the candidates.
func (c *candidate) watch(ctx context.Context) {
	candidates := map[uint32]bool{}
	for ev := range c.sub.Events(ctx) {
		if ev.Withdrawn {
			delete(candidates, ev.Range.Lower)
		} else {
			candidates[ev.Range.Lower] = true
		}
		v := view{alive: len(candidates)}
		if v.alive > 0 {
			v.leader = slices.Min(slices.Collect(maps.Keys(candidates)))
		}
		c.views <- v
	}
}

// agree waits until everybody knows of as many candidates, and prints who leads.
func agree(ctx context.Context, what string, all []*candidate, alive int) error {
	leaders := map[uint32]bool{}
	for _, c := range all {
		for known := false; !known; {
			select {
			case v := <-c.views:
				if known = v.alive == alive; known {
					leaders[v.leader] = true
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if len(leaders) != 1 {
		return fmt.Errorf("%s: several leaders: %v", what, slices.Sorted(maps.Keys(leaders)))
	}
	for leader := range leaders {
		fmt.Printf("%s: all say the leader is %d\n", what, leader)
	}
	return nil
}
