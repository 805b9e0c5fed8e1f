// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

var (
	ourService    = stack.Service{Type: 18888, Instance: 17}
	kernelService = stack.Service{Type: 18889, Instance: 4}
)

// Proves: link.kernel
func TestLinkUpWhoeverStartsFirst(t *testing.T) {
	for _, first := range []string{"ours", "kernel"} {
		t.Run(first, func(t *testing.T) {
			b := newBed(t, 15*time.Minute)
			if first == "ours" {
				b.openNode(stack.Config{})
				b.boot()
			} else {
				b.boot()
				b.openNode(stack.Config{})
			}
			b.contact()
			if out := b.run("tipc link list"); !strings.Contains(out, "1001002:eth0-1001001:eth0: up") {
				t.Errorf("the kernel says %q", out)
			}
			l := musthave.Get(b.node.Admin().Links(context.Background()))
			if len(l) != 1 || !l[0].Up || l[0].Name != "1001001:eth0-1001002:eth0" || l[0].MTU != 1500 {
				t.Errorf("we say %+v", l)
			}
		})
	}
}

// The node tries the address its identity gives, and the kernel shows the
// identity (capability id128).
//
// Proves: contact.discovery
func TestAddressTrial(t *testing.T) {
	b := newBed(t, 15*time.Minute)
	b.boot()
	id, err := stack.ParseIdentity("node-alpha")
	if err != nil {
		t.Fatal(err)
	}
	b.openNode(stack.Config{Identity: id})
	if got, want := b.node.Addr(), stack.NodeAddr(0x2b6f0815); got != want {
		t.Fatalf("address %v, want %v", got, want)
	}
	if err := b.kernel.WaitNode(b.ctx, uint32(b.node.Addr())); err != nil {
		t.Fatal(err)
	}
	if out := b.run("tipc node list"); !strings.Contains(out, "node-alpha") || !strings.Contains(out, "2b6f0815") {
		t.Errorf("the kernel's nodes: %q", out)
	}
}

// Proves: names.distribution, contact.capabilities
func TestNamesOnBothSides(t *testing.T) {
	b := newBed(t, 15*time.Minute)
	b.openNode(stack.Config{})
	early := b.listen(stack.SocketConfig{}, ourService) // travels in the bulk
	b.boot()
	b.contact()
	late := stack.Range{Type: 18890, Lower: 5, Upper: 9}
	b.listen(stack.SocketConfig{}, late) // travels as an update
	b.theirs(ourService)
	b.theirs(stack.Service{Type: late.Type, Instance: 7})
	pub, addr := b.job("publish", "18889", "4", "6", "cluster") // over the broadcast link (named-bcast)
	b.ours(kernelService)

	table := b.run("tipc nametable show")
	for _, want := range []string{"18888      17         17         cluster", "18890      5          9          cluster"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the kernel's table:\n%s", want, table)
		}
	}
	found := false
	for _, n := range musthave.Get(b.node.Admin().Names(context.Background())) {
		found = found || n.Range == stack.Range{Type: 18889, Lower: 4, Upper: 6} && n.Socket == addr
	}
	if !found {
		t.Errorf("no binding of %v in our table: %v", addr, musthave.Get(b.node.Admin().Names(context.Background())))
	}

	sub, err := b.node.Subscribe(b.ctx, kernelService.Range())
	if err != nil {
		t.Fatal(err)
	}
	pub.CloseInput()
	for ev := range sub.Events(b.ctx) {
		if ev.Withdrawn {
			break
		}
	}
	watch, err := b.kernel.Job(b.ctx, "peer", "subscribe", "18888", "0", "100")
	if err != nil {
		t.Fatal(err)
	}
	b.expect(watch, "published found={18888,17,17}")
	early.Close()
	b.expect(watch, "withdrawn found={18888,17,17}")
}

// Proves: contact.supervision
func TestKernelDiesAndReturns(t *testing.T) {
	b := linked(t, 15*time.Minute)
	b.job("publish", "18889", "4", "4", "cluster")
	b.ours(kernelService)
	names, err := b.node.Subscribe(b.ctx, kernelService.Range())
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := b.node.Subscribe(b.ctx, stack.Range{Type: stack.NodeState, Lower: uint32(kernelAddr), Upper: uint32(kernelAddr)})
	if err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	b.kill()
	for _, sub := range []*stack.Subscription{names, nodes} {
		for ev := range sub.Events(b.ctx) {
			if ev.Withdrawn {
				break
			}
		}
	}
	t.Logf("link down %v after the kill; yardstick 1.5s to 2.25s", time.Since(killed).Round(time.Millisecond))
	for _, n := range musthave.Get(b.node.Admin().Names(context.Background())) {
		if n.Socket.Node == kernelAddr {
			t.Errorf("still in our table: %v", n)
		}
	}
	b.boot()
	b.contact()
	b.job("publish", "18889", "4", "4", "cluster")
	b.ours(kernelService)
	b.echoed(ourService)
	b.theirs(ourService)
	j, _ := b.job("rdm-send", "18888", "17", "-n", "10")
	b.expect(j, "done sent=10 echoed=10")
}

