// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A stream's short messages on the wire, as kernels send them: spec 07 §5.3, "Tested".
//
// Proves: socket.nagle
func TestNagleOnTheWire(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{}, func(c *Config) { c.Margin = 32 })
	b.write(4, 10)
	b.collect()
	b.sent = clear16(b.sent)
	b.wantHex("plain", "40c00022 00000000 00000000 01001001 00000006 0000005a "+fmt.Sprintf("%x %x %x", text(10, 0)[:4], text(10, 0)[4:8], text(10, 0)[8:]))
	b.write(1, 10)
	b.wantHex("asks", "40c40022 00000000 00000000 01001001 00000006 0000005a "+fmt.Sprintf("%x %x %x", text(10, 0)[:4], text(10, 0)[4:8], text(10, 0)[8:]))
	b.write(200, 10)
	b.want("held", "")
	if b.c.Held() != 2000 {
		t.Errorf("%d bytes held, want 2000", b.c.Held())
	}
	if unacked, _ := b.c.Window(); unacked != 5 {
		t.Errorf("%d blocks sent, want 5: what is held does not count", unacked)
	}
	b.credit(0, 512, true)
	b.want("released: full packets, and the next question", "1404 596?")
	if unacked, window := b.c.Window(); unacked != 8 || window != 512 || b.c.store != nil {
		t.Errorf("%d blocks of %d, want 8 of 512", unacked, window)
	}
	b.credit(0, 512, true) // with nothing held that one did not pay
	b.write(9, 10)
	b.want("eight plain, the ninth asks", "8x10 10?")
	b.write(3, 10)
	b.packet(conn(90, 6, nil, "data"))
	b.want("released by data", "30")
	b.write(8, 10)
	b.want("and eight plain again", "8x10")
	b.c.Close(b.now)
	b.done()
}

