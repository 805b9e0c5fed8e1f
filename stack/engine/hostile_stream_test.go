// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Messages of the connection manager with types that have no meaning, of other lengths,
// and acknowledgements of nothing: dropped, or without effect; window 65535 is one.
//
// Proves: hostile.docs
func TestHostileConnManagerValues(t *testing.T) {
	b := newConnPeer(t)
	for typ := range uint32(8) {
		msg := manager(90, 6, nil)
		binary.BigEndian.PutUint32(msg[4:], typ<<29)
		b.packet(msg)
		want, sent := "", ""
		switch {
		case frame.ConnType(typ) == frame.ConnProbe:
			sent = "conn/probe-reply 6>90"
		case frame.ConnType(typ) == frame.ConnWriteEnd: // of a kernel
			want = "not of the connection it names=1"
		case typ > 3:
			want = "unknown user or type=1"
		}
		b.wantDrops(fmt.Sprint("type ", typ), want)
		if got := b.first(); got != sent {
			t.Errorf("type %d: sent %q, want %q", typ, got, sent)
		}
	}
	for _, words := range []byte{6, 8, 10, 11} { // the header's length
		msg := append(manager(90, 6, func(f *frame.ConnFields) { f.Type = frame.ConnAck }), make([]byte, 8)...)
		binary.BigEndian.PutUint32(msg, binary.BigEndian.Uint32(msg)&^(0xf<<21|0x1ffff)|uint32(words)<<21|uint32(len(msg)))
		b.packet(msg)
		if got := b.drops(); (got == "malformed=1") != (words != 10) {
			t.Errorf("a header of %d words: dropped %q", words, got)
		}
	}
	for range 1000 {
		b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Window = frame.ConnAck, 65535 }))
	}
	if got := b.first(); got != "" || b.count.OverAcks != 0 {
		t.Errorf("acknowledgements of nothing: sent %q, %d counted", got, b.count.OverAcks)
	}
	if unacked, window := b.a.Window(); unacked != 0 || window != 65535 {
		t.Errorf("%d unacknowledged of %d, want 0 of 65535", unacked, window)
	}
	b.unharmed("values")
	b.end()
}

// Reasons that have no meaning end a connection as those that have one, and are told.
//
// Proves: hostile.docs
func TestHostileConnErrorCodes(t *testing.T) {
	for e := frame.ErrorCode(1); e <= 15; e++ {
		why := fmt.Sprintf("reset by the peer, %v", e)
		if e == frame.ConnShutdown {
			why = "closed by the peer, connection shutdown"
		}
		b := newConnPeer(t)
		b.packet(conn(90, 6, code(e), "x"))
		b.packet(manager(91, 7, func(f *frame.ConnFields) { f.Error = e }))
		for i, c := range []*Conn{b.a, b.d} {
			if ended(c) != why || c.Pending() != 0 || !strings.Contains(c.Err().Error(), b.Address().String()[:4]) {
				t.Errorf("%d: code %d: got %v, %v, want %v", i, e, ended(c), c.Err(), why)
			}
		}
		x, err := b.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.packet(conn(90, x.port.number, code(e), ""))
		if want := fmt.Sprintf("refused, %v", e); ended(x) != want {
			t.Errorf("connecting: code %d: got %v, want %v", e, ended(x), want)
		}
		b.packet(syn(5, 95, "")[:32])
		b.packet(data(5, func(f *frame.PayloadFields) { f.Syn, f.Error = true, e }, ""))
		if b.l.Pending() != 1 {
			t.Errorf("code %d: a request with it is taken", e)
		}
		x.Close(b.now)
		b.end()
	}
}

// Lengths that are none: shorter than the header, longer than the frame, headers of
// another size; the longest that a packet holds is taken, in a stream too.
//
// Proves: hostile.docs
func TestHostileConnLengths(t *testing.T) {
	b := newConnPeer(t)
	length := func(words, size uint32, n int) []byte {
		msg := conn(90, 6, nil, string(make([]byte, n)))
		binary.BigEndian.PutUint32(msg, binary.BigEndian.Uint32(msg)&^(0xf<<21|0x1ffff)|words<<21|size)
		return msg
	}
	for _, c := range []struct {
		name        string
		words, size uint32
		n           int
		drop        string
	}{
		{"shorter than its header", 6, 23, 10, "malformed=1"},
		{"0", 6, 0, 10, "malformed=1"},
		{"longer than the frame", 6, 24 + 11, 10, "truncated=1"},
		{"the longest that can be said", 6, 0x1ffff, 10, "malformed=1"},
		{"beyond the longest message", 6, 24 + 66001, 10, "malformed=1"},
		{"a header of 20 bytes", 5, 34, 10, "malformed=1"},
		{"a header of 28 bytes", 7, 34, 10, "malformed=1"},
		{"a header of 60 bytes, of no node", 15, 84, 60, "not for this station or node=1"},
	} {
		b.packet(length(c.words, c.size, c.n))
		if got := b.drops(); got != c.drop {
			t.Errorf("%s: dropped %q, want %q", c.name, got, c.drop)
		}
		if b.a.Pending() != 0 {
			t.Errorf("%s: taken", c.name)
		}
		b.seq = b.byAddr[popAddr].links[0].Expected() // not all were packets
	}
	b.packet(length(6, 24, 10)) // what is behind its end is padding
	b.packet(length(6, 24+1, 10))
	if b.wantDrops("sound", ""); b.a.Pending() != 1 {
		t.Errorf("%d pending", b.a.Pending())
	}
	for b.a.Pending() > 0 {
		b.a.Read(b.now, nil)
	}
	b.packet(conn(90, 6, nil, strings.Repeat("x", 1500-24)))
	if _, n, ok := b.a.Read(b.now, nil); !ok || n != 1476 {
		t.Errorf("read %d bytes, %v", n, ok)
	}
	b.unharmed("lengths")
	b.end()
}

