// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A nagleBed is an engine with one stream, of port 6 to the peer's port 90; the peer
// is the test.
type nagleBed struct {
	*hostileBed
	c *Conn
}

func newNagleBed(t testing.TB, k ConnConfig, change ...func(*Config)) *nagleBed {
	t.Helper()
	return nagleBedOf(newScriptedPeer(t, append(change, ports(6))...).up(), k)
}

// nagleBedOf is newNagleBed of a peer that is up.
func nagleBedOf(p *scriptedPeer, k ConnConfig) *nagleBed {
	p.t.Helper()
	b := &nagleBed{hostileBed: &hostileBed{scriptedPeer: p}}
	k.Stream = true
	c, err := b.Dial(b.now, k, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	b.packet(conn(90, 6, nil, ""))
	b.drain()
	b.c = c
	return b
}

// write writes n bytes, so many times.
func (b *nagleBed) write(times, n int) {
	b.t.Helper()
	for range times {
		if err := b.c.Write(b.now, text(n, 0)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// credit is the peer's acknowledgement; an answer has the bit.
func (b *nagleBed) credit(acked, window uint16, answer bool) {
	b.packet(manager(90, 6, func(f *frame.ConnFields) {
		f.Type, f.Acked, f.Window, f.NagleAck = frame.ConnAck, acked, window, answer
	}))
}

// got is what was sent: "5x10" five messages of 10 bytes, "10?" one that asks.
func (b *nagleBed) got() string {
	var s []string
	last, n := "", 0
	for _, l := range append(strings.Split(b.first(), "; "), "") {
		l = strings.TrimPrefix(l, "data-low/conn 6>90 ")
		l, ask := strings.CutPrefix(l, "ack-required ")
		if l = strings.TrimPrefix(l, "bytes="); ask {
			l += "?"
		}
		if l == last {
			n++
			continue
		}
		if n > 1 {
			last = fmt.Sprint(n, "x", last)
		}
		if last != "" {
			s = append(s, last)
		}
		last, n = l, 1
	}
	return strings.Join(s, " ")
}

func (b *nagleBed) want(what, want string) {
	b.t.Helper()
	if got := b.got(); got != want {
		b.t.Errorf("%s: sent %q, want %q", what, got, want)
	}
}

// A stream's short messages on the wire, as kernels send them: spec 07 §5.3, "Tested".
//
// Proves: socket.nagle
func TestNagleOnTheWire(t *testing.T) {
	b := newNagleBed(t, ConnConfig{}, func(c *Config) { c.Margin = 32 })
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
	b := newNagleBed(t, ConnConfig{})
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
		b := nagleBedOf(p, c.k)
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
	b := newHostileBed(t)
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
	b := newNagleBed(t, ConnConfig{})
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
	b := newNagleBed(t, ConnConfig{})
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
	b := newNagleBed(t, ConnConfig{})
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
	b := newNagleBed(t, ConnConfig{})
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

// Ten thousand short messages and a close, or an abort, in one go: the peer reads them
// all and then the end, through a window that is full most of the time. The ends count
// alike at all times.
//
// Proves: socket.nagle
func TestNagleCloseLosesNothing(t *testing.T) {
	for _, abort := range []bool{false, true} {
		each(t, func(t *testing.T, b *connBed) {
			client, server, l := b.pair(ConnConfig{Stream: true})
			var want, got []byte
			buf := make([]byte, 3000)
			read := func() bool {
				n, _, ok := server.Read(b.now, buf)
				got = append(got, buf[:n]...)
				return ok
			}
			total := 10000
			if testing.Short() {
				total = 3000
			}
			for i := 0; i < total; {
				switch err := client.Write(b.now, text(30, i)); {
				case err == nil:
					want = append(want, text(30, i)...)
					i++
				case !connFull(err):
					t.Fatal(err)
				default:
					for range 100 {
						read()
					}
					b.settle()
				}
				if i%64 == 0 {
					b.settle()
				}
			}
			lost := 0
			for ; client.flow.Open(); lost++ { // now it is full
				client.flow.Sent(1)
			}
			held := client.Held()
			if b.x != b.y && (held == 0 || b.x.Unsent() < client.nagle.Packets()) {
				t.Errorf("%d unsent, %d packets held", b.x.Unsent(), client.nagle.Packets())
			}
			if abort {
				client.Abort(b.now)
			} else {
				client.Close(b.now)
			}
			b.settle()
			if client.Held() != held || b.x != b.y && b.x.Unsent() < client.nagle.Packets()+1 {
				t.Errorf("%d held, %d before; %d unsent", client.Held(), held, b.x.Unsent())
			}
			for range lost {
				server.flow.Read(1)
			}
			if err := client.Write(b.now, buf); err != ErrClosed {
				t.Errorf("write: got %v", err)
			}
			for range 200 {
				for read() {
				}
				b.settle()
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, want %d", len(got), len(want))
			}
			why := map[bool]string{false: "closed by the peer, connection shutdown", true: "reset by the peer, no port"}[abort]
			if ended(server) != why {
				t.Errorf("got %v, want %v", ended(server), why)
			}
			b.until(longTime, func() bool { return b.x.Unsent() == 0 })
			if b.x.ports[client.port.number] != nil || b.x.Unsent() != 0 {
				t.Errorf("the closed one is left, %d unsent", b.x.Unsent())
			}
			server.Close(b.now)
			l.Close(b.now)
		})
	}
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
		each(t, func(t *testing.T, b *connBed) {
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

// A closed connection holds what the window stops as long as its peer answers probes, else
// it ends in a reset. Meanwhile it takes no data, and knows its peer. What it could not send
// is counted. Mutations: the end stays orderly when the bytes are given up (cutShort leaves
// owedEnd); lose does not count for a closed connection.
//
// Proves: socket.nagle
func TestNagleLingers(t *testing.T) {
	begin := func() *nagleBed {
		b := newNagleBed(t, ConnConfig{})
		b.write(5, 10)
		b.write(10, 10)
		b.credit(3, 1, false)
		b.first()
		b.report(nil)
		return b
	}
	for _, c := range []struct {
		name string
		do   func(b *nagleBed)
		sent string // what comes then
		left bool
		lost int // bytes
	}{
		{"the window opens", func(b *nagleBed) { b.credit(1, 512, false) },
			"data-low/conn 6>90 bytes=100; data-critical/conn 6>90 error=connection shutdown bytes=0", false, 0},
		{"it does not open enough", func(b *nagleBed) { b.credit(0, 1, true) }, "", true, 0},
		{"a probe", func(b *nagleBed) { b.packet(manager(90, 6, nil)) }, "conn/probe-reply 6>90", true, 0},
		{"data", func(b *nagleBed) { b.packet(conn(90, 6, func(f *frame.PayloadFields) { f.SrcDroppable = true }, "x")) }, "", true, 0},
		{"a request of the peer", func(b *nagleBed) { b.packet(syn(6, 90, "")) }, "data-low/direct 6>90 error=no port syn bytes=0", true, 0},
		{"data of another", func(b *nagleBed) { b.packet(conn(91, 6, nil, "x")) }, "data-low/conn 6>91 error=no port bytes=1", true, 0},
		{"the end of another", func(b *nagleBed) { b.packet(conn(91, 6, code(frame.NoPort), "")) }, "", true, 0},
		{"the peer's end", func(b *nagleBed) { b.packet(conn(90, 6, code(frame.ConnShutdown), "")) }, "", false, 100},
		{"a bounced probe", func(b *nagleBed) {
			b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Error = frame.NoPort }))
		}, "", false, 100},
		{"a while", func(b *nagleBed) { b.alarms.ringDue(b.now + lingerProbe - 1) }, "", true, 0},
		{"longer", func(b *nagleBed) { b.alarms.ringDue(b.now + lingerProbe) }, "conn/probe 6>90", true, 0},
		{"the peer answers probes", func(b *nagleBed) {
			for i := range time.Duration(100) {
				b.alarms.ringDue(b.now + (i+1)*lingerProbe)
				if got := b.first(); got != "conn/probe 6>90" {
					b.t.Errorf("probe %d: sent %q", i, got)
				}
				b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type = frame.ConnProbeReply }))
			}
		}, "", true, 0},
		{"the peer leaves a probe without answer", func(b *nagleBed) {
			b.alarms.ringDue(b.now + lingerProbe)
			b.first()
			b.alarms.ringDue(b.now + 2*lingerProbe)
		}, "data-critical/conn 6>90 error=no port bytes=0", false, 100},
		{"the node leaves", func(b *nagleBed) { b.CutShort(b.now) }, "data-critical/conn 6>90 error=no port bytes=0", false, 100},
		{"used", func(b *nagleBed) {
			b.c.Close(b.now)
			b.c.Abort(b.now)
			b.c.SetNoDelay(b.now, true)
			if b.c.Write(b.now, []byte("x")) != ErrClosed || b.c.Err() != ErrClosed {
				b.t.Error("it can be written to")
			}
		}, "", true, 0},
		{"contact is lost", func(b *nagleBed) { b.lose(b.now, b.byAddr[popAddr]) }, "", false, 100},
	} {
		b := begin()
		b.c.Close(b.now)
		if got := b.first(); got != "" || b.c.Held() != 100 || b.Ports() != 1 {
			t.Fatalf("%s: at once: sent %q, %d held", c.name, got, b.c.Held())
		}
		if n := b.Unsent(); n != 2 {
			t.Errorf("%s: %d unsent, want 2", c.name, n)
		}
		c.do(b)
		if got := b.first(); got != c.sent {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.sent)
		}
		if left := b.Ports() > 0; left != c.left || left != (b.c.Held() > 0) || left != b.c.limit.isSet() || !left && (b.c.store != nil || b.c.alarmed()) {
			t.Errorf("%s: left %v, %d held", c.name, left, b.c.Held())
		}
		if got := b.TakeReadyConns(nil); slices.Contains(got, b.c) {
			t.Errorf("%s: its owner hears of it", c.name)
		}
		if n := b.Counters().ClosedUnsent; n != uint64(c.lost) || b.c.Unsent() != c.lost || b.c.Gone() == c.left {
			t.Errorf("%s: %d bytes counted as lost, of the connection %d, want %d; gone: %v", c.name, n, b.c.Unsent(), c.lost, b.c.Gone())
		}
		b.lose(b.now, b.byAddr[popAddr])
		if b.Ports() != 0 {
			t.Errorf("%s: it is left without contact", c.name)
		}
		b.done()
	}
	// What nobody has read is the end, as without lingering.
	b := begin()
	b.packet(conn(90, 6, nil, "unread"))
	b.c.Abort(b.now)
	b.first()
	b.credit(1, 512, false)
	if got, want := b.first(), "data-low/conn 6>90 bytes=100; data-low/conn 6>90 error=no port bytes=6"; got != want {
		t.Errorf("unread: sent %q, want %q", got, want)
	}
	b.done()
}

// An end that nobody here wanted takes what is held with it, and says so. Mutation: finish
// forgets what is held without counting it.
func TestNagleEndedByPeer(t *testing.T) {
	b := newNagleBed(t, ConnConfig{})
	b.write(15, 10)
	b.first()
	b.packet(conn(90, 6, code(frame.ConnShutdown), ""))
	if b.c.Held() != 0 || b.c.store != nil || len(b.conns.stores.spare) != 1 || ended(b.c) != "closed by the peer, connection shutdown" {
		t.Errorf("%d held, %v", b.c.Held(), ended(b.c))
	}
	var end *ConnError
	if err := b.c.Write(b.now, []byte("x")); err != b.c.Err() || !errors.As(err, &end) || end.Unsent != 100 || b.c.Unsent() != 100 {
		t.Errorf("got %v", err)
	}
	if n := b.Counters().ClosedUnsent; n != 0 {
		t.Errorf("%d bytes counted as lost with closed ones", n)
	}
	b.c.SetNoDelay(b.now, true)
	b.c.Close(b.now)
	b.want("nothing", "")
	b.done()
}
