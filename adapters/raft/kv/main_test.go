// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// Replicas join one after the other. The leader's node is cut off, and another leads; it comes back, and there is one leader; the
// leader's node dies. What was answered is there still each time.
//
// Mutation it catches: the leader answers a request that a majority has not taken; a replica that leads no longer keeps the name.
//
// Proves: stacktest.examples
func TestKV(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 4)
		ended := make(chan error, 3)
		start := func(i int) context.CancelFunc {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { ended <- replica(ctx, c.Node(i), uint32(i+1)) }()
			return cancel
		}
		client := c.Node(3)
		do := func(request, want string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if got, err := ask(ctx, client, request); err != nil || got != want {
				t.Errorf("%s: got %q, %v", request, got, err)
			}
		}
		var stop []context.CancelFunc
		for i := range 3 {
			stop = append(stop, start(i))
			do(fmt.Sprintf("put %d a b c", i), "a b c")
		}
		if err := client.WaitForN(t.Context(), stack.Range{Type: 18888, Upper: 9}, 3); err != nil {
			t.Fatal(err)
		}
		settle := func() { <-time.After(time.Minute) } // of the bubble
		settle()                                       // all have joined
		c.Around(0).Cut()                              // it leads: it was alone at first
		for i := range 3 {
			do(fmt.Sprintf("get %d", i), "a b c")
		}
		settle()
		c.All().Heal()
		c.Meet()
		settle()
		var leaders []stack.SocketAddr
		sub, err := stack.SubscriptionConfig{Complete: true}.Subscribe(t.Context(), client, stack.Range{Type: leader.Type, Lower: leader.Instance, Upper: leader.Instance})
		if err != nil {
			t.Fatal(err)
		}
		for ev := range sub.Events(t.Context()) {
			if ev.Complete {
				break
			}
			leaders = append(leaders, ev.Socket)
		}
		sub.Close()
		if len(leaders) != 1 {
			t.Fatalf("leaders are %v, want one", leaders)
		}
		c.Crash(int(leaders[0].Node - stacktest.FirstAddr))
		for i := range 3 {
			do(fmt.Sprintf("get %d", i), "a b c")
		}
		for _, s := range stop {
			s()
		}
		for range 3 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("a replica ended with %v", err)
			}
		}
	})
}
