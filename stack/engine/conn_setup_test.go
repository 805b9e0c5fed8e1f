// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A request may bring the first message, and go to a name, a name at a node, or a
// socket.
//
// Proves: socket.flow
func TestConnRequests(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{})
		for _, n := range []int{0, 1, 960, 984, 1000, 5000, frame.MaxPayload} {
			for _, how := range []string{"name", "name at node", "socket"} {
				var client *Conn
				var err error
				first := text(n, n)
				a := service
				switch how {
				case "name at node":
					a.Node = b.y.Address()
					fallthrough
				case "name":
					client, err = b.x.DialService(b.now, ConnConfig{}, a, first)
				case "socket":
					client, err = b.x.Dial(b.now, ConnConfig{}, l.Addr(), first)
				}
				if err != nil {
					t.Fatal(err)
				}
				b.settle()
				if client.State() != Connecting || client.Write(b.now, first) != ErrConnecting {
					t.Errorf("%s, %d bytes: %v before it is accepted", how, n, client.State())
				}
				if got := b.y.TakeReadyListeners(nil); len(got) != 1 || got[0] != l || l.Pending() != 1 {
					t.Errorf("ready listeners: got %v, %d pending", got, l.Pending())
				}
				server, ok := l.Accept(b.now)
				b.settle()
				if !ok || client.State() != Established || client.Peer() != server.Addr() || server.Addr() == l.Addr() {
					t.Fatalf("%s, %d bytes: %v to %v", how, n, client.State(), client.Peer())
				}
				if ready := b.x.TakeReadyConns(nil); !slices.Contains(ready, client) {
					t.Errorf("the client is not told: %v", ready)
				}
				if _, named := server.Name(); named != (how != "socket") {
					t.Errorf("%s: named %v", how, named)
				}
				if got := b.readAll(server, frame.MaxPayload); !bytes.Equal(got, first) {
					t.Errorf("%s: got %d bytes, want %d", how, len(got), n)
				}
				// The client counts the header of its request, the server the short
				// one: so it never acknowledges more than was sent (07 §5.1).
				acked, _ := server.flow.Credit()
				if n == 984 && how == "name" && (client.flow.Unacked() != 2 || acked != 1) {
					t.Errorf("%s, %d bytes: the client counts %d, the server %d, want 2 and 1", how, n, client.flow.Unacked(), acked)
				}
				server.Close(b.now)
				b.settle()
				client.Close(b.now)
			}
		}
		l.Close(b.now)
	})
}

// A request that cannot be served is refused; one that is not answered times out.
//
// Proves: socket.flow
func TestConnRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{})
		datagrams := b.y.OpenPort(PortConfig{})
		established, err := b.x.Dial(b.now, ConnConfig{}, l.Addr(), nil)
		b.settle()
		server, _ := l.Accept(b.now)
		b.settle()
		if err != nil || established.State() != Established {
			t.Fatal(err, established.State())
		}
		ghost := frame.SocketAddr{Port: 4711, Node: b.y.Address()}
		for _, c := range []struct {
			name string
			to   frame.SocketAddr
			want string
		}{
			{"no such port", ghost, "refused, no port"},
			{"a connection's port", server.Addr(), "refused, no port"},
			{"a datagram port, which does not answer", datagrams.Addr(), "no answer to the request, ok"},
			{"a listener that does not accept", l.Addr(), "no answer to the request, ok"},
		} {
			start := b.now
			client, err := b.x.Dial(b.now, ConnConfig{Timeout: time.Second}, c.to, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.until(longTime, func() bool { return client.State() != Connecting })
			if ended(client) != c.want {
				t.Errorf("%s: got %s, want %s", c.name, ended(client), c.want)
			}
			if strings.HasPrefix(c.want, "no answer") && b.now-start != time.Second {
				t.Errorf("%s: after %v, want 1s", c.name, b.now-start)
			}
			client.Close(b.now)
		}
		for _, a := range []frame.Service{{Type: 18888, Instance: 18}, {Type: 18888, Instance: 18, Node: b.y.Address()}} {
			client, err := b.x.DialService(b.now, ConnConfig{}, a, nil)
			if err == nil { // it waits there for the name
				b.until(longTime, func() bool { return client.State() != Connecting })
			}
			switch {
			case Unreachable(err) && (a.Node == 0 || b.x == b.y):
			case err != nil || ended(client) != "refused, no name":
				t.Errorf("%v: got %v", a, err)
			default:
				client.Close(b.now)
			}
		}
		// The request that timed out waits there still; its connection is reset.
		late, ok := l.Accept(b.now)
		b.settle()
		if !ok || ended(late) != "reset by the peer, no port" {
			t.Errorf("a late answer: got %v, %v", ok, late)
		}
		for _, x := range []*Conn{late, established, server} {
			x.Close(b.now)
		}
		datagrams.Close(b.now)
		l.Close(b.now)
	})
}

