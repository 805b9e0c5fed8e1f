// SPDX-License-Identifier: Apache-2.0

// Election has at most one leader at a time, also where the network is cut in two or a candidate stands still: a leader
// has a lease, which a majority of the voters has granted, and ends by itself when it is not renewed. Each
// candidate is a voter too; a voter grants one lease at a time.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

const (
	voters = 3           // named 18888:1 to 18888:3, of which two have to be there
	lease  = time.Second // of which a leader uses nine tenths: clocks may differ in their rates
)

func voterName(number uint32) stack.Service { return stack.Service{Type: 18888, Instance: number} }

func main() { cluster.Main(voters, election) }

// election has a leader elected, and another one when the leader's node ends.
func election(ctx context.Context, nodes []*stack.Node) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	leaders := make(chan uint32)
	for i, n := range nodes {
		all.Go(func() {
			stand(ctx, n, uint32(i+1), func(time.Time) {
				select {
				case leaders <- uint32(i + 1):
				case <-ctx.Done():
				}
			})
		})
	}
	first := <-leaders
	fmt.Println("a candidate leads")
	if err := nodes[first-1].Close(ctx); err != nil {
		return err
	}
	for next := range leaders {
		if next != first {
			break
		}
	}
	fmt.Println("another one leads")
	return nil
}

// stand makes a node a voter and a candidate until ctx is done. Each time that a lease is granted or renewed it
// calls lead, which does what only a leader may, until that time at most.
func stand(ctx context.Context, node *stack.Node, number uint32, lead func(until time.Time)) error {
	var mu sync.Mutex
	granted, until := uint32(0), time.Now().Add(lease) // of what was granted before this program began it knows nothing
	port, err := node.Handle(ctx, voterName(number), stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) {
		mu.Lock()
		defer mu.Unlock()
		if candidate := uint32(m.Data[0]); candidate == granted || time.Now().After(until) {
			granted, until = candidate, time.Now().Add(lease)
			w.Send([]byte("granted"))
		}
	}))
	if err != nil {
		return err
	}
	defer port.Close()
	wait := lease
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		begin := time.Now()
		if ask(ctx, node, number) > voters/2 {
			wait = lease / 4
			lead(begin.Add(lease * 9 / 10)) // voters count from when they were asked, which is later
		} else {
			wait = lease + rand.N(lease) // until what the others have granted is over
		}
	}
}

// ask asks all voters at once for the lease, and returns how many have granted it.
func ask(ctx context.Context, node *stack.Node, number uint32) int32 {
	ctx, cancel := context.WithTimeout(ctx, lease/4)
	defer cancel()
	var votes atomic.Int32
	var group sync.WaitGroup
	for i := range uint32(voters) {
		group.Go(func() {
			if _, _, err := node.Call(ctx, voterName(i+1), []byte{byte(number)}, make([]byte, 10)); err == nil {
				votes.Add(1)
			}
		})
	}
	group.Wait()
	return votes.Load()
}
