// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A connPeer is a scripted peer with connections. One of newConnPeer has a listener at port 5,
// and connections of ports 6 (accepted), 7 (dialled) to the peer's ports 90, 91; one of
// newStreamPeer has one stream, of port 6 to the peer's port 90.
type connPeer struct {
	*scriptedPeer
	l     *Listener
	a, d  *Conn
	c     *Conn // the stream
	spare *netdev.Buffer
}

func newConnPeer(t testing.TB) *connPeer {
	b := &connPeer{scriptedPeer: newScriptedPeer(t, ports(5, 6, 7), alone, behind).up()}
	b.l = b.Listen(ListenConfig{})
	b.packet(syn(5, 90, ""))
	var ok bool
	if b.a, ok = b.l.Accept(b.now); !ok {
		t.Fatal("nothing to accept")
	}
	var err error
	if b.d, err = b.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: 80, Node: popAddr}, nil); err != nil {
		t.Fatal(err)
	}
	b.packet(conn(91, 7, nil, ""))
	if b.a.State() != Established || b.d.State() != Established {
		t.Fatal(b.a.State(), b.d.State())
	}
	b.drain()
	b.TakeReadyConns(nil)
	return b
}

// syn is a request of the peer.
func syn(to, from uint32, text string) []byte {
	return data(to, func(f *frame.PayloadFields) { f.Syn, f.OrigPort = true, from }, text)
}

func newStreamPeer(t testing.TB, k ConnConfig, change ...func(*Config)) *connPeer {
	t.Helper()
	return streamPeerOf(newScriptedPeer(t, append(change, ports(6))...).up(), k)
}

// streamPeerOf is newStreamPeer of a peer that is up.
func streamPeerOf(p *scriptedPeer, k ConnConfig) *connPeer {
	p.t.Helper()
	b := &connPeer{scriptedPeer: p}
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
func (b *connPeer) write(times, n int) {
	b.t.Helper()
	for range times {
		if err := b.c.Write(b.now, text(n, 0)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// credit is the peer's acknowledgement; an answer has the bit.
func (b *connPeer) credit(acked, window uint16, answer bool) {
	b.packet(manager(90, 6, func(f *frame.ConnFields) {
		f.Type, f.Acked, f.Window, f.NagleAck = frame.ConnAck, acked, window, answer
	}))
}

// got is what was sent: "5x10" five messages of 10 bytes, "10?" one that asks.
func (b *connPeer) got() string {
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

func (b *connPeer) want(what, want string) {
	b.t.Helper()
	if got := b.got(); got != want {
		b.t.Errorf("%s: sent %q, want %q", what, got, want)
	}
}

// unharmed checks that both connections work still, and ends them.
func (b *connPeer) unharmed(what string) {
	b.t.Helper()
	b.drain()
	buf := make([]byte, 100)
	for _, c := range []*Conn{b.a, b.d} {
		if c.State() != Established || c.Pending() != 0 {
			b.t.Errorf("%s: %v, %d pending", what, c.State(), c.Pending())
			continue
		}
		b.packet(conn(c.peer.Port, c.port.number, nil, "well"))
		if n, _, ok := c.Read(b.now, buf); !ok || string(buf[:n]) != "well" {
			b.t.Errorf("%s: got %q", what, buf[:n])
		}
		if err := c.Write(b.now, []byte("well")); err != nil {
			b.t.Errorf("%s: got %v", what, err)
		}
	}
	if lines := b.drain(); len(lines) != 2 {
		b.t.Errorf("%s: sent %q, want two messages", what, lines)
	}
}

func (b *connPeer) end() {
	b.t.Helper()
	b.a.Close(b.now)
	b.d.Abort(b.now)
	b.l.Close(b.now)
	if b.Ports() != 0 {
		b.t.Errorf("%d sockets left", b.Ports())
	}
	b.done()
}

// first is what was sent, up to the link's numbers.
func (b *connPeer) first() string {
	var s []string
	for _, l := range b.drain() {
		if l, _, _ = strings.Cut(l, " seq="); !strings.HasPrefix(l, "link/") {
			s = append(s, l)
		}
	}
	return strings.Join(s, "; ")
}