// A request that is repeated while the link is full is sent when there is room, in line
// with those that wait: no luck is needed.
//
// Proves: socket.scripts
func TestConnRetriesInLine(t *testing.T) {
	b := newConnBed(t, false)
	l := b.listen(ListenConfig{Backlog: 1})
	first, err := b.x.DialService(b.now, ConnConfig{}, service, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	second, err := b.x.DialService(b.now, ConnConfig{}, service, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	if l.Pending() != 1 || !second.again.isSet() {
		t.Fatalf("%d pending, asked again: %v", l.Pending(), second.again.isSet())
	}
	server, _ := l.Accept(b.now)
	b.settle()
	from, to := b.x.OpenPort(PortConfig{}), frame.SocketAddr{Port: 4711, Node: b.y.Address()}
	var flood Ticket
	full := func() {
		for sendAs(b.x.Engine, b.now, &flood, from, to, text(1400, 1)) == nil {
			b.x.Quit(b.now, &flood)
		}
	}
	full()
	b.x.alarms.set(&second.again, b.now)
	b.x.alarms.ringDue(b.now)
	if second.ticket.line == nil || !second.again.isSet() {
		t.Fatal("the request does not wait in line")
	}
	for range 20 { // whoever floods is there first, whenever there is room
		b.settle()
		b.x.TakeCalled(nil)
		full()
		b.x.HandleTimeout(b.now)
	}
	b.settle()
	if l.Pending() != 1 || second.ticket.serial != 0 {
		t.Fatalf("%d pending, waits still: %v", l.Pending(), second.ticket.serial != 0)
	}
	other, _ := l.Accept(b.now)
	if b.settle(); second.State() != Established {
		t.Errorf("got %v", second.State())
	}
	b.x.Quit(b.now, &flood)
	for _, c := range []*Conn{first, second, server, other} {
		c.Close(b.now)
	}
	from.Close(b.now)
	l.Close(b.now)
	b.clean()
}

// A full listener is asked again, until there is room or the time is over.
//
// Proves: socket.flow
func TestConnRetries(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{Backlog: 2})
		var clients []*Conn
		for i := range 4 {
			c, err := b.x.DialService(b.now, ConnConfig{Timeout: time.Duration(1+i) * time.Second}, service, text(100, i))
			if err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
			b.settle()
		}
		if l.Pending() != 2 || !clients[2].again.isSet() || !clients[3].again.isSet() {
			t.Fatalf("%d pending", l.Pending())
		}
		at := service
		at.Node = b.y.Address() // the listener is found there: its refusal comes of a port not named
		remote, err := b.x.DialService(b.now, ConnConfig{}, at, nil)
		b.settle()
		if err != nil || !remote.again.isSet() {
			t.Errorf("by a lookup node: %v, %v", err, ended(remote))
		}
		remote.Close(b.now)
		first := clients[3].again.at - b.now
		if first < 100*time.Millisecond || first > 1100*time.Millisecond {
			t.Errorf("asked again after %v, want 100 ms and up to a quarter of the timeout", first)
		}
		b.lines = nil
		b.pass(3500 * time.Millisecond)
		var got []string
		for _, c := range clients {
			got = append(got, ended(c))
		}
		const over = "no answer to the request, ok"
		if want := []string{over, over, over, "connecting"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		asked := 0
		for _, s := range b.lines {
			if strings.Contains(s, " syn kind=messages bytes=100") && !strings.Contains(s, "error") {
				asked++
			}
		}
		if b.x != b.y && (asked < 5 || asked > 40) {
			t.Errorf("asked again %d times", asked)
		}
		for range 2 {
			s, _ := l.Accept(b.now)
			b.settle()
			s.Close(b.now)
		}
		b.until(400*time.Millisecond, func() bool { return l.Pending() > 0 })
		s, ok := l.Accept(b.now)
		b.settle()
		if !ok || clients[3].State() != Established || !bytes.Equal(b.readAll(s, 200), text(100, 3)) {
			t.Errorf("the last: %v", clients[3].State())
		}
		s.Close(b.now)
		for _, c := range clients {
			c.Close(b.now)
		}
		l.Close(b.now)
	})
}

