// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

const longTime = 5 * time.Second

var service = frame.Service{Type: 18888, Instance: 17}

// newConnBed is two nodes in contact: x dials, y listens. Where that is local both are one.
func newConnBed(t testing.TB, local bool, change ...func(*Config)) *bed {
	t.Helper()
	b := newBed(t, 2, change...)
	if !b.until(longTime, b.inContact) {
		t.Fatal("no contact")
	}
	if local {
		b.x = b.y
	}
	return b
}

// newTwoLinkBed is two nodes with two links, the second of smaller packets. short and lose are as
// of bed.
func newTwoLinkBed(t *testing.T, short func(node int) bool, lose func(from int, frame []byte) bool) *bed {
	b := (&bed{t: t, short: short, lose: lose}).grow(2)
	for _, n := range b.nodes {
		b.attach(n, BearerConfig{MTU: 700, LinkConfig: LinkConfig{Priority: 5}})
	}
	b.until(longTime, func() bool {
		l := b.x.nodes
		return len(l) > 0 && l[0].links[1] != nil && l[0].links[0].IsUp() && l[0].links[1].IsUp()
	})
	return b
}

func (b *bed) inContact() bool {
	return b.nodes[0].reach(0x1001002) != nil && b.nodes[1].reach(0x1001001) != nil
}

// each runs f between two nodes and within one.
func each(t *testing.T, f func(t *testing.T, b *bed), change ...func(*Config)) {
	for _, local := range []bool{false, true} {
		t.Run(map[bool]string{false: "remote", true: "local"}[local], func(t *testing.T) {
			b := newConnBed(t, local, change...)
			f(t, b)
			b.clean()
		})
	}
}

// listen makes a listener bound to the service.
func (b *bed) listen(k ListenConfig) *Listener {
	b.t.Helper()
	l := b.y.Listen(k)
	if err := l.Bind(b.now, service.Range(), frame.ClusterScope); err != nil {
		b.t.Fatal(err)
	}
	if !b.until(longTime, func() bool { return b.x.knows(service.Range()) }) {
		b.t.Fatal("the name did not arrive")
	}
	return l
}

// pair makes a connection by name, without data.
func (b *bed) pair(k ConnConfig) (client, server *Conn, l *Listener) {
	b.t.Helper()
	l = b.listen(ListenConfig{Stream: k.Stream, ReceiveLimit: k.ReceiveLimit})
	client, err := b.x.DialService(b.now, k, service, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.settle()
	server, ok := l.Accept(b.now)
	if !ok {
		b.t.Fatal("nothing to accept")
	}
	b.settle()
	if client.State() != Established || server.State() != Established || client.Peer() != server.Addr() || server.Peer() != client.Addr() {
		b.t.Fatalf("got %v to %v and %v to %v", client.State(), client.Peer(), server.State(), server.Peer())
	}
	return client, server, l
}

// clean checks that nothing is left when all connections were closed.
func (b *bed) clean() {
	b.t.Helper()
	b.pass(longTime)
	b.wantFree()
	for i, n := range b.nodes {
		for _, m := range append([]*node{n.self}, n.nodes...) {
			if m.conns != nil {
				b.t.Errorf("node %d: connections to %v are left", i, m.addr)
			}
		}
		if n.conns.loop.busy || n.conns.loop.queue.Len() > 0 || n.conns.calls.Len() > 0 {
			b.t.Errorf("node %d: messages or calls are left", i)
		}
		for p, port := range n.ports {
			if port.conn != nil && port.conn.state == ConnClosed {
				b.t.Errorf("node %d: port %d of a closed connection is left", i, p)
			}
		}
	}
}

// text is n bytes that tell where they stand.
func text(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + seed*13 + i>>8)
	}
	return b
}

// readAll reads what there is.
func (b *bed) readAll(c *Conn, room int) (all []byte) {
	buf := make([]byte, room)
	for {
		b.settle()
		n, _, ok := c.Read(b.now, buf)
		if !ok {
			return all
		}
		all = append(all, buf[:n]...)
	}
}

func ended(c *Conn) string {
	var e *ConnError
	if errors.As(c.Err(), &e) {
		return fmt.Sprintf("%v, %v", e.Why, e.Code)
	}
	return fmt.Sprint(c.State())
}

