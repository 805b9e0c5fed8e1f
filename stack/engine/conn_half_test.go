// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"testing"

	"github.com/utipc/utipc/frame"
)

// ours makes the peer one of this implementation, of a version.
func (b *connPeer) ours(version Feature) *connPeer {
	b.byAddr[popAddr].version = uint8(version)
	return b
}

// What was written before CloseWrite is read, then the end; the other direction goes on, and
// Close afterwards is orderly. Mutations it catches: CloseWrite does not flush what is held;
// mayEndWrite does not look at Held; writeOr does not look at writeEnded; ReadEnded is never set.
//
// Proves: socket.halfclose
func TestCloseWrite(t *testing.T) {
	for _, stream := range []bool{true, false} {
		each(t, func(t *testing.T, b *bed) {
			client, server, l := b.pair(ConnConfig{Stream: stream})
			var want []byte
			for i := 0; ; i++ {
				if err := client.Write(b.now, text(30, i)); err != nil {
					break
				}
				want = append(want, text(30, i)...)
				b.settle()
			}
			for range 2 { // the second changes nothing
				if err := client.CloseWrite(b.now); err != nil {
					t.Fatal(err)
				}
				b.settle()
			}
			if err := client.Write(b.now, nil); err != ErrWriteEnded {
				t.Errorf("write: %v", err)
			}
			if client.Held() > 0 && server.ReadEnded() {
				t.Errorf("ended, and %d bytes are held", client.Held())
			}
			if got := b.readAll(server, 3000); !bytes.Equal(got, want) || !server.ReadEnded() {
				t.Errorf("read %d of %d bytes, ended %v", len(got), len(want), server.ReadEnded())
			}
			for i := range 50 {
				if err := server.Write(b.now, text(30, i)); err != nil {
					t.Fatal(err)
				}
				if got := b.readAll(client, 3000); !bytes.Equal(got, text(30, i)) && !stream {
					t.Fatalf("the other direction: %q", got)
				}
			}
			if err := server.CloseWrite(b.now); err != nil {
				t.Fatal(err)
			}
			b.readAll(client, 3000)
			if !client.ReadEnded() || client.State() != Established || server.State() != Established {
				t.Errorf("both ended their writing: %v, %v, %v", client.ReadEnded(), client.State(), server.State())
			}
			client.Close(b.now)
			b.settle()
			if ended(server) != "closed by the peer, connection shutdown" || client.Unsent()+server.Unsent() != 0 {
				t.Errorf("closed: %v, %d and %d unsent", ended(server), client.Unsent(), server.Unsent())
			}
			server.Close(b.now)
			l.Close(b.now)
		})
	}
}

// A peer that is a kernel, or older, is sent nothing, and the connection stays as it was; and a
// node that acts as a kernel sends nothing. Mutations it catches: CanCloseWrite does not ask has,
// or does not look at AsKernel.
func TestCloseWriteUnsupported(t *testing.T) {
	for _, c := range []struct {
		version Feature
		change  func(*Config)
		want    error
		sent    string
	}{
		{0, nil, ErrNoHalfClose, ""},
		{HalfClose - 1, nil, ErrNoHalfClose, ""},
		{HalfClose, nil, nil, "conn/write-end 6>90"},
		{HalfClose + 1, nil, nil, "conn/write-end 6>90"},
		{HalfClose, func(k *Config) { k.AsKernel = true }, ErrNoHalfClose, ""},
	} {
		b := newStreamPeer(t, ConnConfig{}, or(c.change)).ours(c.version)
		err := b.c.CloseWrite(b.now)
		if got := b.first(); err != c.want || got != c.sent {
			t.Errorf("version %d: %v, sent %q", c.version, err, got)
		}
		if c.want == nil {
			continue
		}
		if !errors.Is(err, errors.ErrUnsupported) || b.c.Write(b.now, []byte("x")) != nil {
			t.Errorf("version %d: %v", c.version, err)
		}
		b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type = frame.ConnWriteEnd }))
		if b.c.ReadEnded() && c.version < HalfClose {
			t.Errorf("version %d: it ends its writing", c.version)
		}
	}
}

func or(change func(*Config)) func(*Config) {
	if change == nil {
		return func(*Config) {}
	}
	return change
}

// The end of what is written waits for what is held; for the rest see TestConnOwes. Mutations it
// catches: mayEndWrite does not look at Held; receive flushes and does not pay.
func TestCloseWriteWaits(t *testing.T) {
	held := func(t *testing.T) *connPeer {
		b := newStreamPeer(t, ConnConfig{}).ours(HalfClose)
		b.write(5, 10)
		b.write(10, 10)
		b.credit(3, 1, false)
		b.first()
		b.report(nil)
		if err := b.c.CloseWrite(b.now); err != nil || b.first() != "" || b.c.Held() != 100 {
			t.Fatalf("%v, %d held", err, b.c.Held())
		}
		return b
	}
	const rest = "data-low/conn 6>90 bytes=100; conn/write-end 6>90"
	b := held(t)
	b.alarms.ringDue(b.now + longTime)
	if got := b.first(); got != "" {
		t.Errorf("nothing opened the window, and it sent %q", got)
	}
	b.credit(1, 512, false)
	if got := b.first(); got != rest {
		t.Errorf("the window opens: sent %q", got)
	}
	b = held(t)
	b.c.flow.HandleAck(1, 512)
	b.packet(conn(90, 6, nil, "data"))
	if got := b.first(); got != rest {
		t.Errorf("data comes: sent %q", got)
	}
	b = held(t)
	b.packet(conn(90, 6, code(frame.ConnShutdown), ""))
	if b.c.Unsent() != 100 || b.c.end.Unsent != 100 {
		t.Errorf("the peer ends: %d unsent", b.c.Unsent())
	}
}

// After the end of its writing a peer sends no data: what comes goes back, and empty messages are
// none. Mutation it catches: handle does not look at ReadEnded.
func TestDataBehindTheEndOfWriting(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{}).ours(HalfClose)
	b.packet(conn(90, 6, nil, "data"))
	b.packet(manager(91, 6, func(f *frame.ConnFields) { f.Type = frame.ConnWriteEnd }))
	if b.c.ReadEnded() {
		t.Error("another has ended it")
	}
	b.TakeReadyConns(nil)
	b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type = frame.ConnWriteEnd }))
	if got := b.TakeReadyConns(nil); len(got) != 1 || !b.c.ReadEnded() {
		t.Errorf("%d are ready", len(got))
	}
	b.packet(conn(90, 6, nil, ""))
	b.packet(conn(90, 6, nil, "more"))
	if got, sent := b.read(), b.first(); got != "data" || sent != "data-low/conn 6>90 error=no port bytes=4" {
		t.Errorf("read %q, sent %q", got, sent)
	}
	if err := b.c.Write(b.now, []byte("x")); err != nil {
		t.Error(err)
	}
}