// A client that closes while it waits, and a listener that does.
func TestConnCloseBeforeAccept(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{})
		gone, _ := b.x.Dial(b.now, ConnConfig{}, l.Addr(), nil)
		b.settle()
		gone.Close(b.now)
		b.settle()
		s, ok := l.Accept(b.now)
		b.settle()
		if !ok || ended(s) != "reset by the peer, no port" {
			t.Errorf("got %v", ended(s))
		}
		s.Close(b.now)
		waits, _ := b.x.DialService(b.now, ConnConfig{}, service, text(2000, 1))
		direct, _ := b.x.Dial(b.now, ConnConfig{}, l.Addr(), nil)
		b.settle()
		l.Close(b.now)
		l.Close(b.now)
		b.settle()
		for _, c := range []*Conn{waits, direct} {
			if ended(c) != "refused, no port" {
				t.Errorf("the listener closed: got %v", ended(c))
			}
			c.Close(b.now)
		}
		if err := l.Bind(b.now, service.Range(), frame.ClusterScope); err != ErrClosed {
			t.Errorf("Bind after Close: got %v", err)
		}
		if _, ok := l.Accept(b.now); ok {
			t.Error("Accept after Close")
		}
	})
}

// Nodes without blocks count messages; nodes without the SYN bit ask without it.
//
// Proves: socket.flow
func TestConnOldNodes(t *testing.T) {
	for _, old := range []int{0, 1} {
		b := newBed(t, 2, func(c *Config) {
			if c.Address == 0x1001001+frame.NodeAddr(old) {
				c.Capabilities = Capabilities &^ frame.CapBlockFlowctl
			}
		})
		b.until(longTime, b.inContact)
		client, server, l := b.pair(ConnConfig{})
		sent := 0
		for ; client.Write(b.now, text(5000, sent)) == nil; sent++ {
			b.settle()
		}
		if unacked, window := client.Window(); sent != 513 || unacked != 513 || window != 512 {
			t.Errorf("old %d: %d sent, %d unacknowledged of %d", old, sent, unacked, window)
		}
		b.lines = nil
		if got := len(b.readAll(server, 6000)); got != sent*5000 {
			t.Errorf("old %d: read %d bytes, want %d", old, got, sent*5000)
		}
		acks := 0
		for _, s := range b.lines {
			if strings.Contains(s, "conn/ack") && strings.Contains(s, "acked=128 window=0 ") {
				acks++
			}
		}
		if unacked, _ := client.Window(); acks != 4 || unacked != 1 {
			t.Errorf("old %d: %d acknowledgements, %d unacknowledged, want 4 and 1", old, acks, unacked)
		}
		client.Close(b.now)
		server.Close(b.now)
		l.Close(b.now)
		b.clean()
	}
	p := newScriptedPeer(t)
	p.disc(frame.Request, func(f *frame.DiscoveryFields) { f.Capabilities = popCaps &^ frame.CapSynBit })
	p.again()
	l := p.Listen(ListenConfig{})
	p.packet(data(l.port.number, nil, "hello"))
	c, ok := l.Accept(p.now)
	if !ok || c.Pending() != 1 {
		t.Errorf("a request without SYN: got %v", ok)
	}
	c.Abort(p.now)
	l.Close(p.now)
	p.done()
}

// Each end asks the other every hour whether it is there, and gives up one that has not
// answered.
//
// Proves: socket.flow
func TestConnProbes(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{})
		b.lines = nil
		b.pass(time.Hour + time.Minute)
		probes := 0
		for _, s := range b.lines {
			if strings.Contains(s, "conn/probe") {
				probes++
			}
		}
		if client.State() != Established || server.State() != Established || probes != 4 && b.x != b.y {
			t.Errorf("got %v, %v, %d probes and replies, want 4", client.State(), server.State(), probes)
		}
		// A client that has forgotten: its number is free, so the next probe comes
		// back and ends the connection.
		start := b.now
		delete(b.x.ports, client.port.number)
		b.x.lastPort = nil
		b.x.alarms.cancel(&client.limit)
		b.until(2*time.Hour, func() bool { return server.State() != Established })
		if ended(server) != "reset by the peer, no port" || b.now-start > time.Hour {
			t.Errorf("got %v after %v", ended(server), b.now-start)
		}
		b.x.ports[client.port.number] = &client.port
		client.Close(b.now)
		server.Close(b.now)
		l.Close(b.now)
	})
}