// Closing the node withdraws its names and takes the link down at once.
//
// Proves: names.distribution
func TestCloseIsGraceful(t *testing.T) {
	b := linked(t, 15*time.Minute)
	b.listen(stack.SocketConfig{}, ourService)
	b.theirs(ourService)
	watch, err := b.kernel.Job(b.ctx, "peer", "subscribe", "0", "16781313", "16781313")
	if err != nil {
		t.Fatal(err)
	}
	b.expect(watch, "published")
	// It is told: silence alone would show it much later.
	var told atomic.Bool
	b.faults.Set(fault.Config{Out: fault.Faults{Loss: 1, Match: func(f []byte) bool {
		if m, err := frame.Parse(f[frame.EthernetLen:]); err == nil && m.User() == frame.UserLink {
			if l, err := frame.ParseLink(m); err == nil && l.IsReset() {
				told.Store(true)
			}
		}
		return false
	}}})
	closed := time.Now()
	if err := b.node.Close(b.ctx); err != nil {
		t.Error(err)
	}
	if !told.Load() {
		t.Error("the node did not say that it stops")
	}
	b.expect(watch, "withdrawn")
	t.Logf("the kernel noticed after %v", time.Since(closed).Round(time.Millisecond))
}

// Broadcast packets of the kernel that get lost are reported and repeated
// (bcast-synch, bcast-state-nack): every name arrives, in order.
//
// Proves: multicast.link, contact.capabilities
func TestBroadcastLoss(t *testing.T) {
	b := linked(t, 15*time.Minute)
	var mu sync.Mutex
	seen := 0
	b.faults.Set(fault.Config{In: fault.Faults{Loss: 1, Match: func(f []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		if m, err := frame.Parse(f[frame.EthernetLen:]); err != nil || !m.NonSeq() || m.User() == frame.UserDiscovery {
			return false
		}
		seen++
		return seen%3 == 0
	}}})
	for range 5 { // so that later packets show the gap
		j, _ := b.job("publish", "18889", "4", "4", "cluster")
		b.ours(kernelService)
		j.CloseInput()
	}
	b.job("publish", "18891", "1", "1", "cluster")
	b.ours(stack.Service{Type: 18891, Instance: 1})
	in, _ := b.faults.Counts()
	if in.Lost == 0 {
		t.Error("nothing was lost")
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d of %d broadcast packets lost", in.Lost, seen)
}

// Multicast of the kernel reaches our sockets by replicated unicast and over the
// broadcast link (bcast-rcast), one copy for each socket.
//
// Proves: multicast.link, contact.capabilities
func TestMulticastFromKernel(t *testing.T) {
	b := linked(t, 15*time.Minute)
	var conns []*stack.PacketConn
	for range 2 {
		c := b.listen(stack.SocketConfig{}, stack.Range{Type: 18888, Lower: 10, Upper: 20})
		if err := c.Bind(stack.Range{Type: 18888, Lower: 15, Upper: 30}); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	b.theirs(stack.Service{Type: 18888, Instance: 25})
	for _, how := range []string{"-r", "-b"} {
		j, _ := b.job("mcast-send", "18888", "0", "100", "-n", "20", "-s", "100", how)
		b.expect(j, "sent")
		for i, c := range conns {
			for k := range 20 {
				n, m, err := c.ReadMsg(make([]byte, 200))
				if err != nil || n != 100 || m.Name.Upper != 100 {
					t.Fatalf("%s: socket %d, message %d: %d bytes, %+v, %v", how, i, k, n, m, err)
				}
			}
		}
	}
	for i, c := range conns {
		c.SetReadDeadline(time.Now())
		if n, _, err := c.ReadFrom(make([]byte, 200)); err == nil {
			t.Errorf("socket %d: one more message of %d bytes", i, n)
		}
	}
}

// A datagram of ours to a listening socket is no connection request: the kernel
// knows that from our SYN capability, and returns it.
//
// Proves: contact.capabilities
func TestDatagramToListener(t *testing.T) {
	b := linked(t, 15*time.Minute)
	l, addr := b.job("listen-seqpacket", "18889", "4")
	c := b.listen(stack.SocketConfig{Returnable: true}, nil)
	if _, err := c.WriteTo([]byte("no connection"), addr); err != nil {
		t.Fatal(err)
	}
	var reject *stack.RejectError
	if _, _, err := c.ReadFrom(make([]byte, 100)); !errors.As(err, &reject) || reject.Code != frame.NoPort {
		t.Errorf("got %v, want a reject: no port", err)
	}
	l.Kill()
}
