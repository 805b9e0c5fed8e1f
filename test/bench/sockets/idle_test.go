// SPDX-License-Identifier: Apache-2.0

package sockets

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/test/tier"
)

// The target is 2 KiB; the table prints what it is.
//
// Proves: socket.small
func TestIdle(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	conns := 10_000
	if testing.Short() {
		conns = 1000
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bytes, err := Idle(ctx, conns)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d idle connections: %.0f B at each end, target 2048", conns, bytes)
	if bytes > 4096 {
		t.Errorf("%.0f B at each end", bytes)
	}
}
