// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// hexOf is the last frame of the engine without its Ethernet header, the link's
// numbers cleared.
func (p *scriptedPeer) hexOf() string {
	p.collect()
	if len(p.sent) == 0 {
		return "nothing sent"
	}
	b := p.sent[len(p.sent)-1].bytes[frame.EthernetLen:]
	frame.StampSeq(b, 0)
	frame.StampAcks(b, 0, 0)
	var w []string
	for ; len(b) >= 4; b = b[4:] {
		w = append(w, fmt.Sprintf("%x", b[:4]))
	}
	return strings.TrimSpace(strings.Join(w, " ") + fmt.Sprintf(" %x", b))
}

// The example of spec 01 §4.1, tried with 6.1: 50 bytes on a connection that does
// not exist; and the one of 07 §6.2. The reply's header has 32 bytes.
func TestRejectOfConnectionData(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	msg := data(0xbbbb, func(f *frame.PayloadFields) { f.Type, f.OrigPort = frame.ConnMsg, 0xaaaa }, strings.Repeat("\x11", 50))
	p.packet(msg)
	want := "41000052 04000000 00000000 01001001 0000bbbb 0000aaaa 01001001 01001002" + strings.Repeat(" 11111111", 12) + " 1111"
	if got := p.hexOf(); got != want {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	p.packet(data(0x50000002, func(f *frame.PayloadFields) { f.Type, f.OrigPort = frame.ConnMsg, 0xc0000001 }, "hello"))
	if got, want := p.hexOf(), "41000025 04000000 00000000 01001001 50000002 c0000001 01001001 01001002 68656c6c 6f"; got != want {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	if p.Counters().Returned != 2 {
		t.Errorf("counted: got %v, want 2", p.Counters().Returned)
	}
}

// A row for each way a message can be refused or taken: spec 07 §6, 01 §4.1.
//
// Proves: socket.returned
func TestPayload(t *testing.T) {
	droppable := func(f *frame.PayloadFields) { f.DestDroppable = true }
	both := func(fs ...func(*frame.PayloadFields)) func(*frame.PayloadFields) {
		return func(f *frame.PayloadFields) {
			for _, g := range fs {
				g(f)
			}
		}
	}
	failed := func(f *frame.PayloadFields) { f.Error = frame.NoPort }
	long := strings.Repeat("x", 1300)
	for _, c := range []struct {
		name   string
		to     string // port, none or zero
		change func(*frame.PayloadFields)
		text   string
		sent   string
		drop   string
		read   []string
	}{
		{"direct", "port", nil, "hi", "", "", []string{"<1001002:77> hi"}},
		{"direct, empty: never seen", "port", nil, "", "", "", nil},
		{"direct, no port", "none", nil, "hi", "data-low/direct 4711>77 error=no port bytes=2", "", nil},
		{
			"direct, no port, importance kept", "none", func(f *frame.PayloadFields) { f.Importance = frame.High }, "hi",
			"data-high/direct 4711>77 error=no port bytes=2", "", nil,
		},
		{"direct, no port, droppable", "none", droppable, "hi", "", "nobody to take it, and not to be returned=1", nil},
		{"direct, no port, a reject", "none", failed, "hi", "", "nobody to take it, and not to be returned=1", nil},
		{"direct, no port, cut", "none", nil, long, "data-low/direct 4711>77 error=no port bytes=1024", "", nil},
		{"own message comes back", "port", failed, "hi", "", "", []string{"<1001002:77> hi error=no port"}},
		{"own message comes back empty", "port", failed, "", "", "", []string{"<1001002:77>  error=no port"}},
		{"named, port known", "port", named(18888, 17), "hi", "", "", []string{"<1001002:77> hi"}},
		{"named, looked up here", "none", named(18888, 17), "hi", "", "", []string{"<1001002:77> hi"}},
		{"named, port 0", "zero", named(18888, 17), "hi", "", "", []string{"<1001002:77> hi"}},
		{"named, unknown", "none", named(18888, 18), "hi", "data-low/named 4711>77 name=18888:18 error=no name bytes=2", "", nil},
		{"named, unknown, port 0", "zero", named(18888, 18), "hi", "data-low/named 0>77 name=18888:18 error=no name bytes=2", "", nil},
		{"named, unknown, droppable", "zero", both(named(18888, 18), droppable), "hi", "", "nobody to take it, and not to be returned=1", nil},
		{
			"named, looked up before", "none", both(named(18888, 17), func(f *frame.PayloadFields) { f.Reroute = 1 }), "hi",
			"data-low/named 4711>77 name=18888:17 error=no name reroute=1 bytes=2", "", nil,
		},
		{"named, a reject", "none", both(named(18888, 17), failed), "hi", "", "nobody to take it, and not to be returned=1", nil},
		{
			"connection data to a datagram port", "port", func(f *frame.PayloadFields) { f.Type = frame.ConnMsg }, "hi",
			"data-low/conn PORT>77 error=no port bytes=2", "", nil,
		},
		{
			"end of a connection", "port", func(f *frame.PayloadFields) { f.Type, f.Error = frame.ConnMsg, frame.ConnShutdown }, "",
			"", "nobody to take it, and not to be returned=1", nil,
		},
		{"connection request to a datagram port", "port", func(f *frame.PayloadFields) { f.Syn = true }, "", "", "", nil},
		{"group data", "port", func(f *frame.PayloadFields) { f.Type = frame.GroupUcastMsg }, "hi", "", "nobody to take it, and not to be returned=1", nil},
	} {
		p := newScriptedPeer(t, unparked).up()
		port := p.bound(t, PortConfig{}, 18888, 17)
		to := map[string]uint32{"port": port.number, "none": 4711}[c.to]
		p.packet(data(to, c.change, c.text))
		var got string
		if l := p.drain(); len(l) > 0 {
			got, _, _ = strings.Cut(strings.Join(l, "; "), " seq=")
			got = strings.ReplaceAll(got, fmt.Sprint(port.number, ">"), "PORT>")
		}
		if got != c.sent {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.sent)
		}
		p.wantDrops(c.name, c.drop)
		if got := read(port); !slices.Equal(got, c.read) {
			t.Errorf("%s: read %q, want %q", c.name, got, c.read)
		}
		p.done()
	}
}

// Looked up with scope "node" a name means own sockets only; a lookup that leads
// elsewhere sends the message on, once (spec 07 §6.3).
//
// Proves: socket.returned, names.rules
func TestSecondLookup(t *testing.T) {
	p := newScriptedPeer(t, unparked).up()
	defer p.done()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 },
		frame.NameItem{Range: frame.Range{Type: 18888, Lower: 17, Upper: 17}, Port: 99, Key: 100}))
	p.drain()
	node := func(f *frame.PayloadFields) { named(18888, 17)(f); f.Scope = frame.NodeScope }
	p.packet(data(0, node, "hi"))
	if got := p.drain(); len(got) != 1 || !strings.HasPrefix(got[0], "data-low/named 0>77 name=18888:17 error=no name") {
		t.Errorf("scope node: got %q, want no name", got)
	}
	p.packet(data(0, named(18888, 17), "hi"))
	// Prev is the forwarder's, the originator stays: 01001002 has the port 77.
	if got, want := p.hexOf(), "4140002a 40300000 00000000 01001001 0000004d 00000063 01001002 01001002 000049c8 00000011 6869"; got != want {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	p.drain()
	port := p.bound(t, PortConfig{}, 18888, 17)
	p.packet(data(0, node, "hi"))
	if got := read(port); len(got) != 1 {
		t.Errorf("scope node, own socket: got %q, want one message", got)
	}
	p.wantDrops("all", "")
}

