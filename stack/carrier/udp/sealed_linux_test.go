// SPDX-License-Identifier: Apache-2.0

package udp_test

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// Two nodes with a master key and keys of their own talk over UDP.
//
// Proves: keys.node
func TestSealedOverUDP(t *testing.T) {
	t.Parallel()
	master, err := stack.MasterKey("this_is_a_key16_salt")
	if err != nil {
		t.Fatal(err)
	}
	at := local(2)
	var nodes []*stack.Node
	for i := range at {
		d := device(t, nil, udp.Config{Local: at[i], Remotes: at[1-i : 2-i]})
		n, err := stack.Open(within(t), stack.Config{
			Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(0x1001001 + i), Tolerance: 30 * time.Second,
			Encryption: stack.Encryption{Keys: []stack.Key{master}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close(within(t)) })
		nodes = append(nodes, n)
	}
	talk(t, nodes[0], nodes[1])
	for _, n := range nodes {
		if err := n.Admin().Rekey(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	talk(t, nodes[1], nodes[0])
	for i, n := range nodes {
		if x := must.Get(n.Admin().Encryption(context.Background())); !x.Working || x.Keys.Opened == 0 || x.PlainDropped != 0 || x.Sealing.KeysTaken != 1 {
			t.Errorf("node %d: %+v", i, x)
		}
	}
}
