// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Ten thousand short messages and a close, or an abort, in one go: the peer reads them
// all and then the end, through a window that is full most of the time. The ends count
// alike at all times.
//
// Proves: socket.nagle
func TestNagleCloseLosesNothing(t *testing.T) {
	for _, abort := range []bool{false, true} {
		each(t, func(t *testing.T, b *bed) {
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

// A closed connection holds what the window stops as long as its peer answers probes, else
// it ends in a reset. Meanwhile it drops data, acknowledges it, and knows its peer. What it could not send
// is counted. Mutations: the end stays orderly when the bytes are given up (cutShort leaves
// owedEnd); lose does not count for a closed connection.
//
// Proves: socket.nagle
func TestNagleLingers(t *testing.T) {
	begin := func() *connPeer {
		b := newStreamPeer(t, ConnConfig{})
		b.write(5, 10)
		b.write(10, 10)
		b.credit(3, 1, false)
		b.first()
		b.report(nil)
		return b
	}
	for _, c := range []struct {
		name string
		do   func(b *connPeer)
		sent string // what comes then
		left bool
		lost int // bytes
	}{
		{
			"the window opens", func(b *connPeer) { b.credit(1, 512, false) },
			"data-low/conn 6>90 bytes=100; data-critical/conn 6>90 error=connection shutdown bytes=0", false, 0,
		},
		{"it does not open enough", func(b *connPeer) { b.credit(0, 1, true) }, "", true, 0},
		{"a probe", func(b *connPeer) { b.packet(manager(90, 6, nil)) }, "conn/probe-reply 6>90", true, 0},
		{"data", func(b *connPeer) { b.packet(conn(90, 6, func(f *frame.PayloadFields) { f.SrcDroppable = true }, "x")) }, "conn/ack 6>90 acked=1 window=512 nagle", true, 0},
		{"a request of the peer", func(b *connPeer) { b.packet(syn(6, 90, "")) }, "data-low/direct 6>90 error=no port syn bytes=0", true, 0},
		{"data of another", func(b *connPeer) { b.packet(conn(91, 6, nil, "x")) }, "data-low/conn 6>91 error=no port bytes=1", true, 0},
		{"the end of another", func(b *connPeer) { b.packet(conn(91, 6, code(frame.NoPort), "")) }, "", true, 0},
		{"the peer's end", func(b *connPeer) { b.packet(conn(90, 6, code(frame.ConnShutdown), "")) }, "", false, 100},
		{"a bounced probe", func(b *connPeer) {
			b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Error = frame.NoPort }))
		}, "", false, 100},
		{"a while", func(b *connPeer) { b.alarms.ringDue(b.now + lingerProbe - 1) }, "", true, 0},
		{"longer", func(b *connPeer) { b.alarms.ringDue(b.now + lingerProbe) }, "conn/probe 6>90", true, 0},
		{"the peer answers probes", func(b *connPeer) {
			for i := range time.Duration(100) {
				b.alarms.ringDue(b.now + (i+1)*lingerProbe)
				if got := b.first(); got != "conn/probe 6>90" {
					b.t.Errorf("probe %d: sent %q", i, got)
				}
				b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type = frame.ConnProbeReply }))
			}
		}, "", true, 0},
		{"the peer leaves a probe without answer", func(b *connPeer) {
			b.alarms.ringDue(b.now + lingerProbe)
			b.first()
			b.alarms.ringDue(b.now + 2*lingerProbe)
		}, "data-critical/conn 6>90 error=no port bytes=0", false, 100},
		{"the node leaves", func(b *connPeer) { b.CutShort(b.now) }, "data-critical/conn 6>90 error=no port bytes=0", false, 100},
		{"used", func(b *connPeer) {
			b.c.Close(b.now)
			b.c.Abort(b.now)
			b.c.SetNoDelay(b.now, true)
			if b.c.Write(b.now, []byte("x")) != ErrClosed || b.c.Err() != ErrClosed {
				b.t.Error("it can be written to")
			}
		}, "", true, 0},
		{"contact is lost", func(b *connPeer) { b.lose(b.now, b.byAddr[popAddr]) }, "", false, 100},
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
	// What nobody has read is the end, as without lingering; or what came afterwards.
	for _, late := range []bool{false, true} {
		b := begin()
		if !late {
			b.packet(conn(90, 6, nil, "unread"))
		}
		b.c.Abort(b.now)
		b.packet(conn(90, 6, nil, map[bool]string{false: "another", true: "unread"}[late]))
		b.first()
		b.credit(1, 512, false)
		if got, want := b.first(), "data-low/conn 6>90 bytes=100; data-low/conn 6>90 error=no port bytes=6"; got != want {
			t.Errorf("unread, late %v: sent %q, want %q", late, got, want)
		}
		b.done()
	}
}

// An end that nobody here wanted takes what is held with it, and says so. Mutation: finish
// forgets what is held without counting it.
func TestNagleEndedByPeer(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
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
