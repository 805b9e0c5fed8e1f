// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stacktest"
)

func Example() {
	main()
	// Output:
	// a candidate leads
	// another one leads
}

// No two leases overlap, whatever is cut off and for how long, or restarted; and there is a leader again each time that two voters
// have been in contact for a while.
//
// Mutation it catches: a voter grants a second lease before the first is over; a voter that begins grants at once; one vote is
// enough; a leader goes on for twice its lease.
//
// Proves: stacktest.examples
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, voters)
		var mu sync.Mutex
		leader, end, terms := -1, time.Time{}, 0
		var all sync.WaitGroup
		start := func(i int) context.CancelFunc {
			ctx, cancel := context.WithCancel(t.Context())
			all.Go(func() {
				stand(ctx, c.Node(i), uint32(i+1), func(until time.Time) {
					mu.Lock()
					defer mu.Unlock()
					if i != leader && time.Now().Before(end) {
						t.Errorf("%d leads until %v; %d leads now", leader, end, i)
					}
					leader, end, terms = i, until, terms+1
				})
			})
			return cancel
		}
		cancels := make([]context.CancelFunc, voters)
		for i := range cancels {
			cancels[i] = start(i)
		}
		for round := range 24 {
			mu.Lock()
			last, before := max(leader, 0), terms
			mu.Unlock()
			other := (last + 1) % voters
			switch round % 4 {
			case 0:
				c.Around(last).Cut()
			case 1:
				c.Around(other).Cut()
			case 2: // the leader, and a voter of it, begin anew at once
				for _, i := range []int{last, other} {
					cancels[i]()
					c.Crash(i)
					c.Restart(i)
					cancels[i] = start(i)
				}
			case 3: // the third program begins anew, and hears what the other two want that do not hear each other
				c.Between(last, other).Cut()
				third := voters - last - other
				for range 10 {
					<-time.After(5 * time.Second)
					cancels[third]()
					cancels[third] = start(third)
				}
			}
			<-time.After(20 * time.Second)
			mu.Lock()
			if terms == before {
				t.Errorf("round %d: nobody leads", round)
			}
			mu.Unlock()
			c.All().Heal()
			c.Meet()
		}
		for _, cancel := range cancels {
			cancel()
		}
		all.Wait()
	})
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := election(t.Context(), stacktest.NewCluster(t, 3).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
