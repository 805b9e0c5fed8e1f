// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Whatever is not of a connection is sent back, or dropped, and counted; it changes
// nothing. A row for each.
//
// Proves: socket.flow, hostile.docs
func TestHostileConnStrangers(t *testing.T) {
	const noPort, notOf, nobody = " error=no port", "not of the connection it names=1", "nobody to take it, and not to be returned=1"
	long := func(f *frame.PayloadFields) { f.Long, f.OrigNode, f.DestNode = true, popAddr, ownAddr }
	with := func(fs ...func(*frame.PayloadFields)) func(*frame.PayloadFields) {
		return func(f *frame.PayloadFields) {
			for _, g := range fs {
				g(f)
			}
		}
	}
	other := func(f *frame.PayloadFields) { f.Long, f.OrigNode = true, 0x1001003 }
	droppable := func(f *frame.PayloadFields) { f.DestDroppable = true }
	for _, c := range []struct {
		name       string
		msg        []byte
		sent, drop string
	}{
		{"data of a third socket", conn(92, 6, nil, "x"), "data-low/conn 6>92" + noPort + " bytes=1", ""},
		{"data of a third socket, that asks", conn(92, 6, func(f *frame.PayloadFields) { f.SrcDroppable = true }, "x"), "data-low/conn 6>92" + noPort + " ack-required bytes=1", ""},
		{"data of the peer's port, as of another node", conn(90, 6, other, "x"), "data-low/conn 6>90" + noPort + " bytes=1", ""},
		{"data of the other connection's peer", conn(91, 6, nil, "x"), "data-low/conn 6>91" + noPort + " bytes=1", ""},
		{"the end, of a third socket", conn(92, 6, code(frame.ConnShutdown), ""), "", nobody},
		{"the end, of the peer's port, as of another node", conn(90, 6, with(other, code(frame.ConnShutdown)), ""), "", nobody},
		{"the end, returned, of a third socket", conn(92, 6, with(long, code(frame.NoPort)), "x"), "", nobody},
		{"a request to a connection", syn(6, 93, "x"), "data-low/direct 6>93" + noPort + " syn bytes=1", ""},
		{"a request of the peer", syn(6, 90, "x"), "data-low/direct 6>90" + noPort + " syn bytes=1", ""},
		{"a datagram of the peer", data(6, func(f *frame.PayloadFields) { f.OrigPort = 90 }, "x"), "data-low/direct 6>90" + noPort + " bytes=1", ""},
		{"a datagram of the peer, droppable", data(6, with(droppable, func(f *frame.PayloadFields) { f.OrigPort = 90 }), "x"), "", nobody},
		{"a probe of a third socket", manager(92, 6, nil), "", notOf},
		{"a probe as of another node", manager(90, 6, func(f *frame.ConnFields) { f.Orig = 0x1001003 }), "", notOf},
		{"an ack of a third socket", manager(92, 6, func(f *frame.ConnFields) { f.Type, f.Window = frame.ConnAck, 1 }), "", notOf},
		{"a bounced probe of a third socket", manager(92, 6, func(f *frame.ConnFields) { f.Error = frame.NoPort }), "", notOf},
		{"data to a listener", conn(90, 5, nil, "x"), "data-low/conn 5>90" + noPort + " bytes=1", ""},
		{"the end, to a listener", conn(90, 5, code(frame.NoPort), ""), "", nobody},
		{"a datagram to a listener", data(5, nil, "x"), "data-low/direct 5>77" + noPort + " bytes=1", ""},
		{"a datagram to a listener, droppable", data(5, droppable, "x"), "", nobody},
		{"a returned request, to a listener", data(5, func(f *frame.PayloadFields) { f.Syn, f.Error = true, frame.Overload }, ""), "", nobody},
		{"a request of port 0", syn(5, 0, ""), "data-low/direct 5>0" + noPort + " syn bytes=0", ""},
		{"a probe to a listener", manager(90, 5, nil), "", nobody},
		{"a group message to a connection", data(6, func(f *frame.PayloadFields) { f.Type = frame.GroupUcastMsg }, "x"), "", nobody},
	} {
		b := newConnPeer(t)
		b.packet(c.msg)
		if got := b.first(); got != c.sent {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.sent)
		}
		b.wantDrops(c.name, c.drop)
		if b.l.Pending() != 0 {
			t.Errorf("%s: %d pending", c.name, b.l.Pending())
		}
		b.unharmed(c.name)
		b.end()
	}
}

