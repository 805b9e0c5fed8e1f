// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"net"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A seenAddr is an address that a program got, and the one that it is.
type seenAddr struct {
	from string
	got  net.Addr
	want net.Addr
}

// Wherever an address comes from, it equals the same address from elsewhere, is the same
// key of a map, and is what its texts are parsed to; so on a node of one's own, and attached.
//
// Mutations it catches: Listener.Addr that returns the socket; a peer among Admin.Sockets
// without its node; Sockets that does not say the network.
//
// Proves: wire.addresses
func TestAddressesCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   func(t *testing.T, n *stack.Node) *stack.Node
	}{
		{"own", func(_ *testing.T, n *stack.Node) *stack.Node { return n }},
		{"attached", func(t *testing.T, n *stack.Node) *stack.Node { n, _ = attachTo(t, n, stack.AttachConfig{}); return n }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := pair(t, stack.Config{})
			a, b = c.at(t, a), c.at(t, b)
			all := packetAddrs(t, a, b)
			all = append(all, connAddrs(t, a, b)...)
			all = append(all, groupAddrs(t, a, b)...)
			keys := map[net.Addr]string{}
			for _, x := range all {
				keys[x.want] = x.from
			}
			for _, x := range all {
				if x.got != x.want {
					t.Errorf("%s: got %#v, want %#v", x.from, x.got, x.want)
					continue
				}
				if _, ok := keys[x.got]; !ok {
					t.Errorf("%s: %v is no key of a map that has it", x.from, x.got)
				}
				for _, s := range []string{x.got.String(), x.got.(interface{ Host() string }).Host()} {
					if back, err := stack.ParseAddr(s); err != nil || back != x.got {
						t.Errorf("%s: %q is parsed to %#v, %v, want %#v", x.from, s, back, err, x.got)
					}
				}
			}
		})
	}
}

// packetAddrs are the addresses of a socket of a, and of what it receives from one of b.
func packetAddrs(t *testing.T, a, b *stack.Node) (all []seenAddr) {
	name := stack.Service{Type: 18888, Instance: 17}
	pc := listen(t, a, name)
	sub := must.Get(a.Subscribe(within(t), name.Range()))
	defer sub.Close()
	client := must.Get(stack.SocketConfig{Returnable: true}.ListenPacket(within(t), b, "tipcgram", nil))
	if err := b.WaitFor(within(t), name); err != nil {
		t.Fatal(err)
	}
	own, theirs := pc.LocalAddr(), client.LocalAddr()
	add := func(from string, got, want net.Addr) { all = append(all, seenAddr{from, got, want}) }
	add("Event.Socket", must.Get(sub.Next(within(t))).Socket, own)
	add("PacketConn.Bindings", must.Get(pc.Bindings(within(t)))[0].Socket, own)
	add("PacketConn.Bindings, the range", must.Get(pc.Bindings(within(t)))[0].Range, name.Range())
	for _, x := range must.Get(b.Admin().Names(within(t))) {
		if x.Range == name.Range() {
			add("Admin.Names", x.Socket, own)
		}
	}
	for _, x := range must.Get(a.Admin().Sockets(within(t))) {
		if len(x.Bindings) > 0 && x.Bindings[0].Range == name.Range() {
			add("Admin.Sockets", x.Addr, own)
		}
	}
	buf := make([]byte, 100)
	for range 4 {
		must.Get(client.WriteTo([]byte("hello"), name))
	}
	_, from, err := pc.ReadFrom(buf)
	add("PacketConn.ReadFrom", from, theirs)
	_, m, err2 := pc.ReadMsg(buf)
	add("PacketConn.ReadMsg", m.From, theirs)
	add("PacketConn.ReadMsg, the name", m.Name, name.Range())
	r, m, err3 := pc.ReadBuffer()
	add("PacketConn.ReadBuffer", m.From, theirs)
	r.Release()
	batch := []stack.Message{{Data: make([]byte, 100)}}
	_, err4 := pc.ReadBatch(batch)
	add("PacketConn.ReadBatch", batch[0].From, theirs)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	must.Get(pc.WriteTo([]byte("hello"), from))
	if _, from, err = client.ReadFrom(buf); err != nil {
		t.Fatal(err)
	}
	add("PacketConn.ReadFrom, an answer", from, own)
	gone := stack.SocketAddr{Port: 1, Node: own.(stack.SocketAddr).Node}
	must.Get(client.WriteTo([]byte("hello"), gone))
	_, _, err = client.ReadFrom(buf)
	var back *stack.RejectError
	var op *net.OpError
	if !errors.As(err, &back) || !errors.As(err, &op) {
		t.Fatalf("got %v, want a *RejectError", err)
	}
	add("RejectError.Dest", back.Dest, gone)
	add("OpError.Source", op.Source, theirs)
	peer := must.Get(b.DialPacket(within(t), "tipcrdm", own))
	add("PacketConn.RemoteAddr", peer.RemoteAddr(), own)
	return all
}

