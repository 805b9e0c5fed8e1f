// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Numbered is a Chance whose first sockets have given numbers.
type numbered struct {
	*Seeded
	ports []uint32
}

func (n *numbered) Port() uint32 {
	if len(n.ports) == 0 {
		return n.Seeded.Port()
	}
	p := n.ports[0]
	n.ports = n.ports[1:]
	return p
}

// ports gives the first sockets of a node their numbers.
func ports(p ...uint32) func(*Config) {
	return func(c *Config) { c.Chance = &numbered{NewSeeded(1, 2), p} }
}

// wantHex compares the last frame sent with a recorded one, the link's numbers cleared.
func (p *scriptedPeer) wantHex(what, want string) {
	p.t.Helper()
	p.collect()
	if got := p.hexOf(); got != want {
		p.t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
	p.sent = nil
}

// conn is a connection message of the peer, changed.
func conn(from, to uint32, change func(*frame.PayloadFields), text string) []byte {
	return data(to, func(f *frame.PayloadFields) {
		f.Type, f.OrigPort = frame.ConnMsg, from
		if change != nil {
			change(f)
		}
	}, text)
}

func code(e frame.ErrorCode) func(*frame.PayloadFields) {
	return func(f *frame.PayloadFields) { f.Error = e }
}

// manager is a message of the peer's connection manager, changed.
func manager(from, to uint32, change func(*frame.ConnFields)) []byte {
	f := frame.ConnFields{Common: frame.Common{Prev: popAddr}, OrigPort: from, DestPort: to, Orig: popAddr, Dest: ownAddr}
	if change != nil {
		change(&f)
	}
	return f.Append(nil)
}

// A client, byte for byte as a kernel's in capture 09: frames 27, 29 and 33, and 31 of
// capture 10.
//
// Proves: socket.flow
func TestConnClientOnTheWire(t *testing.T) {
	const own, listens, accepted = 0x3f57c3ea, 0x93c57cf8, 0xa67d59ba
	for _, c := range []struct {
		name string
		end  func(c *Conn, now time.Duration)
		want string
	}{
		{"shutdown", (*Conn).Close, "46c00018 0a000000 00000000 01001001 3f57c3ea a67d59ba"},
		{"close", (*Conn).Abort, "46c00018 04000000 00000000 01001001 3f57c3ea a67d59ba"},
	} {
		p := newScriptedPeer(t, ports(own)).up()
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 },
			frame.NameItem{Range: frame.Range{Type: 9000, Lower: 1, Upper: 1}, Port: listens, Key: 1}))
		x, err := p.DialService(p.now, ConnConfig{}, frame.Service{Type: 9000, Instance: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.wantHex("SYN", "41420028 40100000 00000000 01001001 3f57c3ea 93c57cf8 01001001 01001002 00002328 00000001")
		p.packet(conn(accepted, own, nil, ""))
		if x.State() != Established || x.Peer() != (frame.SocketAddr{Port: accepted, Node: popAddr}) {
			t.Fatalf("got %v to %v", x.State(), x.Peer())
		}
		x.Write(p.now, []byte{0})
		p.wantHex("data", "40c00019 00000000 00000000 01001001 3f57c3ea a67d59ba 00")
		c.end(x, p.now)
		p.wantHex(c.name, c.want)
		if p.Ports() != 0 {
			t.Errorf("%d sockets left", p.Ports())
		}
		p.done()
	}
}

