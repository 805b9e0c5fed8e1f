// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Who waits to send to many is called when the link that holds it up has room, and
// sends then; those behind it keep their order.
//
// Proves: multicast.once
func TestMulticastWaits(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone)
	p.SetMethod(Replicast)
	for p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[1].addr}, make([]byte, 10)) == nil {
	}
	q := c.OpenPort(PortConfig{})
	q.SetMethod(Replicast)
	var x, y Ticket
	send := func(t *Ticket, from *Port) error {
		c.SendAs(t)
		defer c.SendAs(nil)
		return from.SendRange(c.now, allRange, make([]byte, 10))
	}
	for _, s := range []struct {
		t    *Ticket
		from *Port
	}{{&x, p}, {&y, q}} {
		if _, ok := send(s.t, s.from).(*Blocked); !ok {
			t.Fatal("not blocked")
		}
	}
	if why, ok := c.Why(&y).(*Blocked); !ok || why.Node != c.peerList[1].addr || why.Ahead != 1 {
		t.Errorf("got %+v", c.Why(&y))
	}
	c.forget()
	if got := c.TakeCalled(nil); len(got) != 0 {
		t.Errorf("%d called without room", len(got))
	}
	c.live()
	got := c.TakeCalled(nil)
	if len(got) != 2 || got[0] != &x || got[1] != &y {
		t.Fatalf("called %d, want both in order", len(got))
	}
	for _, s := range []struct {
		t    *Ticket
		from *Port
	}{{&x, p}, {&y, q}} {
		if err := send(s.t, s.from); err != nil {
			t.Errorf("got %v", err)
		}
		c.Quit(c.now, s.t)
	}
	for range 4 {
		c.live()
	}
	if c.Unsent() != 0 || x.line != nil || y.line != nil {
		t.Errorf("%d unsent; in line: %v %v", c.Unsent(), x.line != nil, y.line != nil)
	}
	c.done("")
}

// Who waits for a link of a node that goes is called too, and sends to the others.
func TestMulticastWaitsForANodeThatGoes(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone)
	p.SetMethod(Replicast)
	for p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[1].addr}, make([]byte, 10)) == nil {
	}
	var x Ticket
	c.SendAs(&x)
	if _, ok := p.SendRange(c.now, allRange, []byte("hi")).(*Blocked); !ok {
		t.Fatal("not blocked")
	}
	c.on(1, 0).leave()
	if got := c.TakeCalled(nil); len(got) != 1 {
		t.Fatalf("%d called", len(got))
	}
	c.forget()
	if err := p.SendRange(c.now, allRange, []byte("hi")); err != nil {
		t.Errorf("got %v", err)
	}
	c.SendAs(nil)
	c.Quit(c.now, &x)
	if got := mcastLines(c.drain()); len(got) != 1 || !strings.HasPrefix(got[0], "0>1 ") {
		t.Errorf("sent %q", got)
	}
	c.done("")
}

// Who waits for memory for all copies together is called when there is as much.
func TestMulticastWaitsForMemory(t *testing.T) {
	c, p := broadcastPeersOn(t, newArena(t, netdev.ArenaConfig{Small: 64, Reserve: 32}), 1, 1, alone)
	c.on(c.add(popCaps), 0).join()
	c.peerList[1].listen(1, 1000, 0, 100)
	p.SetMethod(Replicast)
	for range 2 {
		c.live()
	}
	if err := p.SendRange(c.now, allRange, make([]byte, 15000)); err != nil { // 11 packets to each
		t.Fatal(err)
	}
	var x Ticket
	c.SendAs(&x)
	err := p.SendRange(c.now, allRange, make([]byte, 15000))
	c.SendAs(nil)
	if err != ErrMemory || c.Why(&x) != ErrMemory || !c.WantsMemory() {
		t.Fatalf("got %v, %v", err, c.Why(&x))
	}
	c.collect()
	c.on(0, 0).report(nil)
	if got := c.TakeCalled(nil); len(got) != 0 {
		t.Errorf("called with %d chunks free", c.arena.Free()-32)
	}
	c.on(1, 0).report(nil)
	if got := c.TakeCalled(nil); len(got) != 1 {
		t.Fatalf("%d called with %d chunks free", len(got), c.arena.Free()-32)
	}
	c.SendAs(&x)
	if err := p.SendRange(c.now, allRange, make([]byte, 15000)); err != nil {
		t.Errorf("got %v", err)
	}
	c.SendAs(nil)
	c.Quit(c.now, &x)
	c.done("")
}

// What a socket that is full would get is dropped and counted, here and there; others
// get theirs.
//
// Proves: multicast.once
func TestMulticastOverload(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1)
	full, has := c.OpenPort(PortConfig{ReceiveLimit: 10}), c.OpenPort(PortConfig{})
	for _, to := range []*Port{full, has} {
		to.Bind(c.now, allRange, frame.ClusterScope)
	}
	c.drops()
	if err := p.SendRange(c.now, allRange, []byte("hi")); err != nil {
		t.Error(err)
	}
	c.on(0, 0).broadcast(c.peerList[0].mcast(allRange, nil, "ho"))
	c.on(0, 0).packet(c.peerList[0].replica("hu"))
	c.wantDrops("here and there", "receiver's queue full, and not to be returned=3")
	if got := read(has); len(got) != 3 || len(read(full)) != 0 {
		t.Errorf("read %q", got)
	}
	if got := c.Counters(); got.MessagesLocal != 1 || got.MessagesIn != 2 {
		t.Errorf("counted %d here, %d in", got.MessagesLocal, got.MessagesIn)
	}
	c.done("")
}

// Held back, multicasts go out with Flush, in order: short ones share packets.
func TestMulticastHeld(t *testing.T) {
	for _, m := range []Method{Broadcast, Replicast} {
		b := newBed(t, 3)
		var to []*Port
		for _, n := range b.nodes[1:] {
			p := n.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
			p.Bind(b.now, allRange, frame.ClusterScope)
			to = append(to, p)
		}
		x := b.nodes[0]
		if !b.until(longTime, func() bool { return len(x.table.Nodes(nil, allRange)) == 2 }) {
			t.Fatal("names did not arrive")
		}
		from := x.OpenPort(PortConfig{})
		from.SetMethod(m)
		b.pass(time.Second)
		x.Hold(true)
		var want []string
		for k := range 40 {
			text := fmt.Sprint("message ", k)
			if k%10 == 7 {
				text = strings.Repeat("x", 3000)
			}
			if err := from.SendRange(b.now, allRange, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if want = append(want, fmt.Sprint(from.Addr(), " ", text)); k%10 == 7 {
				want[k] = fmt.Sprint(from.Addr(), " 3000 bytes")
			}
		}
		x.Hold(false)
		x.Flush(b.now)
		if x.Holding() {
			t.Error("something is still held")
		}
		b.pass(time.Second)
		for i, p := range to {
			wantLines(t, fmt.Sprintf("method %d, node %d", m, i), read(p), want...)
		}
		if x.arena.Free() != x.arena.Total() {
			t.Errorf("%d of %d chunks free", x.arena.Free(), x.arena.Total())
		}
	}
}
