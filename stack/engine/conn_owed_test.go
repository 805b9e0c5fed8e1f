// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// starve takes all of a node's chunks, and returns what gives them back.
func (p *scriptedPeer) starve() (feed func()) {
	var all []*netdev.Buffer
	for b := p.arena.Get(100, netdev.Control); b != nil; b = p.arena.Get(100, netdev.Control) {
		all = append(all, b)
	}
	return func() {
		for _, b := range all {
			b.Release()
		}
	}
}

// What must not be left unsaid is said when there is memory again: each row is a
// message that finds none, and the answer that comes later, once. Mutation it catches, of the
// two write ends: pay sets no alarm for owedWriteEnd.
func TestConnOwes(t *testing.T) {
	for _, c := range []struct {
		name string
		msg  func() []byte
		do   func(b *connPeer)
		want string
	}{
		{"probe reply", func() []byte { return manager(90, 6, nil) }, nil, "conn/probe-reply 6>90"},
		{"nagle ack", func() []byte { return conn(90, 6, func(f *frame.PayloadFields) { f.SrcDroppable = true }, "") }, nil, "conn/ack 6>90 acked=7 window=512 nagle"},
		{
			"both", func() []byte {
				return bundle(nil, conn(90, 6, func(f *frame.PayloadFields) { f.SrcDroppable = true }, ""), manager(90, 6, nil))
			}, nil,
			"conn/ack 6>90 acked=7 window=512 nagle; conn/probe-reply 6>90",
		},
		{"ack", nil, func(b *connPeer) {
			for range 25 {
				b.a.port.store([]byte("x"), nil)
				b.a.Read(b.now, nil)
			}
		}, "conn/ack 6>90 acked=32 window=512"},
		{"accepted", func() []byte { return syn(5, 95, "") }, func(b *connPeer) {
			if c, ok := b.l.Accept(b.now); !ok || c.State() != Established {
				b.t.Error("not accepted")
			}
		}, "data-low/conn 8>95 bytes=0"},
		{"write end", nil, func(b *connPeer) { b.ours(HalfClose).a.CloseWrite(b.now) }, "conn/write-end 6>90"},
		{"accepted, and write end", func() []byte { return syn(5, 95, "") }, func(b *connPeer) {
			if c, ok := b.l.Accept(b.now); !ok || b.ours(HalfClose) == nil || c.CloseWrite(b.now) != nil {
				b.t.Error("not accepted, or not ended")
			}
		}, "data-low/conn 8>95 bytes=0; conn/write-end 8>95"},
		{"close", nil, func(b *connPeer) { b.a.Close(b.now) }, "data-critical/conn 6>90 error=connection shutdown bytes=0"},
		{"abort", nil, func(b *connPeer) { b.a.Abort(b.now) }, "data-critical/conn 6>90 error=no port bytes=0"},
		{
			"close with unread data", func() []byte { return conn(90, 6, nil, "x") }, func(b *connPeer) { b.a.Close(b.now) },
			"data-critical/conn 6>90 error=connection shutdown bytes=0",
		},
		{"close, and what comes then", nil, func(b *connPeer) {
			b.a.Close(b.now)
			b.packetIn(conn(90, 6, code(frame.NoPort), ""))
		}, "data-critical/conn 6>90 error=connection shutdown bytes=0"},
		{"close while connecting", nil, func(b *connPeer) { // it went out before
			b.d.state, b.d.request = Connecting, &request{f: b.d.port.template(frame.DirectMsg, b.d.peer)}
			b.d.Abort(b.now)
		}, "data-critical/conn 7>91 error=no port bytes=0"},
	} {
		b := newConnPeer(t)
		b.Config().Chance.(*numbered).ports = []uint32{8}
		for range 7 {
			b.packet(conn(90, 6, nil, "x"))
			b.a.Read(b.now, nil)
		}
		b.first()
		b.report(nil)
		b.spare = b.arena.Get(500, netdev.Control)
		feed := b.starve()
		if c.msg != nil {
			b.packetIn(c.msg())
		}
		if c.do != nil {
			c.do(b)
		}
		sockets := b.Ports()
		b.alarms.ringDue(b.now + owedPause)
		if got := b.first(); got != "" || b.Ports() != sockets {
			t.Errorf("%s: sent without memory: %q, %d sockets of %d", c.name, got, b.Ports(), sockets)
		}
		feed()
		b.spare.Release()
		if at := b.alarms.first(); at != b.now+2*owedPause {
			t.Errorf("%s: tried again at %v", c.name, at-b.now)
		}
		b.alarms.ringDue(b.now + 2*owedPause)
		if b.collect(); c.name == "nagle ack" && !strings.HasPrefix(b.hexOf(), "51440028") {
			t.Errorf("%s: got %s", c.name, b.hexOf())
		}
		if got := b.first(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if strings.Contains(c.name, "close") != (b.Ports() == sockets-1) && c.name != "abort" {
			t.Errorf("%s: %d sockets, %d before", c.name, b.Ports(), sockets)
		}
		b.alarms.ringDue(b.now + time.Minute)
		if got := b.first(); got != "" {
			t.Errorf("%s: again: %q", c.name, got)
		}
		b.l.Close(b.now)
		b.done()
	}
}

// packetIn is packet with memory that was set aside.
func (b *connPeer) packetIn(msg []byte) {
	f := b.spare
	f.Resize(frame.EthernetLen + len(msg))
	copy(f.Bytes(), ether(ownMAC, popMAC, b.next(msg)))
	b.HandleFrame(b.now, 0, f)
	b.collect()
}

// Config is the engine's.
func (b *connPeer) Config() *Config { return &b.Engine.cfg }

// A closed connection that owes its end goes when contact is lost; a request that finds
// no memory is tried again; one that cannot begin leaves nothing.
func TestConnOwesNothingAnyMore(t *testing.T) {
	b := newConnPeer(t)
	b.packet(data(7, func(f *frame.PayloadFields) { f.OrigPort = 91 }, "")) // nothing
	x, _ := b.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, []byte("first"))
	b.packet(data(x.port.number, func(f *frame.PayloadFields) { f.OrigPort, f.Syn, f.Error = 80, true, frame.Overload }, ""))
	if !x.again.isSet() {
		t.Fatal("it does not ask again")
	}
	b.first()
	b.report(nil)
	feed := b.starve()
	b.a.Close(b.now)
	sockets := b.Ports()
	if _, err := b.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, nil); err != ErrMemory || b.Ports() != sockets {
		t.Errorf("Dial: got %v, %d sockets of %d", err, b.Ports(), sockets)
	}
	b.alarms.cancel(&b.a.again)
	at := x.again.at
	if b.alarms.ringDue(at); !x.again.isSet() || x.again.at <= at {
		t.Error("it does not ask again")
	}
	feed()
	b.TakeCalled(nil) // looks for memory
	b.alarms.ringDue(x.again.at)
	if got := b.first(); !strings.HasSuffix(got, ">80 syn bytes=5") {
		t.Errorf("got %q", got)
	}
	b.lose(b.now, b.byAddr[popAddr])
	if b.ports[6] != nil || ended(b.d) != "contact with the peer's node lost, no node" {
		t.Errorf("the closed one is left, or %v", ended(b.d))
	}
	if _, err := b.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, nil); err != ErrNoLink {
		t.Errorf("Dial: got %v", err)
	}
	if _, err := b.Dial(b.now, ConnConfig{}, b.l.Addr(), make([]byte, frame.MaxPayload+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("Dial: got %v", err)
	}
	x.Close(b.now)
	b.d.Close(b.now)
	b.l.Close(b.now)
	b.done()
}