// Data goes both ways, whole and in order, of every length that takes a way of its own.
//
// Proves: socket.flow
func TestConnCarriesMessages(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{Importance: frame.High})
		if server.Importance != frame.High || client.Importance != frame.High {
			t.Errorf("importance: got %v, %v, want that of the request", client.Importance, server.Importance)
		}
		for _, c := range []*Conn{client, server} {
			if a, ok := c.Name(); !ok || a.Type != service.Type || a.Instance != service.Instance {
				t.Errorf("made by name %v %v, want %v", a, ok, service)
			}
		}
		buf := make([]byte, frame.MaxPayload)
		for i, n := range []int{1, 2, 999, 1000, 1400, 1436, 1437, 2048, 2049, 5000, 60000, frame.MaxPayload} {
			for _, way := range []struct{ out, in *Conn }{{client, server}, {server, client}} {
				want := text(n, i)
				if err := way.out.Write(b.now, want); err != nil {
					t.Fatal(err)
				}
				b.settle()
				k, size, ok := way.in.Read(b.now, buf)
				if !ok || size != n || !bytes.Equal(buf[:k], want) {
					t.Errorf("%d bytes: got %d of %d, %v", n, k, size, ok)
				}
			}
		}
		before, _ := client.Window()
		err := client.Write(b.now, buf[:0])
		if after, _ := client.Window(); err != nil || after != before {
			t.Errorf("an empty one: got %v, %d unacknowledged, %d before", err, after, before)
		}
		if err := client.Write(b.now, make([]byte, frame.MaxPayload+1)); !errors.Is(err, ErrTooLong) {
			t.Errorf("too long: got %v", err)
		}
		client.Write(b.now, []byte("0123456789"))
		b.settle()
		if k, size, ok := server.Read(b.now, buf[:4]); k != 4 || size != 10 || !ok || server.Pending() != 0 {
			t.Errorf("cut: got %d of %d, %v, %d pending", k, size, ok, server.Pending())
		}
		client.Close(b.now)
		b.settle()
		if _, _, ok := server.Read(b.now, buf); ok || ended(server) != "closed by the peer, connection shutdown" {
			t.Errorf("got %v, %v", ok, ended(server))
		}
		server.Close(b.now)
		l.Close(b.now)
	})
}

// A stream joins messages and takes parts of them, short ones and lent ones.
func TestConnStream(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{Stream: true})
		for _, room := range []int{1, 7, 3000, 70000} {
			var want []byte
			for i, n := range []int{5, 1, 1400, 3000, 2049, 17, 66000, 3} {
				d := text(n, i)
				want = append(want, d...)
				if err := client.Write(b.now, d); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.readAll(server, room); !bytes.Equal(got, want) {
				t.Errorf("room %d: got %d bytes, want %d", room, len(got), len(want))
			}
		}
		if unacked, _ := client.Window(); unacked >= 128 {
			t.Errorf("%d blocks unacknowledged when all is read", unacked)
		}
		if server.port.queued != 0 || server.port.data.n != 0 {
			t.Errorf("counted when all is read: %d, %d", server.port.queued, server.port.data.n)
		}
		server.Close(b.now)
		client.Close(b.now)
		l.Close(b.now)
	})
}

// The window stops a writer, and lets it go on; nothing is lost, nothing overflows.
//
// Proves: socket.flow
func TestConnWindow(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{})
		b.x.TakeReadyConns(nil)
		sent, read, acks := 0, 0, ""
		fill := func() {
			for {
				err := client.Write(b.now, text(100, sent))
				b.settle()
				var w *WindowFull
				if errors.As(err, &w) {
					if !errors.Is(err, ErrWindow) || !connFull(err) || w.Unacked != w.Window+1 || !w.Blocks {
						t.Errorf("got %v", err)
					}
					acks += fmt.Sprintf("%d/%d ", sent, w.Window)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				sent++
			}
		}
		fill()
		buf := make([]byte, 200)
		for read < 2000 {
			n, _, ok := server.Read(b.now, buf)
			if !ok {
				t.Fatalf("stalled: %d sent, %d read", sent, read)
			}
			if !bytes.Equal(buf[:n], text(100, read)) {
				t.Fatalf("message %d is another", read)
			}
			read++
			b.settle()
			for _, c := range b.x.TakeReadyConns(nil) {
				if c == client {
					fill()
				}
			}
		}
		// 129 before the first acknowledgement, of 32; then the window is 512.
		if want := "129/128 545/512 673/512 801/512 929/512 1057/512 1185/512 1313/512 1441/512 1569/512 1697/512 1825/512 1953/512 2081/512 2209/512 2337/512 2465/512 "; acks != want {
			t.Errorf("\n got %s\nwant %s", acks, want)
		}
		client.Abort(b.now)
		b.settle()
		if got := len(b.readAll(server, 200)); got != (sent-read)*100 {
			t.Errorf("%d bytes left to read, want %d", got, (sent-read)*100)
		}
		server.Close(b.now)
		l.Close(b.now)
	})
}