// The packets are of the link's length, or within the node of 1500 bytes; what does not
// fit into one that asks goes in two.
//
// Proves: socket.nagle
func TestNaglePacketLength(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	b.write(4, 10)
	b.write(1, 1460)
	b.want("room for a tunnel header alone", "4x10 1436 24?")
	b.write(2, 10)
	b.write(1, 1461)
	if got := b.first(); !strings.HasPrefix(got, "data-low/conn 6>90 bytes=20; frag/first") {
		t.Errorf("longer than a packet, behind what is held: got %q", got)
	}
	b.c.Close(b.now)
	b.done()

	x := newConnBed(t, true)
	client, server, l := x.pair(ConnConfig{Stream: true})
	server.nagle.SetNoDelay(true)
	loop := &x.y.conns.loop
	loop.busy = true // as in a call of the peer's: nothing is answered yet
	for range 5 + 300 {
		if err := client.Write(x.now, text(10, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if client.Held() != 3000 || loop.queue.Len() != 5 {
		t.Errorf("%d bytes held, %d messages sent", client.Held(), loop.queue.Len())
	}
	client.SetNoDelay(x.now, true)
	var got []int
	for i := range loop.queue.Len() {
		got = append(got, len(*loop.queue.At(i)))
	}
	if want := []int{34, 34, 34, 34, 34, 1500, 1500, 24 + 48}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	loop.busy = false
	x.y.deliverLoop(x.now, loop.queue.Pop())
	if got := x.readAll(server, 10000); !bytes.Equal(got, bytes.Repeat(text(10, 1), 305)) {
		t.Errorf("got %d bytes", len(got))
	}
	client.Close(x.now)
	server.Close(x.now)
	l.Close(x.now)
	x.clean()
}

// Nobody asks without consent: of a message socket, with NoDelay, where either node
// lacks the capability; a user in the engine holds nothing.
func TestNagleOff(t *testing.T) {
	for _, c := range []struct {
		name   string
		k      ConnConfig
		change func(*Config)
		peer   frame.Capabilities
	}{
		{"no delay", ConnConfig{NoDelay: true}, alone, popCaps},
		{"the own node", ConnConfig{}, func(c *Config) { c.Capabilities = Capabilities &^ frame.CapNagle }, popCaps},
		{"the peer's node", ConnConfig{}, alone, popCaps &^ frame.CapNagle},
	} {
		p := newScriptedPeer(t, c.change, ports(6))
		p.disc(frame.Request, func(f *frame.DiscoveryFields) { f.Capabilities = c.peer })
		p.again()
		b := streamPeerOf(p, c.k)
		b.write(40, 10)
		b.want(c.name, "40x10")
		b.report(nil)
		b.c.SetNoDelay(b.now, false)
		b.write(40, 10)
		want, held := "40x10", 0
		if c.k.NoDelay {
			want, held = "4x10 10?", 350
		}
		if b.want(c.name+", delay again", want); b.c.Held() != held {
			t.Errorf("%s: delay again: %d held, want %d", c.name, b.c.Held(), held)
		}
		b.c.Close(b.now)
		b.done()
	}
	b := newConnPeer(t)
	for range 40 {
		if err := b.a.Write(b.now, []byte("x")); err != nil || b.a.Held() != 0 {
			t.Fatal(err, b.a.Held())
		}
	}
	if l := b.first(); strings.Contains(l, "ack-required") {
		t.Errorf("a message socket: got %q", l)
	}
	b.end()
	x := newConnBed(t, true)
	l := x.y.listenInside(0, ListenConfig{Stream: true}, &parrot{})
	c, _ := x.x.Dial(x.now, ConnConfig{Stream: true}, l.Addr(), nil)
	for p := c.node.conns; p != nil; p = p.behind {
		if p.user != nil && (p.nagle.Active() || !p.NoDelay) {
			t.Error("a user's connection collects")
		}
	}
	c.Close(x.now)
	l.Close(x.now)
	x.clean()
}

// A Write that is refused changes nothing, and what goes alone goes behind what is held.
func TestNagleOrder(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	b.write(5, 10)
	b.credit(5, 2, false) // a window of two blocks
	b.write(3, 700)
	b.c.SetNoDelay(b.now, true)
	b.want("no delay, as far as the window is open", "4x10 10? 1436 664")
	b.c.SetNoDelay(b.now, false)
	if unacked, _ := b.c.Window(); unacked != 3 {
		t.Errorf("%d blocks sent, want 3", unacked)
	}
	for range 20 {
		var w *WindowFull
		if err := b.c.Write(b.now, text(10, 0)); !errors.As(err, &w) || w.Unacked != 3 || w.Window != 2 {
			t.Fatalf("the window is full: got %v", err)
		}
	}
	b.TakeReadyConns(nil)
	b.credit(3, 1, false)
	if ready := b.TakeReadyConns(nil); !slices.Contains(ready, b.c) {
		t.Error("nobody told of the window")
	}
	b.write(2, 1000) // held: the answer is still to come
	b.credit(0, 1, true)
	b.want("as far as the window is open", "1436")
	for _, n := range []int{10, 5000} {
		if _, ok := b.c.Write(b.now, text(n, 0)).(*WindowFull); !ok {
			t.Errorf("%d bytes overtake what is held", n)
		}
	}
	if b.c.Held() != 564 || !b.c.nagle.Due() {
		t.Errorf("%d bytes held", b.c.Held())
	}
	b.TakeReadyConns(nil)
	b.credit(2, 512, false)
	if ready := b.TakeReadyConns(nil); !slices.Contains(ready, b.c) {
		t.Error("nobody told of the window")
	}
	b.want("and then the rest", "564?")
	b.c.flow.HandleAck(uint16(b.c.flow.Unacked()), 1)
	b.c.flow.Sent(1)
	b.write(2, 10) // held, and room for one more
	if _, ok := b.c.Write(b.now, text(5000, 0)).(*WindowFull); !ok {
		t.Error("beyond the window")
	}
	b.want("what was held took the last of the window", "20")
	if err := b.c.Write(b.now, text(10, 0)); err == nil || b.c.Held() != 0 {
		t.Errorf("got %v, %d held", err, b.c.Held())
	}
	b.c.Close(b.now)
	b.done()
}

// Who was refused nothing hears of no room, though what is held has to wait for it.
func TestNagleTellsNobody(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	b.write(5, 10)
	b.write(3, 700)
	b.TakeReadyConns(nil)
	b.credit(3, 1, true)
	if b.c.Held() != 2100 || !b.c.nagle.Due() {
		t.Fatalf("%d held, due %v", b.c.Held(), b.c.nagle.Due())
	}
	b.credit(2, 512, false)
	if got := b.TakeReadyConns(nil); b.c.Held() != 0 || len(got) != 0 {
		t.Errorf("%d held, told %d times", b.c.Held(), len(got))
	}
	b.c.Close(b.now)
	b.done()
}

// A Write that finds no memory does not count, whether it would have asked or not.
func TestNagleCountsWhatWasSent(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	for i := range 5 {
		b.report(nil)
		feed := b.starve()
		for range 10 {
			if err := b.c.Write(b.now, text(10, 0)); err != ErrMemory || b.c.Held() != 0 {
				t.Fatalf("write %d: got %v, %d held", i, err, b.c.Held())
			}
		}
		feed()
		b.write(1, 10)
	}
	b.want("after many in vain", "4x10 10?")
	if unacked, _ := b.c.Window(); unacked != 5 {
		t.Errorf("%d blocks counted, want 5", unacked)
	}
	b.c.Close(b.now)
	b.done()
}

// What is held when memory or the link has no room goes when there is some, in line with
// those that wait; a Write meanwhile waits for that.
func TestNagleWaitsInLine(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	b.write(5, 10)
	b.write(100, 10)
	b.first()
	b.report(nil)
	b.spare = b.arena.Get(500, netdev.Control)
	feed := b.starve()
	b.packetIn(manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Window, f.NagleAck = frame.ConnAck, 512, true }))
	if err := b.c.Write(b.now, text(10, 0)); err != ErrMemory || b.c.Held() != 1000 {
		t.Errorf("got %v, %d held", err, b.c.Held())
	}
	if !b.WantsMemory() || !b.c.again.isSet() {
		t.Error("nobody waits")
	}
	b.alarms.ringDue(b.now + owedPause) // in vain
	feed()
	b.spare.Release()
	b.TakeCalled(nil) // looks for memory
	if at := b.Deadline(); at > b.now {
		t.Errorf("due in %v, want at once", at-b.now)
	}
	b.HandleTimeout(b.now)
	b.want("memory again", "1000?")
	if b.WantsMemory() || b.c.again.isSet() || b.c.ticket.serial != 0 {
		t.Error("somebody waits still")
	}
	b.c.Close(b.now)
	b.done()

	x := newConnBed(t, false)
	client, server, l := x.pair(ConnConfig{Stream: true})
	client.flow.HandleAck(0, 60000)
	server.SetNoDelay(x.now, true)
	for range 105 {
		client.Write(x.now, text(10, 1))
	}
	from := x.x.OpenPort(PortConfig{})
	for from.Send(x.now, frame.SocketAddr{Port: 4711, Node: x.y.Address()}, text(1400, 1)) == nil {
	}
	client.SetNoDelay(x.now, true)
	if client.Held() != 1000 || client.ticket.line == nil {
		t.Errorf("%d held, in line: %v", client.Held(), client.ticket.line != nil)
	}
	x.settle() // the line moves
	if x.x.HandleTimeout(x.now); client.Held() != 0 || client.ticket.line != nil {
		t.Errorf("%d held, in line: %v", client.Held(), client.ticket.line != nil)
	}
	if got := x.readAll(server, 10000); !bytes.Equal(got, bytes.Repeat(text(10, 1), 105)) {
		t.Errorf("got %d bytes", len(got))
	}
	for _, c := range []*Conn{client, server} {
		c.Close(x.now)
	}
	from.Close(x.now)
	l.Close(x.now)
	x.clean()
}

// Both ends count alike, whatever was collected: when all is read, what the sender
// thinks is not acknowledged is what the receiver has not told yet.
//
// Proves: socket.nagle
func TestNagleCountsAlike(t *testing.T) {
	for _, blocks := range []bool{true, false} {
		caps := Capabilities
		if !blocks {
			caps &^= frame.CapBlockFlowctl
		}
		each(t, func(t *testing.T, b *bed) {
			client, server, l := b.pair(ConnConfig{Stream: true})
			packets := b.y.Counters().MessagesIn + b.y.Counters().MessagesLocal
			for i := range 3000 {
				for client.Write(b.now, text(1+i*i%900, i)) != nil {
					b.readAll(server, 10000)
				}
				if i%7 == 0 {
					b.settle()
				}
				if i%50 == 0 {
					b.readAll(server, 10000)
					unacked, _ := client.Window()
					if read := untold(server); unacked != int(read) {
						t.Fatalf("message %d: %d not acknowledged, %d read and not told", i, unacked, read)
					}
				}
			}
			if n := b.y.Counters().MessagesIn + b.y.Counters().MessagesLocal - packets; b.x != b.y && n > 2900 {
				t.Errorf("%d messages came: nothing was collected", n)
			}
			client.Close(b.now)
			b.readAll(server, 10000)
			server.Close(b.now)
			l.Close(b.now)
		}, func(c *Config) { c.Capabilities = caps })
	}
}

// untold is what was read and not acknowledged.
func untold(c *Conn) uint16 {
	acked, _ := c.flow.Credit()
	c.flow.Uncredited(acked)
	return acked
}
