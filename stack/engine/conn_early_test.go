// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// read is what the connection has.
func (b *connPeer) read() string {
	buf := make([]byte, 100)
	n, _, _ := b.c.Read(b.now, buf)
	return string(buf[:n])
}

// Data that comes behind the end of its connection was sent before it, and can be read, not
// only where the end is held back. Mutation: handle gives it back.
func TestDataBehindTheEnd(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	b.packet(conn(90, 6, code(frame.ConnShutdown), ""))
	b.packet(conn(90, 6, nil, "written before the end"))
	b.packet(conn(91, 6, nil, "of another"))
	if got := b.read(); got != "written before the end" || ended(b.c) != "closed by the peer, connection shutdown" {
		t.Errorf("read %q, then %v", got, ended(b.c))
	}
	if got, want := b.first(), "data-low/conn 6>91 error=no port bytes=10"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	b.c.Close(b.now)
	b.done()
}

// An end that has joined another message's packet may have overtaken data: the connection ends
// when the peer says that nothing waits any more, as an answer to a probe that acknowledged
// all. One that did not join ends it at once, and sends nothing. Mutations: overtaken ends it
// at once; answered does not compare the numbers, or counts the answer to an earlier probe;
// e.conns.joined is set for the first message as well; askDrained does not count packets, or
// sets no alarm.
func TestEndThatJoinedAPacket(t *testing.T) {
	end := func(port uint32) []byte { return conn(90, port, code(frame.ConnShutdown), "") }
	ack := manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Window = frame.ConnAck, 512 })
	probed := func(b *connPeer) bool { return b.byAddr[popAddr].links[0].SentProbes > 0 }
	answer := func(b *connPeer, next frame.Seq) {
		b.report(func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, next })
	}
	for _, c := range []struct {
		name string
		do   func(b *connPeer)
		read string
		want string // how it stands then
	}{
		{"alone", func(b *connPeer) { b.packet(end(6)) }, "", "closed by the peer, connection shutdown"},
		{"the first", func(b *connPeer) { b.packet(bundle(nil, end(6), conn(91, 7, nil, ""))) }, "", "closed by the peer, connection shutdown"},
		{"joined", func(b *connPeer) { b.packet(bundle(nil, ack, end(6))) }, "", "established"},
		{"nothing waits", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			answer(b, b.seq)
		}, "", "closed by the peer, connection shutdown"},
		{"more has come meanwhile", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			b.packet(conn(90, 6, nil, "data"))
			answer(b, b.seq)
		}, "data", "established"},
		{"asked again", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			b.packet(conn(90, 6, nil, "data"))
			answer(b, b.seq)
			b.alarms.ringDue(b.now + owedPause)
			answer(b, b.seq)
		}, "data", "closed by the peer, connection shutdown"},
		{"an answer to an earlier probe", func(b *connPeer) {
			b.byAddr[popAddr].links[0].Probe(b.now)
			b.packet(bundle(nil, ack, end(6)))
			answer(b, b.seq)
		}, "", "established"},
		{"and then to ours", func(b *connPeer) {
			b.byAddr[popAddr].links[0].Probe(b.now)
			b.packet(bundle(nil, ack, end(6)))
			answer(b, b.seq)
			answer(b, b.seq)
		}, "", "closed by the peer, connection shutdown"},
		{"no answer for long", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			for i := range time.Duration(answerLooks) {
				b.alarms.ringDue(b.now + (i+1)*owedPause)
			}
			if n := b.byAddr[popAddr].links[0].SentProbes; n != 2 {
				b.t.Errorf("asked %d times", n)
			}
			answer(b, b.seq)
			answer(b, b.seq)
		}, "", "closed by the peer, connection shutdown"},
		{"a reset", func(b *connPeer) {
			b.packet(bundle(nil, ack, conn(90, 6, code(frame.NoPort), "")))
			b.packet(conn(90, 6, nil, "data"))
			answer(b, b.seq)
			b.alarms.ringDue(b.now + owedPause)
			answer(b, b.seq)
		}, "data", "reset by the peer, no port"},
		{"more than can have waited", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			for range overtakes {
				b.packet(conn(91, 6, code(frame.NoPort), ""))
			}
			b.alarms.ringDue(b.now + owedPause)
		}, "", "closed by the peer, connection shutdown"},
		{"what we send comes back", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			b.packet(conn(90, 6, code(frame.NoPort), "x"))
			b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Error = frame.NoPort }))
		}, "", "established"},
		{"contact lost", func(b *connPeer) {
			b.packet(bundle(nil, ack, end(6)))
			b.lose(b.now, b.byAddr[popAddr])
		}, "", "contact with the peer's node lost, no node"},
	} {
		b := newStreamPeer(t, ConnConfig{})
		c.do(b)
		if got := b.read(); got != c.read || ended(b.c) != c.want {
			t.Errorf("%s: read %q, then %v; want %q and %v", c.name, got, ended(b.c), c.read, c.want)
		}
		if alone := c.name == "alone" || c.name == "the first"; alone && probed(b) {
			t.Errorf("%s: the peer was asked", c.name)
		}
		if b.c.State() == Established {
			if _, ok := b.c.Write(b.now, []byte("x")).(*WindowFull); !ok {
				t.Errorf("%s: it can be written to", c.name)
			}
		}
		b.collect()
		b.sent = nil
		b.c.Close(b.now)
		if got := b.first(); got != "" || !b.c.Gone() || b.Ports() != 0 {
			t.Errorf("%s: closed: sent %q", c.name, got)
		}
		b.lose(b.now, b.byAddr[popAddr])
		b.done()
	}
}