// A server, byte for byte as a kernel's: frames 28 and 102 of capture 09, 67 of 08 and
// 49 of 10, but for the nodes, which are the other way round there; and the
// examples of 07 §4.3.
//
// Proves: socket.flow
func TestConnServerOnTheWire(t *testing.T) {
	const listens, own, peer = 0x93c57cf8, 0xa67d59ba, 0x3f57c3ea
	p := newScriptedPeer(t, ports(listens, own)).up()
	defer p.done()
	l := p.Listen(ListenConfig{})
	p.packet(data(listens, func(f *frame.PayloadFields) { named(9000, 1)(f); f.Syn, f.OrigPort = true, peer }, ""))
	if lines := p.drain(); len(lines) != 0 {
		t.Errorf("answered before it is accepted: %q", lines)
	}
	c, ok := l.Accept(p.now)
	if !ok {
		t.Fatal("nothing to accept")
	}
	p.wantHex("ACK", "40c00018 00000000 00000000 01001001 a67d59ba 3f57c3ea")
	buf := make([]byte, 2000)
	for i := range 40 {
		p.packet(conn(peer, own, nil, strings.Repeat("x", 500)))
		if _, _, ok := c.Read(p.now, buf); !ok {
			t.Fatal("nothing to read")
		}
		p.collect()
		p.sent = clear16(p.sent)
		switch {
		case i == 31:
			p.wantHex("CONN_ACK", "51400028 40000000 00000000 01001001 a67d59ba 3f57c3ea 01001001 01001002 00000000 00200200")
		case len(p.sent) > 0:
			t.Fatalf("message %d: %q", i, p.drain())
		}
	}
	// At once, with what was read since, though the message is not.
	p.packet(conn(peer, own, func(f *frame.PayloadFields) { f.SrcDroppable = true }, "hello"))
	p.wantHex("nagle ack", "51440028 40000000 00000000 01001001 a67d59ba 3f57c3ea 01001001 01001002 00000000 00080200")
	p.packet(manager(peer, own, nil))
	p.wantHex("probe reply", "51400028 20000000 00000000 01001001 a67d59ba 3f57c3ea 01001001 01001002 00000000 00000000")
	p.alarms.ringDue(c.limit.at)
	p.wantHex("probe", "51400028 00000000 00000000 01001001 a67d59ba 3f57c3ea 01001001 01001002 00000000 00000000")
	// The end is the first message that nobody has read.
	c.Abort(p.now)
	p.wantHex("returned", "41040025 04000000 00000000 01001001 a67d59ba 3f57c3ea 01001001 01001002 68656c6c 6f")
	l.Close(p.now)
}

// clear16 drops what a link says for itself.
func clear16(sent []sentFrame) []sentFrame {
	return slices.DeleteFunc(sent, func(f sentFrame) bool { return frame.UserOf(f.bytes[frame.EthernetLen:]) == frame.UserLink })
}

// What is returned unread is cut, keeps its importance, and counts from the first message
// that was not begun: spec 07 §4.6.
func TestConnReturnsUnread(t *testing.T) {
	for _, c := range []struct {
		name   string
		read   int
		stream bool
		text   []int
		want   string
	}{
		{"cut", 0, false, []int{2000, 30}, "data-high/conn 7>9 error=connection shutdown bytes=1024"},
		{"a lent one behind", 0, false, []int{30, 3000}, "data-high/conn 7>9 error=connection shutdown bytes=30"},
		{"begun", 50, true, []int{200, 30}, "data-high/conn 7>9 error=connection shutdown bytes=30"},
		{"begun, and lent", 50, true, []int{3000, 30}, "data-high/conn 7>9 error=connection shutdown bytes=30"},
		{"begun, no other", 50, true, []int{200}, "data-critical/conn 7>9 error=connection shutdown bytes=0"},
		{"all read", 230, true, []int{200, 30}, "data-critical/conn 7>9 error=connection shutdown bytes=0"},
		{"none", 0, false, nil, "data-critical/conn 7>9 error=connection shutdown bytes=0"},
	} {
		p := newScriptedPeer(t, ports(6, 7)).up()
		l := p.Listen(ListenConfig{Stream: c.stream})
		p.packet(data(6, func(f *frame.PayloadFields) { f.Syn, f.OrigPort, f.Importance = true, 9, frame.High }, ""))
		x, _ := l.Accept(p.now)
		for _, n := range c.text {
			high := func(f *frame.PayloadFields) { f.Importance = frame.High }
			p.packet(conn(9, 7, high, strings.Repeat("x", n)))
		}
		if lent := x.port.queue.Len() > 0 && x.port.queue.At(0).lent != nil; lent != (c.name == "begun, and lent") {
			t.Errorf("%s: lent %v", c.name, lent)
		}
		if c.read > 0 {
			x.Read(p.now, make([]byte, c.read))
		}
		p.drain()
		x.Close(p.now)
		lines := p.drain()
		if len(lines) != 1 || !strings.HasPrefix(lines[0], c.want) {
			t.Errorf("%s: got %q, want %q", c.name, lines, c.want)
		}
		l.Close(p.now)
		p.done()
	}
}