// Refused after a lookup here, a message comes back from the port found, with the
// lookup counted (spec 07 §4.2, "Note the matching rule").
//
// Proves: names.rules
func TestRejectAfterSecondLookup(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	port := p.bound(t, PortConfig{ReceiveLimit: 10}, 18888, 17)
	p.packet(data(0, named(18888, 17), "hi"))
	got, _, _ := strings.Cut(strings.Join(p.drain(), ";"), " seq=")
	if want := fmt.Sprintf("data-low/named %d>77 name=18888:17 error=overload reroute=1 bytes=2", port.number); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func connMsg(to uint32, change func(*frame.ConnFields)) []byte {
	f := frame.ConnFields{Common: frame.Common{Prev: popAddr}, OrigPort: 77, DestPort: to, Orig: popAddr, Dest: ownAddr}
	if change != nil {
		change(&f)
	}
	return f.Append(nil)
}

// There are no connections: their manager hears NO_PORT, once (spec 07 §4.5).
//
// Proves: socket.returned
func TestConnectionManager(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*frame.ConnFields)
		known  bool
		sent   string
		drop   string
	}{
		{"probe", nil, false, "conn/probe 4711>77 error=no port", ""},
		{"ack", func(f *frame.ConnFields) { f.Type, f.Acked, f.Window = frame.ConnAck, 3, 512 }, false, "conn/ack 4711>77 acked=3 window=512 error=no port", ""},
		{"bounced", func(f *frame.ConnFields) { f.Error = frame.NoPort }, false, "", "nobody to take it, and not to be returned=1"},
		{"to a datagram port", nil, true, "", "nobody to take it, and not to be returned=1"},
	} {
		p := newScriptedPeer(t).up()
		port, to := p.bound(t, PortConfig{}, 18888, 17), uint32(4711)
		if c.known {
			to = port.number
		}
		p.packet(connMsg(to, c.change))
		got, _, _ := strings.Cut(strings.Join(p.drain(), ";"), " seq=")
		if got != c.sent {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.sent)
		}
		p.wantDrops(c.name, c.drop)
		p.done()
	}
}