// An acknowledgement of more than was sent is ignored, its window too.
//
// Proves: socket.flow, hostile.docs
func TestHostileConnOverAck(t *testing.T) {
	b := newConnPeer(t)
	b.a.Write(b.now, []byte("one block"))
	b.drain()
	ack := func(acked, window uint16) {
		b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Acked, f.Window = frame.ConnAck, acked, window }))
	}
	for i, acked := range []uint16{2, 129, 65535} {
		ack(acked, 7)
		if unacked, window := b.a.Window(); unacked != 1 || window != 128 || b.count.OverAcks != uint64(i+1) {
			t.Errorf("ack of %d: %d unacknowledged, window %d, counted %d", acked, unacked, window, b.count.OverAcks)
		}
	}
	ack(1, 0) // a window of 0 is 1
	if unacked, window := b.a.Window(); unacked != 0 || window != 1 {
		t.Errorf("%d unacknowledged, window %d, want 0 and 1", unacked, window)
	}
	b.unharmed("acknowledgements")
	b.end()
}

// A peer that ignores the window fills the queue to its limit, with messages of any
// length, and loses the connection: what is too much comes back.
//
// Proves: hostile.docs
func TestHostileConnIgnoresWindow(t *testing.T) {
	for _, n := range []int{1, 700, 1400} {
		b := newConnPeer(t)
		sent := 0
		for ; b.a.State() == Established && sent < 100000; sent++ {
			b.packet(conn(90, 6, nil, strings.Repeat("x", n)))
			b.sent = clear16(b.sent)
			if b.a.port.queued > DefaultReceiveLimit {
				t.Fatalf("%d bytes counted", b.a.port.queued)
			}
		}
		if want := DefaultReceiveLimit/(n+recordCost) + 1; sent != want || ended(b.a) != "reset by the peer, overload" {
			t.Errorf("%d bytes: %v after %d messages, want %d", n, ended(b.a), sent, want)
		}
		if got, want := b.first(), fmt.Sprintf("data-low/conn 6>90 error=overload bytes=%d", min(n, 1024)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		b.packet(conn(90, 6, nil, "x"))
		if got := b.first(); got != "data-low/conn 6>90 error=no port bytes=1" {
			t.Errorf("after the end: got %q", got)
		}
		if b.a.Pending() != sent-1 {
			t.Errorf("%d to read, want %d", b.a.Pending(), sent-1)
		}
		b.end()
	}
}

// A flood of requests, empty and large, ends at a limit, and leaves room for others: what a
// node has most of gives way, the newest first. It catches a makeRoom that evicts nothing,
// or for a node that has as many itself.
//
// Proves: socket.flow, hostile.docs
func TestHostileConnSynFlood(t *testing.T) {
	b := newConnPeer(t)
	b.l.Close(b.now)
	b.l = b.Listen(ListenConfig{})
	port := b.l.port.number
	refused := 0
	for i := range 5000 {
		b.packet(syn(port, uint32(1000+i), strings.Repeat("x", i%3*300)))
		if s := b.first(); s != "" {
			refused++
			if want := fmt.Sprintf("data-low/direct %d>%d error=overload syn bytes=0", port, 1000+i); s != want {
				t.Fatalf("got %q, want %q", s, want)
			}
		}
	}
	if b.l.Pending() != DefaultBacklog || refused != 5000-DefaultBacklog {
		t.Errorf("%d pending, %d refused", b.l.Pending(), refused)
	}
	own, err := b.Dial(b.now, ConnConfig{}, b.l.Addr(), nil)
	if err != nil || b.l.Pending() != DefaultBacklog || b.l.from[b.Address()] != 1 {
		t.Errorf("another node's request: %v, %d pending, %d of it", err, b.l.Pending(), b.l.from[b.Address()])
	}
	if s, want := b.first(), fmt.Sprintf("data-low/direct %d>%d error=overload syn bytes=0", port, 1000+DefaultBacklog-1); s != want {
		t.Errorf("in its place went %q, want %q", s, want)
	}
	own.Close(b.now)
	for range 10 {
		c, ok := b.l.Accept(b.now)
		if !ok {
			t.Fatal("nothing to accept")
		}
		c.Abort(b.now)
	}
	b.first()
	b.packet(syn(port, 7000, ""))
	if s := b.first(); s != "" || b.l.Pending() != DefaultBacklog-10+1 {
		t.Errorf("room again: got %q, %d pending", s, b.l.Pending())
	}
	b.unharmed("requests")
	b.end()
	// By bytes.
	x := newConnBed(t, true)
	l := x.listen(ListenConfig{})
	var all []*Conn
	for range 40 {
		c, _ := x.x.DialService(x.now, ConnConfig{Timeout: time.Second}, service, make([]byte, frame.MaxPayload))
		all = append(all, c)
	}
	if want := DefaultReceiveLimit / (frame.MaxPayload + recordCost); l.Pending() != want || l.bytes > DefaultReceiveLimit {
		t.Errorf("%d pending, %d bytes, want %d", l.Pending(), l.bytes, want)
	}
	l.Close(x.now)
	for _, c := range all {
		c.Close(x.now)
	}
	x.clean()
}

// Two requests of one socket are two requests; the second connection is the client's to
// refuse.
//
// Proves: hostile.docs
func TestHostileConnSecondSyn(t *testing.T) {
	b := newConnPeer(t)
	b.packet(syn(5, 90, "again"))
	c, ok := b.l.Accept(b.now)
	if got := b.first(); !ok || !strings.HasSuffix(got, ">90 bytes=0") {
		t.Errorf("got %v, %q", ok, got)
	}
	b.packet(conn(90, c.port.number, func(f *frame.PayloadFields) {
		f.Long, f.Error, f.OrigNode, f.DestNode = true, frame.NoPort, popAddr, ownAddr
	}, ""))
	if ended(c) != "reset by the peer, no port" {
		t.Errorf("got %v", ended(c))
	}
	c.Close(b.now)
	b.unharmed("a second request")
	b.end()
}

// While connecting: answers of others, answers to other requests, forged returns.
//
// Proves: hostile.docs
func TestHostileConnConnecting(t *testing.T) {
	returned := func(from uint32, e frame.ErrorCode) func(*frame.PayloadFields) {
		return func(f *frame.PayloadFields) { f.OrigPort, f.Syn, f.Error = from, true, e }
	}
	for _, c := range []struct {
		name  string
		msg   func(to uint32) []byte
		sent  string
		state string
	}{
		{"a probe", func(to uint32) []byte { return manager(80, to, nil) }, "", "connecting"},
		{"an ack", func(to uint32) []byte {
			return manager(80, to, func(f *frame.ConnFields) { f.Type, f.Acked = frame.ConnAck, 1 })
		}, "", "connecting"},
		{"a datagram of the listener", func(to uint32) []byte {
			return data(to, func(f *frame.PayloadFields) { f.OrigPort = 80 }, "x")
		}, "data-low/direct 8>80 error=no port bytes=1", "connecting"},
		{"a request", func(to uint32) []byte { return syn(to, 80, "") }, "data-low/direct 8>80 error=no port syn bytes=0", "connecting"},
		{"a return of another port", func(to uint32) []byte { return data(to, returned(81, frame.NoPort), "") }, "", "connecting"},
		{"an overload of another port", func(to uint32) []byte { return data(to, returned(81, frame.Overload), "") }, "", "connecting"},
		{"a return as of another node", func(to uint32) []byte {
			return data(to, func(f *frame.PayloadFields) { returned(80, frame.NoPort)(f); f.OrigNode = 0x1001003 }, "")
		}, "", "connecting"},
		{"an answer as of another node", func(to uint32) []byte {
			return conn(81, to, func(f *frame.PayloadFields) { f.Long, f.OrigNode, f.DestNode = true, 0x1001003, ownAddr }, "")
		}, "data-low/conn 8>81 error=no port bytes=0", "connecting"},
		{"an answer of port 0", func(to uint32) []byte { return conn(0, to, nil, "") }, "data-low/conn 8>0 error=no port bytes=0", "connecting"},
		{"refused", func(to uint32) []byte { return data(to, returned(80, frame.NoPort), "") }, "", "refused, no port"},
		{"refused on the connection", func(to uint32) []byte { return conn(81, to, code(frame.NoPort), "") }, "", "refused, no port"},
		{"answered with data", func(to uint32) []byte { return conn(81, to, nil, "x") }, "", "established"},
	} {
		p := newScriptedPeer(t, ports(8), alone).up()
		x, err := p.Dial(p.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.drain()
		p.packet(c.msg(8))
		b := &connPeer{scriptedPeer: p}
		if got := b.first(); got != c.sent || ended(x) != c.state || x.again.isSet() {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got, ended(x), c.sent, c.state)
		}
		x.Abort(p.now)
		p.done()
	}
	// The request went to a socket of this node; another node answers.
	p := newScriptedPeer(t, ports(8, 9)).up()
	quiet := p.OpenPort(PortConfig{})
	x, _ := p.Dial(p.now, ConnConfig{}, quiet.Addr(), nil)
	p.drain()
	p.packet(conn(81, 9, nil, "x"))
	if p.packet(conn(81, 9, code(frame.NoPort), "")); x.State() != Connecting {
		t.Errorf("answered by another node: %v", x.State())
	}
	x.Close(p.now)
	quiet.Close(p.now)
	p.done()
}

// A peer that asks for an answer with every message has one each.
//
// Proves: hostile.docs
func TestHostileConnAsksAlways(t *testing.T) {
	b := newConnPeer(t)
	asks := func(f *frame.PayloadFields) { f.SrcDroppable = true }
	buf := make([]byte, 10)
	for i := range 200 {
		b.packet(conn(90, 6, asks, "x"))
		if got := b.first(); strings.Count(got, "conn/ack") != 1 || strings.Contains(got, ";") {
			t.Fatalf("message %d: sent %q", i, got)
		}
		b.a.Read(b.now, buf)
		if got := b.first(); got != "" {
			t.Fatalf("read %d: sent %q", i, got)
		}
		b.packet(conn(90, 6, asks, ""))
		b.packet(manager(90, 6, nil))
		if got := b.first(); strings.Count(got, "conn/") != 2 {
			t.Fatalf("message %d: sent %q", i, got)
		}
	}
	b.unharmed("questions")
	b.end()
}

// A closed connection's methods do nothing, and its number is nobody's.
//
// Proves: hostile.docs
func TestHostileConnUseAfterClose(t *testing.T) {
	b := newConnPeer(t)
	b.packet(conn(90, 6, nil, "x"))
	b.a.Close(b.now)
	b.first()
	b.a.Close(b.now)
	b.a.Abort(b.now)
	if n, _, ok := b.a.Read(b.now, make([]byte, 9)); ok || n != 0 {
		t.Error("it can be read")
	}
	if err := b.a.Write(b.now, []byte("x")); err != ErrClosed {
		t.Errorf("write: got %v", err)
	}
	b.packet(conn(90, 6, nil, "x"))
	b.packet(manager(90, 6, nil))
	if got, want := b.first(), "data-low/conn 6>90 error=no port bytes=1; conn/probe 6>90 error=no port"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.packet(conn(90, 6, code(frame.NoPort), ""))
	if got := b.first(); got != "" || b.a.alarmed() {
		t.Errorf("got %q", got)
	}
	if slices.Contains(b.TakeReadyConns(nil), b.a) {
		t.Error("a closed connection is named")
	}
	b.a.ring(b.now, &b.a.limit)
	b.a.ring(b.now, &b.a.again)
	if got := b.first(); got != "" || b.a.State() != ConnClosed {
		t.Errorf("a late alarm: got %q, %v", got, b.a.State())
	}
	b.d.Close(b.now)
	b.l.Close(b.now)
	b.done()
}

func (c *Conn) alarmed() bool { return c.limit.isSet() || c.again.isSet() }

// Multicast reaches no listener and no connection, though the range is bound.
//
// Proves: hostile.docs
func TestHostileConnMulticast(t *testing.T) {
	b := newConnPeer(t)
	b.l.Bind(b.now, frame.Range{Type: 18888, Lower: 0, Upper: 9}, frame.ClusterScope)
	port := b.bound(b.t.(*testing.T), PortConfig{}, 18888, 5)
	b.drain()
	b.packet(data(0, func(f *frame.PayloadFields) {
		f.Type, f.Scope, f.NameType, f.Lower, f.Upper, f.DestDroppable = frame.McastMsg, frame.ClusterScope, 18888, 0, 9, true
	}, "all"))
	if got := read(port); len(got) != 1 || b.l.Pending() != 0 || b.l.port.queue.Len() != 0 {
		t.Errorf("got %q, %d pending, %d queued", got, b.l.Pending(), b.l.port.queue.Len())
	}
	b.wantDrops("multicast", "")
	port.Close(b.now)
	b.unharmed("multicast")
	b.end()
}

// A connection within the node is not another node's, whatever a message says.
//
// Proves: hostile.docs
func TestHostileConnForgedOwnNode(t *testing.T) {
	b := newConnPeer(t)
	own := b.Listen(ListenConfig{})
	x, _ := b.Dial(b.now, ConnConfig{}, own.Addr(), nil)
	y, _ := own.Accept(b.now)
	forged := func(f *frame.PayloadFields) { f.Long, f.OrigNode, f.DestNode = true, ownAddr, ownAddr }
	for _, e := range []frame.ErrorCode{frame.OK, frame.NoPort, frame.ConnShutdown} {
		b.packet(conn(y.port.number, x.port.number, func(f *frame.PayloadFields) { forged(f); f.Error = e }, "x"))
		b.packet(conn(y.port.number, x.port.number, code(e), "x"))
		b.packet(manager(y.port.number, x.port.number, func(f *frame.ConnFields) { f.Orig, f.Error = ownAddr, e }))
	}
	if x.State() != Established || x.Pending() != 0 || y.State() != Established {
		t.Errorf("got %v, %d pending, %v", x.State(), x.Pending(), y.State())
	}
	x.Close(b.now)
	y.Close(b.now)
	own.Close(b.now)
	b.unharmed("forged messages")
	b.end()
}
