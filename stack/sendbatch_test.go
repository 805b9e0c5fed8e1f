// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A sendsInRow's messages share frames, arrive in order, and none waits for another call of
// its sender: the tolerance is so long that no tick of the link helps.
func TestRunSharesFramesAndEnds(t *testing.T) {
	h := hub.New(hub.Config{})
	var nodes [2]*stack.Node
	for i := range nodes {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		cfg := stack.Config{Bearers: []stack.Bearer{p}, Address: stack.NodeAddr(i + 1), Tolerance: 30 * time.Second}
		if nodes[i], err = stack.Open(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nodes[i].Close(t.Context()) })
	}
	to := mustListen(t, nodes[1], stack.SocketConfig{}, echoService)
	from := mustListen(t, nodes[0], stack.SocketConfig{}, nil)
	if err := nodes[0].WaitFor(t.Context(), echoService); err != nil {
		t.Fatal(err)
	}
	var bundled uint64
	for sendsInRow := range 50 {
		n := 1 + sendsInRow*13
		for i := range n {
			if _, err := from.WriteTo([]byte{byte(i), byte(i >> 8), byte(sendsInRow)}, echoService); err != nil {
				t.Fatal(err)
			}
		}
		to.SetReadDeadline(time.Now().Add(20 * time.Second)) // less than a tick and the answer to it
		buf := make([]byte, 8)
		for i := range n {
			k, _, err := to.ReadFrom(buf)
			if err != nil || k != 3 || int(buf[0])|int(buf[1])<<8 != i || int(buf[2]) != sendsInRow {
				t.Fatalf("run %d of %d messages, message %d: got %v, %v", sendsInRow, n, i, buf[:k], err)
			}
		}
		bundled = must.Get(nodes[0].Admin().Links(context.Background()))[0].SentBundled
	}
	if bundled == 0 {
		t.Error("no message shared a frame")
	}
}