// A peer that lives and says nothing is given up after two hours.
func TestConnSilentPeer(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	c, err := p.Dial(p.now, ConnConfig{}, frame.SocketAddr{Port: 9, Node: popAddr}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.packet(data(c.port.number, func(f *frame.PayloadFields) { f.Type = frame.ConnMsg }, ""))
	p.drain()
	start := p.now
	var got []string
	for c.State() == Established {
		p.now = c.limit.at
		p.alarms.ringDue(p.now)
		got = append(got, fmt.Sprint(p.now-start, " ", strings.Count(strings.Join(p.drain(), " "), "conn/probe ")))
	}
	if want := []string{"1h0m0s 1", "2h0m0s 0"}; !slices.Equal(got, want) || ended(c) != "the peer left a probe without answer, ok" {
		t.Errorf("got %q, %v", got, ended(c))
	}
	c.Close(p.now)
}

// Loss of contact ends the connections that lead to the node, and no others; a request
// waits on.
//
// Proves: socket.flow
func TestConnContactLost(t *testing.T) {
	b := newConnBed(t, false)
	client, server, l := b.pair(ConnConfig{})
	client.Write(b.now, text(10, 1))
	b.settle()
	waits, _ := b.x.DialService(b.now, ConnConfig{Timeout: time.Minute}, service, nil)
	own := b.x.Listen(ListenConfig{})
	within, _ := b.x.Dial(b.now, ConnConfig{}, own.Addr(), nil)
	b.settle()
	inner, _ := own.Accept(b.now)
	b.lines = nil
	b.lose = func(int, []byte) bool { return true }
	b.until(20*time.Second, func() bool { return client.State() == Ended && server.State() == Ended })
	for _, c := range []*Conn{client, server} {
		if ended(c) != "contact with the peer's node lost, no node" {
			t.Errorf("got %v", ended(c))
		}
	}
	if string(b.readAll(server, 20)) != string(text(10, 1)) {
		t.Error("what came before cannot be read")
	}
	if waits.State() != Connecting || within.State() != Established || inner.State() != Established {
		t.Errorf("got %v, %v, %v", waits.State(), within.State(), inner.State())
	}
	for _, s := range b.lines {
		if strings.Contains(s, "data-") || strings.Contains(s, " conn/") {
			t.Errorf("on the wire: %s", s)
		}
	}
	if _, ok := l.Accept(b.now); ok || l.Pending() != 0 {
		t.Error("a request of a node that is gone was accepted")
	}
	b.lose = nil
	for _, c := range []*Conn{client, server, waits, within, inner} {
		c.Close(b.now)
	}
	l.Close(b.now)
	own.Close(b.now)
	b.clean()
}

// A datagram port takes a request for a message with data, and returns it when it closes;
// a datagram for a listener comes back. Both within a node, where messages have another
// way.
func TestConnDatagramPortCloses(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		port := b.y.OpenPort(PortConfig{})
		c, err := b.x.Dial(b.now, ConnConfig{}, port.Addr(), text(100, 1))
		b.settle()
		if err != nil || c.State() != Connecting || port.Pending() != 1 {
			t.Fatalf("got %v, %v, %d pending", err, c.State(), port.Pending())
		}
		port.Close(b.now)
		b.settle()
		if ended(c) != "refused, no port" {
			t.Errorf("got %v", ended(c))
		}
		l := b.y.Listen(ListenConfig{})
		from := b.x.OpenPort(PortConfig{Returnable: true})
		from.Send(b.now, l.Addr(), []byte("hello"))
		b.settle()
		if got, want := read(from), fmt.Sprintf("%v hello error=no port", l.Addr()); len(got) != 1 || got[0] != want || l.Pending() != 0 {
			t.Errorf("got %q, want %q", got, want)
		}
		c.Close(b.now)
		from.Close(b.now)
		l.Close(b.now)
	})
}