func mcast(lower, upper uint32) func(*frame.PayloadFields) {
	return func(f *frame.PayloadFields) {
		f.Type, f.NameType, f.Lower, f.Upper, f.Scope = frame.McastMsg, 18888, lower, upper, frame.ClusterScope
		f.DestDroppable, f.DestPort = true, 0
	}
}

func mcastOnBroadcast(lower, upper uint32) func(*frame.PayloadFields) {
	return func(f *frame.PayloadFields) {
		mcast(lower, upper)(f)
		f.NonSeq, f.DestNode, f.DestPort = true, 0, frame.DefaultNetID
	}
}

// Each socket once, whichever way it comes (spec 07 §3).
func TestMulticast(t *testing.T) {
	for _, way := range []string{"unicast", "broadcast", "broadcast by unicast"} {
		p := newScriptedPeer(t).up()
		a, b, c := p.bound(t, PortConfig{}, 18888, 17), p.bound(t, PortConfig{}, 18888, 20), p.OpenPort(PortConfig{})
		for _, port := range []*Port{a, a, b} {
			port.Bind(p.now, frame.Range{Type: 18888, Lower: 10, Upper: 30}, frame.ClusterScope)
		}
		c.Bind(p.now, frame.Range{Type: 18888, Lower: 10, Upper: 30}, frame.NodeScope)
		p.drain()
		send := func(lower, upper uint32, more func(*frame.PayloadFields)) {
			x := mcast
			if way != "unicast" {
				x = mcastOnBroadcast
			}
			msg := data(0, func(f *frame.PayloadFields) {
				x(lower, upper)(f)
				if more != nil {
					more(f)
				}
			}, "hi")
			switch way {
			case "unicast":
				p.packet(msg)
			case "broadcast":
				p.broadcast(msg)
			default: // repeated to one that missed it
				frame.StampSeq(msg, p.bcast)
				p.bcast++
				p.hear(msg)
			}
		}
		send(17, 25, nil)
		for i, port := range []*Port{a, b} {
			if got := read(port); !slices.Equal(got, []string{"<1001002:77> hi"}) {
				t.Errorf("%s: port %d: read %q, want one message", way, i, got)
			}
		}
		if got := read(c); got != nil {
			t.Errorf("%s: node scope: read %q, want nothing", way, got)
		}
		p.wantDrops(way, "")
		send(40, 50, nil)
		p.wantDrops(way+", nobody", "nobody to take it, and not to be returned=1")
		// Not even when the sender wants it back (spec 07, hostile input).
		send(40, 50, func(f *frame.PayloadFields) { f.DestDroppable = false })
		p.wantDrops(way+", nobody, returnable", "nobody to take it, and not to be returned=1")
		// The twin of a method change never reaches a user (spec 04 §6.1).
		send(17, 17, func(f *frame.PayloadFields) { f.Syn, f.Error = true, frame.NoPort })
		p.wantDrops(way+", twin", "")
		if got := read(a); got != nil {
			t.Errorf("%s, twin: read %q, want nothing", way, got)
		}
		a.ReceiveLimit, b.ReceiveLimit = 10, 10
		send(17, 25, func(f *frame.PayloadFields) { f.DestDroppable = false })
		p.wantDrops(way+", full", "receiver's queue full, and not to be returned=2")
		a.ReceiveLimit = 1000
		send(17, 17, func(f *frame.PayloadFields) { f.DestDroppable = false })
		p.drops()
		a.Close(p.now)
		for _, l := range p.drain() {
			if strings.Contains(l, "error=") {
				t.Errorf("%s: returned %q", way, l)
			}
		}
		p.done()
	}
}

// Broadcasts are for names: nothing else is answered or delivered from there.
func TestBroadcastOnlyForNames(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	port := p.bound(t, PortConfig{}, 18888, 17)
	onBroadcast := func(f *frame.PayloadFields) { f.NonSeq, f.DestNode = true, 0 }
	for _, c := range []struct {
		name string
		msg  []byte
		drop string
	}{
		{"direct", data(port.number, func(f *frame.PayloadFields) { onBroadcast(f); f.Type = frame.NamedMsg }, "x"), "not allowed inside a bundle=1"},
		{"connection manager", connMsg(4711, func(f *frame.ConnFields) { f.NonSeq, f.Dest = true, 0 }), "not allowed inside a bundle=1"},
	} {
		copy(c.msg[20:], []byte{0, 0, 0x12, 0x67})
		p.broadcast(c.msg)
		p.wantDrops(c.name, c.drop)
		if got := p.drain(); got != nil {
			t.Errorf("%s: answered %q", c.name, got)
		}
	}
	if got := read(port); got != nil {
		t.Errorf("read %q", got)
	}
}

