// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Of 200 multicasts, each sent right after its name was bound on another node, all arrive when
// WaitPublished has returned before; without it some do not. A third of the frames are lost.
//
// Mutations it catches: WaitPublished asks no node; a node answers at once, whatever it has applied.
func TestMulticastRightAfterWaitPublished(t *testing.T) {
	t.Parallel()
	all := 200
	if attachedTests { // in the time of the world
		all = 40
	}
	for _, wait := range []bool{true, false} {
		t.Run(fmt.Sprint("wait ", wait), func(t *testing.T) {
			inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
				if err := a.WaitNodes(t.Context(), 2); err != nil {
					t.Fatal(err)
				}
				to := mustListen(t, b, stack.SocketConfig{}, nil)
				from := mustListen(t, a, stack.SocketConfig{Multicast: stack.Replicast}, nil)
				third := fault.Faults{Loss: 0.33}
				wire.Set(fault.Config{In: third, Out: third})
				for i := range uint32(all) {
					if err := to.Bind(stack.Service{Type: 100, Instance: i}); err != nil {
						t.Fatal(err)
					}
					if wait {
						if err := b.WaitPublished(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					from.WriteTo([]byte{1}, stack.Range{Type: 100, Lower: i, Upper: i})
				}
				wire.Set(fault.Config{})
				if _, err := from.WriteTo([]byte("end"), to.LocalAddr()); err != nil { // behind all the others
					t.Fatal(err)
				}
				arrived := 0
				for buf := make([]byte, 10); ; arrived++ {
					n, _, err := to.ReadFrom(buf)
					if err != nil {
						t.Fatal(err)
					}
					if n > 1 {
						break
					}
				}
				t.Logf("%d of %d", arrived, all)
				if wait && arrived != all || !wait && arrived == all {
					t.Errorf("%d of %d have arrived", arrived, all)
				}
			})
		})
	}
}

// WaitPublished waits for a node that does not answer until its context is done, and names it; it
// returns when contact with that is lost, and at once where there is nobody.
//
// Mutations it catches: the context is not looked at; the loss of contact is not.
func TestWaitPublishedOfASilentNode(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		if err := a.WaitNodes(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := a.WaitPublished(ctx)
		var silent *stack.SilentError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &silent) || silent.Node != b.Addr() && !attachedTests {
			t.Errorf("got %v", err)
		}
		if attachedTests {
			return // its nodes keep contact for as long as a test may take
		}
		for range 2 {
			if err := a.WaitPublished(t.Context()); err != nil {
				t.Errorf("got %v", err)
			}
		}
	})
}
