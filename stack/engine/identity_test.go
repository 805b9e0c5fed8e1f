// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Whatever nodes claim, come and go: found by an identity is the one with the lowest
// address of those that claim it.
func TestFoundByIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	e := &Engine{identities: map[frame.Identity]*node{}}
	nodes := map[frame.NodeAddr]*node{}
	for step := range 10_000 {
		a, id := frame.NodeAddr(1+r.IntN(30)), frame.Identity{byte(r.IntN(8))}
		switch n := nodes[a]; {
		case n == nil:
			n = &node{addr: a}
			nodes[a] = n
			e.identify(n, id)
		case r.IntN(3) == 0:
			e.unidentify(n)
			delete(nodes, a)
		default:
			e.reidentify(n, id)
		}
		for i := range byte(8) {
			id := frame.Identity{i}
			var want *node
			for _, n := range nodes {
				if n.identity == id && (want == nil || n.addr < want.addr) {
					want = n
				}
			}
			if got := e.identities[id]; got != want {
				t.Fatalf("step %d, identity %d: got %+v, want %+v", step, i, got, want)
			}
		}
	}
}