// A call that finds the link full waits in line for it, as those of a Port.
func TestConnWaitsInLine(t *testing.T) {
	b := newConnBed(t, false)
	client, server, l := b.pair(ConnConfig{})
	client.flow.HandleAck(0, 60000)
	from := b.x.OpenPort(PortConfig{})
	for from.Send(b.now, frame.SocketAddr{Port: 4711, Node: b.y.Address()}, text(1400, 1)) == nil {
	}
	var ticket Ticket
	write := func() error {
		b.x.SendAs(&ticket)
		defer b.x.SendAs(nil)
		return client.Write(b.now, text(1400, 2))
	}
	if _, ok := write().(*Blocked); !ok {
		t.Fatal("there is room on the link")
	}
	if unacked, _ := client.Window(); unacked != 0 {
		t.Errorf("%d counted as sent", unacked)
	}
	if b.settle(); len(b.x.TakeCalled(nil)) != 1 || !ticket.Invited() {
		t.Fatal("nobody called")
	}
	if err := write(); err != nil {
		t.Errorf("got %v", err)
	}
	b.x.Quit(b.now, &ticket)
	if got := b.readAll(server, 2000); len(got) != 1400 {
		t.Errorf("got %d bytes", len(got))
	}
	client.Close(b.now)
	server.Close(b.now)
	from.Close(b.now)
	l.Close(b.now)
	b.clean()
}

// What comes while a connection's end is owed goes nowhere: were it returned, the peer
// would read a reset before the end.
func TestConnOwesItsEndAlone(t *testing.T) {
	b := newConnPeer(t)
	b.first()
	feed := b.starve()
	b.a.Close(b.now)
	feed()
	b.packet(conn(90, 6, nil, "x"))
	if got := b.first(); got != "" {
		t.Errorf("data to a closed one: got %q, want nothing yet", got)
	}
	b.alarms.ringDue(b.now + owedPause)
	if got, want := b.first(), "data-critical/conn 6>90 error=connection shutdown bytes=0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.l.Close(b.now)
	b.done()
}

// An end without the answer before it would be a refusal.
func TestConnOwesItsAnswerBeforeItsEnd(t *testing.T) {
	for _, c := range []struct {
		close func(*Conn, time.Duration)
		end   string
	}{{(*Conn).Close, "connection shutdown"}, {(*Conn).Abort, "no port"}} {
		b := newConnPeer(t)
		b.Config().Chance.(*numbered).ports = []uint32{8}
		b.packet(syn(5, 95, ""))
		b.first()
		feed := b.starve()
		x, ok := b.l.Accept(b.now)
		if !ok {
			t.Fatal("not accepted")
		}
		c.close(x, b.now)
		feed()
		b.alarms.ringDue(b.now + owedPause)
		if got, want := b.first(), "data-low/conn 8>95 bytes=0; data-critical/conn 8>95 error="+c.end+" bytes=0"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if b.ports[8] != nil {
			t.Error("the socket is left")
		}
		b.l.Close(b.now)
		b.done()
	}
}
