// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"testing"

	"github.com/utipc/utipc/frame"
)

// idleConns makes n connections of two nodes, lets each carry messages both ways, some of
// them held for a while, and returns the bytes that one end takes when all are idle.
func idleConns(t testing.TB, n int) float64 {
	b := newConnBed(t, false)
	l := b.listen(ListenConfig{Stream: true})
	buf := make([]byte, 20000)
	var all []*Conn
	connect := func() {
		client, err := b.x.Dial(b.now, ConnConfig{Stream: true}, l.Addr(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b.settle()
		server, ok := l.Accept(b.now)
		if !ok {
			t.Fatal("nothing to accept")
		}
		b.settle()
		for i, out := range []*Conn{client, server} {
			in := []*Conn{server, client}[i]
			for range 12 {
				if err := out.Write(b.now, buf[:100]); err != nil {
					t.Fatal(err)
				}
			}
			if out.Write(b.now, buf[:5000]) != nil || out.Held() != 0 {
				t.Fatal("held")
			}
			b.settle()
			if k, _, _ := in.Read(b.now, buf); k != 6200 {
				t.Fatalf("read %d bytes", k)
			}
		}
		all = append(all, client, server)
		b.lines = b.lines[:0]
	}
	connect() // what the nodes keep anyway
	b.x.TakeReadyConns(nil)
	before := heap()
	had := len(all)
	for range n {
		connect()
		b.x.TakeReadyConns(all[:0:0])
		b.y.TakeReadyConns(all[:0:0])
	}
	b.settle()
	got := float64(heap()-before) / float64(len(all)-had)
	runtime.KeepAlive(buf)
	for _, c := range all {
		if c.State() != Established || c.Pending() != 0 {
			t.Fatalf("%v, %d pending", c.State(), c.Pending())
		}
		c.Close(b.now)
	}
	l.Close(b.now)
	b.clean()
	return got
}

// An end of a connection that had traffic and is idle takes little, with its place among
// the node's sockets and alarms.
//
// Proves: socket.small
func TestIdleConnIsSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the detector's own memory counts")
	}
	if got := idleConns(t, 1000); got > 1280 {
		t.Errorf("got %.0f bytes, want at most 1280", got)
	} else {
		t.Logf("%.0f bytes", got)
	}
}

// BenchmarkIdleConns is the memory that one end of an idle connection takes.
func BenchmarkIdleConns(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(idleConns(b, 10_000), "B/conn")
	}
	b.ReportMetric(0, "ns/op")
}

// The room of a queue goes from one connection to the next, large ones stay where they
// are until they idle, and what is spare has a limit.
func TestConnRooms(t *testing.T) {
	b := newConnPeer(t)
	s := &b.conns.rooms
	fill := func(c *Conn, n, size int) {
		for range n {
			b.packet(conn(c.peer.Port, c.port.number, nil, string(make([]byte, size))))
		}
	}
	read := func(c *Conn) {
		for _, _, ok := c.Read(b.now, nil); ok; _, _, ok = c.Read(b.now, nil) {
		}
	}
	fill(b.a, 3, 100)
	data := b.a.port.data.buf
	if read(b.a); len(s.spare) != 1 || b.a.port.data.buf != nil || s.bytes != 4096+4*recordCost {
		t.Errorf("%d spare, %d bytes", len(s.spare), s.bytes)
	}
	fill(b.d, 1, 100)
	if &b.d.port.data.buf[0] != &data[0] || len(s.spare) != 0 || s.bytes != 0 {
		t.Error("the room is not that of the other connection")
	}
	fill(b.a, 300, 1000)
	if read(b.a); len(s.spare) != 0 || b.a.port.data.buf == nil {
		t.Errorf("a large room: %d spare", len(s.spare))
	}
	if b.a.probe(b.now); len(s.spare) != 0 || b.a.port.data.buf != nil {
		t.Errorf("a large room, idle: %d spare", len(s.spare))
	}
	b.drain()
	for s.bytes+maxRoom <= maxSpareRoom {
		s.spare, s.bytes = append(s.spare, room{}), s.bytes+maxRoom
	}
	s.bytes = maxSpareRoom
	n := len(s.spare)
	if read(b.d); len(s.spare) != n || b.d.port.data.buf != nil {
		t.Errorf("%d spare, had %d: more than may be", len(s.spare), n)
	}
	s.spare, s.bytes = nil, 0
	b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type = frame.ConnProbeReply }))
	b.unharmed("rooms")
	b.end()
}

// Nothing is left of connections that came and went, whoever closed, with data and
// without: no socket, chunk, alarm, or entry anywhere.
//
// Proves: socket.small
func TestConnCycles(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{Stream: true, AnyKind: true})
		if b.pass(longTime); len(b.x.ports) > 2 {
			t.Fatalf("%d sockets at first", len(b.x.ports))
		}
		sockets, alarms, free := len(b.x.ports)+len(b.y.ports), len(b.x.alarms.heap)+len(b.y.alarms.heap), b.y.arena.Free()
		cycles := 10_000
		if testing.Short() || raceEnabled {
			cycles = 1000
		}
		buf := make([]byte, 3000)
		for i := range cycles {
			client, err := b.x.DialService(b.now, ConnConfig{Stream: i%2 == 0}, service, buf[:i%3*700])
			if err != nil {
				t.Fatal(err)
			}
			b.settle()
			server, ok := l.Accept(b.now)
			if !ok {
				t.Fatal("nothing to accept")
			}
			b.settle()
			for range i % 9 {
				client.Write(b.now, buf[:i%5*700])
				server.Write(b.now, buf[:i%7*300])
			}
			if i%4 == 0 {
				b.settle()
			}
			if i%3 == 0 {
				server.Read(b.now, buf)
			}
			first, second := client, server
			if i>>4&1 != 0 {
				first, second = server, client
			}
			for k, c := range []*Conn{first, second} {
				if i>>k&4 == 0 {
					c.Close(b.now)
				} else {
					c.Abort(b.now)
				}
				if k == 1 || i%5 != 0 {
					b.settle()
				}
			}
			if i%500 == 0 {
				b.pass(longTime)
			}
			b.x.TakeReadyConns(nil)
			b.y.TakeReadyConns(nil)
			b.y.TakeReadyListeners(nil)
			b.lines = b.lines[:0]
		}
		b.pass(longTime)
		if n := len(b.x.ports) + len(b.y.ports); n != sockets {
			t.Errorf("%d sockets, %d before", n, sockets)
		}
		if n := len(b.x.alarms.heap) + len(b.y.alarms.heap); n != alarms {
			t.Errorf("%d alarms, %d before", n, alarms)
		}
		if n := b.y.arena.Free(); n != free {
			t.Errorf("%d chunks free, %d before", n, free)
		}
		if len(l.from) != 0 || l.bytes != 0 || l.pending != nil || b.x.Unsent()+b.y.Unsent() != 0 || b.x.WantsMemory() || b.y.WantsMemory() {
			t.Errorf("left: %v, %d bytes, %v; %d unsent", l.from, l.bytes, l.pending, b.x.Unsent()+b.y.Unsent())
		}
		for _, n := range b.nodes {
			if s := &n.conns; len(s.ready)+len(s.listeners)+len(s.stores.spare) > maxSpare || s.rooms.bytes > maxSpareRoom {
				t.Errorf("%d ready, %d stores, %d bytes of rooms", len(s.ready), len(s.stores.spare), s.rooms.bytes)
			}
		}
		l.Close(b.now)
	})
}
