// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// A run's messages share frames, arrive in order, and none waits for another call of its
// sender, nor for the next tick of the link, which comes after 375 ms. On the system's clock
// nodes spin; the clock of a bubble says how long a message waited.
//
// Proves: link.bundles
func TestRunSharesFramesAndEnds(t *testing.T) {
	t.Run("system's clock", func(t *testing.T) {
		a, b := pair(t, stack.Config{})
		runs(t, a, b, testTimeout)
	})
	t.Run("clock of a bubble", func(t *testing.T) {
		inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) { runs(t, a, b, 100*time.Millisecond) })
	})
}

func runs(t *testing.T, a, b *stack.Node, most time.Duration) {
	to := mustListen(t, b, stack.SocketConfig{}, echoService)
	from := mustListen(t, a, stack.SocketConfig{}, nil)
	if err := a.WaitFor(t.Context(), echoService); err != nil {
		t.Fatal(err)
	}
	for run := range 50 {
		n := 1 + run*13
		for i := range n {
			if _, err := from.WriteTo([]byte{byte(i), byte(i >> 8), byte(run)}, echoService); err != nil {
				t.Fatal(err)
			}
		}
		to.SetReadDeadline(time.Now().Add(most))
		buf := make([]byte, 8)
		for i := range n {
			k, _, err := to.ReadFrom(buf)
			if err != nil || k != 3 || int(buf[0])|int(buf[1])<<8 != i || int(buf[2]) != run {
				t.Fatalf("run %d of %d messages, message %d: got %v, %v", run, n, i, buf[:k], err)
			}
		}
	}
	if must.Get(a.Admin().Links(context.Background()))[0].SentBundled == 0 {
		t.Error("no message shared a frame")
	}
}