// Within the node nothing is asked. Mutation: joined stays set after a packet.
func TestEndWithinTheNode(t *testing.T) {
	b := newConnBed(t, true)
	client, server, l := b.pair(ConnConfig{})
	client.Write(b.now, []byte("x"))
	client.Close(b.now)
	if server.Err() == nil || server.Pending() != 1 {
		t.Errorf("%v, %d wait", server.Err(), server.Pending())
	}
	server.Close(b.now)
	l.Close(b.now)
	b.clean()
}

// Late data is bounded as any other: what is over ends the connection in a reset. Mutation:
// receive leaves the orderly end.
func TestDataBehindTheEndIsLimited(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{ReceiveLimit: MinConnReceiveLimit})
	b.packet(conn(90, 6, code(frame.ConnShutdown), ""))
	for range MinConnReceiveLimit/1000 + 1 {
		b.packet(conn(90, 6, nil, string(make([]byte, 1000))))
	}
	if got, want := ended(b.c), "reset by the peer, overload"; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	b.c.Close(b.now)
	b.now += time.Second
	b.done()
}

// A packet that acknowledges what was never sent is of another session, or of somebody else:
// nothing of it counts, its data neither. Mutation: HandlePacket does not look at MayAck.
func TestPacketWithAnImpossibleAck(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	l := b.byAddr[popAddr].links[0]
	for _, ack := range []frame.Seq{b.ack + 1, b.ack + 100, b.ack + 30000} {
		seq := l.Expected()
		msg := conn(90, 6, nil, "forged")
		frame.StampSeq(msg, seq)
		frame.StampAcks(msg, ack, 0)
		b.hear(msg)
		if got := b.read(); got != "" || l.Expected() != seq {
			t.Errorf("ack %d: read %q, expecting %d, before %d", ack, got, l.Expected(), seq)
		}
	}
	if l.BadAcks != 3 {
		t.Errorf("%d counted, want 3", l.BadAcks)
	}
	b.packet(conn(90, 6, nil, "true"))
	if got := b.read(); got != "true" {
		t.Errorf("read %q", got)
	}
	b.c.Close(b.now)
	b.done()
}