// Whatever ends a connection, both ends know why.
//
// Proves: socket.flow
func TestConnEnds(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{})
		for _, c := range []struct {
			name  string
			end   func(c, s *Conn)
			c, s  string
			lines int // on the wire
		}{
			{"client closes", func(c, s *Conn) { c.Close(b.now) }, "closed", "closed by the peer, connection shutdown", 1},
			{"server closes", func(c, s *Conn) { s.Close(b.now) }, "closed by the peer, connection shutdown", "closed", 1},
			{"client aborts", func(c, s *Conn) { c.Abort(b.now) }, "closed", "reset by the peer, no port", 1},
			{"server aborts", func(c, s *Conn) { s.Abort(b.now) }, "reset by the peer, no port", "closed", 1},
			{"both close", func(c, s *Conn) { c.Close(b.now); s.Abort(b.now) }, "closed", "closed", 2},
			{"unread data", func(c, s *Conn) { c.Write(b.now, text(3000, 1)); b.settle(); s.Close(b.now) }, "closed by the peer, connection shutdown", "closed", 4},
			{"unread data, abort", func(c, s *Conn) { c.Write(b.now, text(30, 1)); b.settle(); s.Abort(b.now) }, "reset by the peer, no port", "closed", 2},
			{"twice", func(c, s *Conn) { c.Close(b.now); c.Abort(b.now); c.Close(b.now) }, "closed", "closed by the peer, connection shutdown", 1},
		} {
			client, err := b.x.DialService(b.now, ConnConfig{}, service, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.settle()
			server, _ := l.Accept(b.now)
			b.settle()
			b.lines = nil
			c.end(client, server)
			b.settle()
			if ended(client) != c.c || ended(server) != c.s {
				t.Errorf("%s: got %s; %s, want %s; %s", c.name, ended(client), ended(server), c.c, c.s)
			}
			lines := 0
			for _, s := range b.lines {
				if bytes.Contains([]byte(s), []byte("/conn ")) || bytes.Contains([]byte(s), []byte("frag")) {
					lines++
				}
			}
			if b.x != b.y && lines != c.lines {
				t.Errorf("%s: %d messages, want %d: %q", c.name, lines, c.lines, b.lines)
			}
			for _, e := range []*Conn{client, server} {
				if err := e.Write(b.now, []byte{1}); err == nil || err != e.Err() {
					t.Errorf("%s: write: got %v, want %v", c.name, err, e.Err())
				}
				e.Close(b.now)
				if err := e.Write(b.now, []byte{1}); err != ErrClosed {
					t.Errorf("%s: write after Close: got %v", c.name, err)
				}
				if _, _, ok := e.Read(b.now, nil); ok {
					t.Errorf("%s: read after Close", c.name)
				}
			}
		}
		l.Close(b.now)
	})
}

// What is sent before Close arrives before the end, also while the link is full.
func TestConnCloseOvertakesNothing(t *testing.T) {
	b := newConnBed(t, false)
	client, server, l := b.pair(ConnConfig{})
	var hold [][]byte
	b.lose = func(from int, f []byte) bool {
		if from == 0 {
			hold = append(hold, bytes.Clone(f))
		}
		return from == 0
	}
	sent := 0
	for client.Write(b.now, text(1400, sent)) == nil {
		sent++
	}
	client.Close(b.now)
	b.settle()
	b.lose = nil
	for _, f := range hold {
		b.arrive(0, 0, f)
	}
	b.until(longTime, func() bool { return server.State() == Ended })
	if got := len(b.readAll(server, 2000)); got != sent*1400 || ended(server) != "closed by the peer, connection shutdown" || sent < 60 {
		t.Errorf("got %d bytes of %d messages and %v", got, sent, ended(server))
	}
	server.Close(b.now)
	l.Close(b.now)
	b.clean()
}
