// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A listener refuses a request for the other kind, within the node and from another, by name and by
// socket, however it accepts; what does not say its kind is taken, and so is everything by a listener
// that does not say its own.
//
// Mutations it catches: isOther is not asked; the request does not say its kind; the answer says the
// kind that was asked for; AnyKind of the listener, or of the request, is not looked at; refusedBy does
// not look at the answer's kind.
//
// Proves: socket.kinds
func TestConnKinds(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		for _, c := range []struct {
			listener ListenConfig
			dialed   ConnConfig
			want     string
		}{
			{ListenConfig{Stream: true}, ConnConfig{Stream: true}, ""},
			{ListenConfig{Stream: true}, ConnConfig{}, "refused by a listener of streams, no port"},
			{ListenConfig{}, ConnConfig{}, ""},
			{ListenConfig{}, ConnConfig{Stream: true}, "refused by a listener of messages, no port"},
			{ListenConfig{Ahead: true}, ConnConfig{Stream: true}, "refused by a listener of messages, no port"},
			{ListenConfig{Stream: true, Idle: true}, ConnConfig{}, "refused, no port"},
			{ListenConfig{AnyKind: true}, ConnConfig{Stream: true}, ""},
			{ListenConfig{Stream: true, AnyKind: true}, ConnConfig{}, ""},
			{ListenConfig{Stream: true}, ConnConfig{AnyKind: true}, ""},
			{ListenConfig{}, ConnConfig{Stream: true, AnyKind: true}, ""},
		} {
			l := b.listen(c.listener)
			byName, err := b.x.DialService(b.now, c.dialed, service, []byte("first"))
			if err != nil {
				t.Fatal(err)
			}
			bySocket, err := b.x.Dial(b.now, c.dialed, l.Addr(), nil)
			if err != nil {
				t.Fatal(err)
			}
			b.settle()
			for l.Pending() > 0 {
				l.Accept(b.now)
				b.settle()
			}
			for i, client := range []*Conn{byName, bySocket} {
				if c.want == "" && client.State() != Established || c.want != "" && ended(client) != c.want {
					t.Errorf("%+v dialed as %+v (%d): %v, %v, want %q", c.listener, c.dialed, i, client.State(), ended(client), c.want)
				}
			}
			for _, n := range b.nodes {
				for _, p := range n.ports {
					if p.conn != nil {
						p.conn.Abort(b.now)
					}
				}
			}
			l.Close(b.now)
			b.settle()
		}
	})
}

// Only a node that has Kinds is told what is asked for, when the request is sent and when it is sent once
// more, and a node that acts as a kernel tells nobody; what comes back from others says nothing.
//
// Mutations it catches: kindTo does not ask has, or does not look at AsKernel; sendRequest repeats what
// was said to the node before; refusedBy does not look at what was asked for.
//
// Proves: socket.kinds
func TestKindsAreForThoseWhoKnow(t *testing.T) {
	for _, c := range []struct {
		version Feature
		change  func(*Config)
		sent    string // of the request's kind
	}{
		{0, nil, ""},
		{Kinds - 1, nil, ""},
		{Kinds, nil, " kind=stream"},
		{Kinds + 1, nil, " kind=stream"},
		{Kinds, func(k *Config) { k.AsKernel = true }, ""},
	} {
		for _, other := range []frame.ConnKind{frame.AnyKind, frame.StreamKind, frame.MessageKind, 3} {
			b := &connPeer{scriptedPeer: newScriptedPeer(t, or(c.change), ports(6)).up()}
			b.ours(c.version)
			d, err := b.Dial(b.now, ConnConfig{Stream: true}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
			if got, want := b.first(), "data-low/direct 6>80 syn"+c.sent+" bytes=0"; err != nil || got != want {
				t.Errorf("version %d: %v, sent %q, want %q", c.version, err, got, want)
			}
			b.packet(data(6, func(f *frame.PayloadFields) {
				f.OrigPort, f.Syn, f.Error, f.Kind = 80, true, frame.NoPort, other
			}, ""))
			want := "refused, no port"
			if c.sent != "" && other == frame.MessageKind {
				want = "refused by a listener of messages, no port"
			}
			if got := ended(d); got != want {
				t.Errorf("version %d, %v came back: %s, want %s", c.version, other, got, want)
			}
		}
	}
	b := &connPeer{scriptedPeer: newScriptedPeer(t, ports(6)).up()}
	b.ours(Kinds)
	if _, err := b.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, nil); err != nil {
		t.Fatal(err)
	}
	b.first()
	b.packet(data(6, func(f *frame.PayloadFields) { f.OrigPort, f.Syn, f.Error = 80, true, frame.Overload }, ""))
	b.ours(0) // it is a kernel now
	b.alarms.ringDue(b.now + longTime)
	if got := b.first(); !strings.HasSuffix(got, "6>80 syn bytes=0") {
		t.Errorf("once more: %q", got)
	}
}

// What is passed on or given back says no kind to a node that does not know it.
//
// Mutations it catches: lookAgain passes the kind on; giveBack returns it.
//
// Proves: socket.kinds
func TestKindsAreNotPassedOn(t *testing.T) {
	b := &connPeer{scriptedPeer: newScriptedPeer(t, ports(5)).up()}
	b.ours(Kinds)
	b.Listen(ListenConfig{Stream: true})
	asks := func(f *frame.PayloadFields) {
		f.Syn, f.OrigPort, f.Kind = true, 93, frame.MessageKind
	}
	b.packet(data(5, asks, ""))
	if got, want := b.first(), "data-low/direct 5>93 error=no port syn kind=stream bytes=0"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	b.packet(data(4711, asks, ""))
	if got, want := b.first(), "data-low/direct 4711>93 error=no port syn kind=messages bytes=0"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	b.ours(0)
	b.packet(data(4711, asks, ""))
	if got, want := b.first(), "data-low/direct 4711>93 error=no port syn bytes=0"; got != want {
		t.Errorf("to a kernel: sent %q, want %q", got, want)
	}
	for version, kind := range map[Feature]string{Kinds: " kind=messages", 0: ""} {
		p := newScriptedPeer(t, unparked).up()
		b := &connPeer{scriptedPeer: p}
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(18888, 17, 17, 99)))
		b.first()
		b.ours(version)
		p.packet(data(4711, func(f *frame.PayloadFields) { named(18888, 17)(f); asks(f) }, ""))
		if got, want := b.first(), "data-low/named 93>99 name=18888:17 reroute=1 syn"+kind+" bytes=0"; got != want {
			t.Errorf("passed on to version %d: %q, want %q", version, got, want)
		}
	}
}
