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

// Replicas join one after the other, the leader's node dies, and everything that was answered is there still; one that joins
// later leads when the others have ended.
//
// Mutation it catches: the leader answers a put before a majority has it; a replica that leads no longer keeps the name.
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
		<-time.After(time.Minute) // of the bubble: all have joined
		c.Crash(0)                // it leads: it was alone at first
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
