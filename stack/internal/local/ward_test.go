// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A ward is a node in a bubble, and what its frames pass.
type ward struct {
	*stack.Node
	wire *fault.Injector
}

// cut takes all frames of the node away, to and from it.
func (w ward) cut() {
	w.wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
}

// inWard runs f with nodes 1, 2 and so on, which all have contact, on a clock that
// jumps. At the end all sockets and chunks have to be back.
func inWard(t *testing.T, nodes int, f func(t *testing.T, all []ward)) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		var all []ward
		for i := range nodes {
			port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
			if err != nil {
				t.Fatal(err)
			}
			wire := fault.New(port, fault.Config{})
			n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{wire}, Address: stack.NodeAddr(i + 1), Wait: stack.Sleep, Chunks: 512})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, ward{n, wire})
			defer func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				n.Close(ctx)
				if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
					t.Errorf("node %d: %d of %d chunks came back", i+1, s.ChunksFree, s.ChunksTotal)
				}
			}()
		}
		for _, n := range all {
			for i := range all {
				if err := n.WaitFor(t.Context(), stack.Service{Type: stack.NodeState, Instance: uint32(i + 1)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		f(t, all)
		// What was lost while the wire was cut comes again a while after it is mended, and
		// may open a socket whose end comes behind it: all is gone within a few probes.
		for i, n := range all {
			var left string
			for range 200 {
				<-time.After(10 * time.Millisecond)
				synctest.Wait()
				if left = leftOf(n.Node); left == "" {
					break
				}
			}
			if left != "" {
				t.Errorf("node %d has %s", i+1, left)
			}
		}
	})
}

// leftOf says what a node still has of what was opened on it.
func leftOf(n *stack.Node) string {
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	lines, subs, sockets := inside(n).Opened()
	if ports := inside(n).Engine().Ports(); lines != 0 || subs != 0 || ports != sockets {
		return fmt.Sprintf("%d connections, %d subscriptions, %d sockets for %d", lines, subs, ports, sockets)
	}
	return ""
}

// driven has another call drive the node, until that is closed.
func (w ward) driven(t *testing.T) {
	t.Helper()
	c := openWith(t, w.Node, stack.SocketConfig{}, nil)
	go c.ReadFrom(make([]byte, 1))
	synctest.Wait()
}