// Spec 07 §9: the same rules without a link.
func TestLocalDelivery(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  PortConfig
		to   uint32 // 0: the bound port
		n    int
		full bool
		got  []string // by the receiver
		back []string // by the sender
		drop string
	}{
		{"delivered", PortConfig{}, 0, 3, false, []string{"<1001001:S> xxx"}, nil, ""},
		{"empty", PortConfig{}, 0, 0, false, nil, nil, ""},
		{"66000 bytes", PortConfig{}, 0, 66000, false, []string{"<1001001:S> 66000 bytes"}, nil, ""},
		{"no port", PortConfig{Returnable: true}, 4711, 3, false, nil, []string{"<1001001:4711> xxx error=no port"}, ""},
		{"no port, cut", PortConfig{Returnable: true}, 4711, 3000, false, nil, []string{"<1001001:4711> 1024 bytes error=no port"}, ""},
		{"no port, droppable", PortConfig{}, 4711, 3, false, nil, nil, "nobody to take it, and not to be returned=1"},
		{"overload", PortConfig{Returnable: true}, 0, 3, true, nil, []string{"<1001001:R> xxx error=overload"}, ""},
		{"overload, droppable", PortConfig{}, 0, 3, true, nil, nil, "receiver's queue full, and not to be returned=1"},
	} {
		p := newScriptedPeer(t)
		r := p.bound(t, PortConfig{}, 18888, 17)
		s := p.OpenPort(c.cfg)
		if c.full {
			r.ReceiveLimit = 1
		}
		to := c.to
		if to == 0 {
			to = r.number
		}
		if err := s.Send(p.now, frame.SocketAddr{Port: to, Node: ownAddr}, []byte(strings.Repeat("x", c.n))); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		names := strings.NewReplacer(fmt.Sprint(s.number), "S", fmt.Sprint(r.number), "R")
		clean := func(l []string) (o []string) {
			for _, x := range l {
				o = append(o, names.Replace(x))
			}
			return o
		}
		if got := clean(read(r)); !slices.Equal(got, c.got) {
			t.Errorf("%s: read %q, want %q", c.name, got, c.got)
		}
		if got := clean(read(s)); !slices.Equal(got, c.back) {
			t.Errorf("%s: came back %q, want %q", c.name, got, c.back)
		}
		p.wantDrops(c.name, c.drop)
		if got := p.drain(); got != nil {
			t.Errorf("%s: sent %q", c.name, got)
		}
	}
}

// The forms of spec 07 §1.1 and §2 as they leave.
func TestSentForms(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 },
		frame.NameItem{Range: frame.Range{Type: 18888, Lower: 17, Upper: 17}, Port: 0x50000001, Key: 100}))
	for _, c := range []struct {
		name string
		cfg  PortConfig
		send func(s *Port) error
		want string // PORT for the sender's
	}{
		{
			"direct",
			PortConfig{},
			func(s *Port) error { return s.Send(p.now, frame.SocketAddr{Port: 9, Node: popAddr}, []byte("hi")) },
			"41080022 60000000 00000000 01001001 PORT 00000009 01001001 01001002 6869",
		},
		{
			"service",
			PortConfig{Returnable: true},
			func(s *Port) error {
				return s.SendService(p.now, frame.Service{Type: 18888, Instance: 17}, []byte("hi"))
			},
			"4140002a 40100000 00000000 01001001 PORT 50000001 01001001 01001002 000049c8 00000011 6869",
		},
		{
			"service at a node",
			PortConfig{Importance: frame.Critical, SrcDroppable: true},
			func(s *Port) error {
				return s.SendService(p.now, frame.Service{Type: 18888, Instance: 17, Node: popAddr}, nil)
			},
			"474c0028 40180000 00000000 01001001 PORT 00000000 01001001 01001002 000049c8 00000011",
		},
	} {
		p.drain()
		s := p.OpenPort(c.cfg)
		if err := c.send(s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, want := p.hexOf(), strings.ReplaceAll(c.want, "PORT", fmt.Sprintf("%08x", s.number)); got != want {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, want)
		}
	}
	s := p.OpenPort(PortConfig{})
	for _, c := range []struct {
		to   frame.SocketAddr
		n    int
		want error
	}{
		{frame.SocketAddr{Port: 1, Node: 0x1001009}, 1, ErrNoNode},
		{frame.SocketAddr{Port: 1, Node: popAddr}, 66001, ErrTooLong},
		{frame.SocketAddr{Port: 1, Node: popAddr}, 66000, nil},
	} {
		if err := s.Send(p.now, c.to, make([]byte, c.n)); !errors.Is(err, c.want) {
			t.Errorf("%d bytes to %v: got %v, want %v", c.n, c.to, err, c.want)
		}
	}
}
