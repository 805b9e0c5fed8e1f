// SPDX-License-Identifier: Apache-2.0

package stacktest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// Three nodes race for a name that one socket may have: exactly one gets it, the same whichever node looks,
// and the others are told by whom it is held; 200 seeds of the network and of who asks when.
//
// Mutations it catches: making an exclusive socket does not wait after it binds; what was lost meanwhile
// is not reported.
func TestExclusiveRace(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			c := stacktest.Config{Seed: seed}.NewCluster(t, 3)
			c.Meet()
			for i := range 3 {
				for j := range i {
					c.Between(i, j).Delay(time.Duration(r.IntN(3000)) * time.Microsecond)
				}
			}
			type result struct {
				pc  *stack.PacketConn
				err error
			}
			results := make(chan result)
			for _, n := range c.Nodes() {
				pause := time.Duration(r.IntN(4000)) * time.Microsecond
				go func() {
					pass(pause)
					pc, err := stack.SocketConfig{Exclusive: true}.ListenPacket(t.Context(), n, "tipcrdm", service)
					results <- result{pc, err}
				}()
			}
			var held *stack.PacketConn
			var refused []error
			for range 3 {
				switch x := <-results; {
				case x.err != nil:
					refused = append(refused, x.err)
				case held != nil:
					t.Errorf("seed %d: two have it, %v and %v", seed, held.LocalAddr(), x.pc.LocalAddr())
					x.pc.Close()
				default:
					held = x.pc
				}
			}
			if held == nil {
				t.Fatalf("seed %d: none has it: %v", seed, refused)
			}
			defer held.Close()
			for _, err := range refused {
				var taken *stack.NameTakenError
				if !errors.As(err, &taken) || !errors.Is(err, stack.ErrNameTaken) {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
			pass(time.Second) // until what was withdrawn is known, too
			for i, n := range c.Nodes() {
				if got := bound(t, n); got != fmt.Sprint(held.LocalAddr()) {
					t.Errorf("seed %d: node %d knows %v, want %v", seed, i, got, held.LocalAddr())
				}
			}
		})
		if t.Failed() {
			return
		}
	}
}

// bound are the sockets that are bound to the service, as a node knows it.
func bound(t *testing.T, n *stack.Node) string {
	t.Helper()
	s, err := n.Subscribe(t.Context(), service.Range())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := ""
	for {
		synctest.Wait()
		ev, err := s.TryNext()
		if err != nil {
			return text
		}
		if !ev.Withdrawn {
			text += fmt.Sprint(stack.SocketAddr{Node: ev.Socket.Node, Port: ev.Socket.Port})
		}
	}
}

// Both sides of a split network have the name. When it heals the lower node keeps it, and the other's
// listener says so; when the lower node crashes the name is free.
//
// Mutations it catches: the one that loses is not told; a crashed node's binding counts.
func TestExclusiveHealsAndCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 3)
		c.Meet()
		listen := func(i int) (*stack.Listener, error) {
			return stack.SocketConfig{Exclusive: true}.Listen(t.Context(), c.Node(i), "tipc", service)
		}
		c.Around(2).Cut()
		pass(10 * time.Second)
		high, err := listen(2)
		if err != nil {
			t.Fatal(err)
		}
		low, err := listen(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := listen(1); !errors.Is(err, stack.ErrNameTaken) {
			t.Errorf("the other node of the side: %v", err)
		}
		c.Around(2).Heal()
		_, err = high.Accept()
		var taken *stack.NameTakenError
		if !errors.As(err, &taken) || taken.By != low.LocalAddr() || !taken.Lost || !taken.Exclusive {
			t.Errorf("healed: %v", err)
		}
		if err := high.Bind(service); !errors.Is(err, stack.ErrNameTaken) {
			t.Errorf("bind again: %v", err)
		}
		c.Crash(0)
		pass(10 * time.Second)
		if err := high.Bind(service); err != nil {
			t.Errorf("after the crash: %v", err)
		}
		high.Close()
	})
}

// pass lets the time of the bubble pass.
func pass(d time.Duration) { <-time.After(d) }