// connAddrs are the addresses of a connection between a listener of a and b.
func connAddrs(t *testing.T, a, b *stack.Node) (all []seenAddr) {
	add := func(from string, got, want net.Addr) { all = append(all, seenAddr{from, got, want}) }
	name := stack.Service{Type: 18889, Instance: 1}
	l := must.Get(a.Listen(within(t), "tipcpacket", name))
	sub := must.Get(b.Subscribe(within(t), name.Range()))
	defer sub.Close()
	add("Event.Socket of a listener", must.Get(sub.Next(within(t))).Socket, l.LocalAddr())
	add("Listener.Addr", l.Addr(), name)
	bare := must.Get(a.Listen(within(t), "tipc", nil))
	add("Listener.Addr without a name", bare.Addr(), bare.LocalAddr())
	several := must.Get(a.Listen(within(t), "tipc", stack.Range{Type: 18890, Upper: 9}))
	if err := several.Bind(stack.Service{Type: 18891}); err != nil {
		t.Fatal(err)
	}
	add("Listener.Addr of a range", several.Addr(), stack.Range{Type: 18890, Upper: 9})
	server, client := join(t, l, b, "tipcpacket", name)
	defer server.Close()
	defer client.Close()
	add("Conn.RemoteAddr", client.RemoteAddr(), server.LocalAddr())
	add("Conn.RemoteAddr, accepted", server.RemoteAddr(), client.LocalAddr())
	by, _ := server.Service()
	add("Conn.Service", by, name)
	for _, x := range must.Get(b.Admin().Sockets(within(t))) {
		if x.Kind == admin.ConnectedSocket && x.Service == name {
			add("Admin.Sockets, a connection", x.Addr, client.LocalAddr())
			add("Admin.Sockets, its peer", x.Peer, server.LocalAddr())
			if x.Network != "tipcpacket" {
				t.Errorf("a socket's network: got %q", x.Network)
			}
		}
	}
	return all
}

// groupAddrs are the addresses of two members of a group.
func groupAddrs(t *testing.T, a, b *stack.Node) (all []seenAddr) {
	add := func(from string, got, want net.Addr) { all = append(all, seenAddr{from, got, want}) }
	gs := members(t, stack.GroupConfig{}, a, b)
	defer gs[0].Close()
	defer gs[1].Close()
	must.Get(gs[0].Write([]byte("hello")))
	_, m := groupRead(t, gs[1])
	add("Group.ReadMsg", m.From, gs[0].LocalAddr())
	members := must.Get(gs[1].Members(within(t)))
	add("Group.Members", members[0].Addr, gs[0].LocalAddr())
	must.Get(gs[1].WriteTo([]byte("hello"), members[0].Addr))
	_, m = groupRead(t, gs[0])
	add("Group.ReadMsg, an answer", m.From, gs[1].LocalAddr())
	return all
}
