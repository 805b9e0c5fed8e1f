// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"testing"
	"time"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A kernel sends a probe back for a socket that is not there, and for no other: our
// Probe tells them apart, whatever they are, and they notice nothing.
//
// Proves: socket.seen
func TestProbeKernelSockets(t *testing.T) {
	b := linked(t, 15*time.Minute)
	_, rdm := b.job("rdm-echo", "18889", "4", "-q")
	_, listener := b.job("listen-seqpacket", "18889", "5", "-q")
	closed, gone := b.job("rdm-sink", "18889", "6", "-n", "1", "-q")
	c := b.listen(stack.SocketConfig{}, nil)
	if _, err := c.WriteTo([]byte("the last one"), gone); err != nil {
		t.Fatal(err)
	}
	b.expect(closed, "done")
	if _, _, err := closed.Wait(b.ctx); err != nil {
		t.Fatal(err)
	}
	sub, err := stack.SubscriptionConfig{At: kernelAddr}.Subscribe(b.ctx, b.node, stack.Range{Type: 18889, Upper: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	var connected stack.SocketAddr // the kernel's end of it
	for connected.Port == 0 && b.ctx.Err() == nil {
		for _, s := range musthave.Get(b.node.Admin().Sockets(context.Background())) {
			if s.Kind == admin.ConnectedSocket && s.Peer.Node == kernelAddr {
				connected = s.Peer
			}
		}
	}
	for _, x := range []struct {
		what string
		to   stack.SocketAddr
		want bool
	}{
		{"RDM", rdm, true},
		{"listening", listener, true},
		{"connected", connected, true},
		{"closed", gone, false},
		{"of no number that was given", stack.SocketAddr{Port: 3333, Node: kernelAddr}, false},
		{"of another", stack.SocketAddr{Port: 3334, Node: kernelAddr}, false},
	} {
		alive, rtt, err := b.node.Probe(b.ctx, x.to)
		t.Logf("%s %v: alive %v, %v, %v", x.what, x.to, alive, rtt, err)
		if err != nil || alive != x.want {
			t.Errorf("%s: got %v, %v, want %v", x.what, alive, err, x.want)
		}
	}
	for range 2 { // the subscription goes on: what there is, then what is to come
		if _, err := sub.Next(b.ctx); err != nil {
			t.Error(err)
		}
	}
}