// A listener's own limit, beside that of one node.
//
// Proves: hostile.docs
func TestHostileConnBacklog(t *testing.T) {
	b := newConnPeer(t)
	b.l.Close(b.now)
	b.l = b.Listen(ListenConfig{Backlog: 10})
	for i := range 100 {
		b.packet(syn(b.l.port.number, uint32(1000+i%50), "")) // each twice
	}
	if got := strings.Count(b.first(), "error=overload"); got != 90 || b.l.Pending() != 10 {
		t.Errorf("%d refused, %d pending, want 90 and 10", got, b.l.Pending())
	}
	b.l.Close(b.now)
	if got := strings.Count(b.first(), "error=no port syn"); got != 10 {
		t.Errorf("%d returned by Close, want 10", got)
	}
	b.unharmed("requests")
	b.end()
}

// A peer that never answers a stream's question holds no more than the limit; one that
// answers always, or what nobody asked, changes nothing but what is held.
//
// Proves: hostile.docs
func TestHostileStreamAnswers(t *testing.T) {
	b := newStreamPeer(t, ConnConfig{})
	b.c.flow.HandleAck(0, 65535)
	asked, most := 0, 0
	for i := range 20_000 {
		b.write(1, 100)
		most = max(most, b.c.Held())
		if i%500 == 0 {
			b.collect()
			asked += strings.Count(b.first(), "ack-required")
			b.report(nil)
		}
	}
	if asked += strings.Count(b.first(), "ack-required"); asked != 1 || most < 40_000 || most > 64<<10 {
		t.Errorf("asked %d times, at most %d bytes held", asked, most)
	}
	had := b.c.Held()
	if cap(b.c.store.data) > 4*most {
		t.Errorf("%d bytes for %d", cap(b.c.store.data), most)
	}
	for range 1000 {
		b.credit(0, 65535, true)
	}
	b.report(nil)
	if b.c.Held() != 0 || had == 0 {
		t.Errorf("%d bytes held, %d before", b.c.Held(), had)
	}
	b.first()
	for range 1000 { // of acknowledgements that count for nothing, the answers do
		b.packet(manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Acked, f.NagleAck = frame.ConnAck, 65535, true }))
	}
	if got := b.first(); got != "" || b.c.State() != Established || b.count.OverAcks != 1000 {
		t.Errorf("sent %q, %v", got, b.c.State())
	}
	b.c.Close(b.now)
	b.done()
}

// Every method of what is closed can be called: it sends nothing, and what returns an
// error returns ErrClosed.
//
// Proves: hostile.docs
func TestHostileUseAfterCloseOfAll(t *testing.T) {
	b := newConnPeer(t)
	b.l.Bind(b.now, service.Range(), frame.ClusterScope)
	port := b.OpenPort(PortConfig{})
	stream, _ := b.Dial(b.now, ConnConfig{Stream: true}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
	asks, _ := b.Dial(b.now, ConnConfig{Stream: true}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
	over, _ := b.Dial(b.now, ConnConfig{Stream: true}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
	b.packet(conn(92, stream.port.number, nil, "unread"))
	b.packet(conn(93, over.port.number, code(frame.NoPort), ""))
	for range 20 {
		stream.Write(b.now, make([]byte, 10))
	}
	if stream.Held() == 0 || asks.State() != Connecting || over.State() != Ended {
		t.Fatal(stream.Held(), asks.State(), over.State())
	}
	for _, c := range []*Conn{b.a, b.d, stream, asks, over} {
		c.Close(b.now)
	}
	b.l.Close(b.now)
	port.Close(b.now)
	b.drain()
	b.TakeReadyConns(nil)
	for _, x := range []any{b.a, b.d, stream, asks, over, b.l, port} {
		v := reflect.ValueOf(x)
		for range 2 {
			for i := range v.NumMethod() {
				m := v.Type().Method(i)
				var in []reflect.Value
				for k := range m.Type.NumIn() - 1 {
					switch t := m.Type.In(k + 1); t {
					case reflect.TypeFor[time.Duration]():
						in = append(in, reflect.ValueOf(b.now))
					case reflect.TypeFor[[]byte]():
						in = append(in, reflect.ValueOf(make([]byte, 10)))
					case reflect.TypeFor[*Lent]():
						in = append(in, reflect.ValueOf(new(Lent)))
					case reflect.TypeFor[frame.Range]():
						in = append(in, reflect.ValueOf(service.Range()))
					case reflect.TypeFor[frame.Service]():
						in = append(in, reflect.ValueOf(service))
					default:
						in = append(in, reflect.Zero(t))
					}
				}
				for _, r := range v.Method(i).Call(in) {
					err, _ := r.Interface().(error)
					if r.Type() == reflect.TypeFor[error]() && m.Name != "Unbind" && !errors.Is(err, ErrClosed) {
						t.Errorf("%T.%s: got %v", x, m.Name, err)
					}
					if ok, is := r.Interface().(bool); is && ok && m.Name == "Accept" {
						t.Errorf("%T.%s: got true", x, m.Name)
					}
				}
			}
		}
	}
	if got := b.first(); got != "" || b.Ports() != 0 || len(b.alarms.heap) != 0 || b.TakeReadyConns(nil) != nil {
		t.Errorf("sent %q, %d sockets, %d alarms", got, b.Ports(), len(b.alarms.heap))
	}
	b.done()
}
