// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Every message is counted where it went and where it came from: by socket, by service
// and by peer.
//
// Proves: socket.seen
func TestStatsOfDatagrams(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		to := b.y.OpenPort(PortConfig{ReceiveLimit: 3 * (100 + recordCost)})
		to.Bind(b.now, service.Range(), frame.ClusterScope)
		from := b.x.OpenPort(PortConfig{Returnable: true})
		if !b.until(longTime, func() bool { return b.x.knows(service.Range()) }) {
			t.Fatal("the name did not arrive")
		}
		data := make([]byte, 100)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			b.settle()
		}
		must(from.SendService(b.now, service, data))
		must(from.SendRange(b.now, service.Range(), data))
		must(from.Send(b.now, to.Addr(), data))
		must(from.SendService(b.now, service, data)) // no room: it comes back
		from.Returnable = false
		must(from.SendService(b.now, service, data)) // and is dropped
		must(from.SendRange(b.now, service.Range(), data))
		if err := from.SendService(b.now, frame.Service{Type: 300}, nil); err != ErrNoName {
			t.Error(err)
		}
		if err := from.SendRange(b.now, frame.Range{Type: 300}, nil); err != ErrNoName {
			t.Error(err)
		}
		got := to.Stats()
		want := PortStats{MessagesIn: 3, BytesIn: 300, Returned: 1, Dropped: 2, Queued: 3, MostQueued: 3, Bytes: 492, MostBytes: 492}
		if got != want {
			t.Errorf("receiver: got %+v, want %+v", got, want)
		}
		to.Read(data[:10])
		to.Read(data)
		must(b.x.OpenPort(PortConfig{}).Send(b.now, to.Addr(), data[:1]))
		if got = to.Stats(); got.Truncated != 1 || got.Queued != 2 || got.Bytes != 229 || got.MostQueued != 3 || got.MostBytes != 492 {
			t.Errorf("receiver: got %+v", got)
		}
		got = from.Stats()
		want = PortStats{MessagesIn: 1, BytesIn: 100, MessagesOut: 6, BytesOut: 600, CameBack: 1, Queued: 1, MostQueued: 1, Bytes: 164, MostBytes: 164}
		if got != want {
			t.Errorf("sender: got %+v, want %+v", got, want)
		}
		b.x.Waited(from.number, time.Second)
		b.x.Waited(0, time.Second)
		if got = from.Stats(); got.Blocked != 1 || got.BlockedFor != time.Second {
			t.Errorf("sender: got %+v", got)
		}
		row := func(e *bedNode, typ uint32) (s ServiceStats) {
			for _, s = range e.Services() {
				if s.Type == typ {
					return s
				}
			}
			return ServiceStats{}
		}
		if s := row(b.x, 18888); s.MessagesOut != 5 || s.BytesOut != 500 {
			t.Errorf("service at the sender: got %+v", s)
		}
		if s := row(b.x, 300); s.Unbound != 2 || s.MessagesOut != 0 {
			t.Errorf("service of nobody: got %+v", s)
		}
		if s := row(b.y, 18888); s.MessagesIn != 2 || s.BytesIn != 200 {
			t.Errorf("service at the receiver: got %+v", s)
		}
		if b.x == b.y {
			return
		}
		x, y := b.x.Traffic()[0], b.y.Traffic()[0]
		if x.Node != b.y.addr || !x.Up || x.Traffic != (Traffic{MessagesIn: 1, BytesIn: 100, MessagesOut: 7, BytesOut: 601, CameBack: 1}) {
			t.Errorf("peer of the sender: got %+v", x)
		}
		if y.Node != b.x.addr || !y.Up || y.Traffic != (Traffic{MessagesIn: 7, BytesIn: 601, Returned: 1}) {
			t.Errorf("peer of the receiver: got %+v", y)
		}
	})
}

// A connection counts as a socket does, and is one of its service's and of its peer's.
//
// Proves: socket.seen
func TestStatsOfConnections(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{})
		for range 3 {
			if err := client.Write(b.now, make([]byte, 50)); err != nil {
				t.Fatal(err)
			}
			b.settle()
		}
		if s := client.Stats(); s.MessagesOut < 3 || s.BytesOut != 150 {
			t.Errorf("client: got %+v", s)
		}
		if s := server.Stats(); s.MessagesIn != 3 || s.BytesIn != 150 || s.Queued != 3 || s.MostBytes != 3*(50+recordCost) {
			t.Errorf("server: got %+v", s)
		}
		server.Read(b.now, make([]byte, 10))
		if s := server.Stats(); s.Truncated != 1 {
			t.Errorf("server: got %+v", s)
		}
		if s := l.Stats(); s.MostQueued != 1 || s.Queued != 0 {
			t.Errorf("listener: got %+v", s)
		}
		kinds := map[SocketKind]int{}
		for _, s := range b.y.Sockets() {
			if !s.Inside {
				kinds[s.Kind]++
			}
			if s.Addr == server.Addr() && (s.Peer != client.Addr() || s.State != Established || s.MessagesIn != 3) {
				t.Errorf("got %+v", s)
			}
			if s.Addr == l.Addr() && (len(s.Bindings) != 1 || s.Bindings[0].Range != service.Range()) {
				t.Errorf("got %+v", s)
			}
		}
		if kinds[ListeningSocket] != 1 || kinds[ConnectedSocket] == 0 {
			t.Errorf("got %v", kinds)
		}
		if b.x != b.y {
			if p := b.x.Traffic()[0]; p.Open != 1 || p.Connections != 1 {
				t.Errorf("peer: got %+v", p)
			}
		}
		for _, e := range []*bedNode{b.x, b.y} {
			s := e.services.known(service.Type)
			if want := map[bool]uint64{false: 1, true: 2}[b.x == b.y]; s.Connections != want {
				t.Errorf("service: got %+v, want %d", s, want)
			}
		}
		client.Close(b.now)
		b.settle()
		server.Close(b.now)
		b.settle()
		if b.x != b.y {
			for _, e := range []*bedNode{b.x, b.y} {
				if p := e.Traffic()[0]; p.Open != 0 || p.Connections != 1 {
					t.Errorf("peer, after the end: got %+v", p)
				}
			}
		}
		l.Close(b.now)
	})
}

// Rows of services are limited, and messages from elsewhere make none.
//
// Proves: socket.seen
func TestServiceRowsAreLimited(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.bound(t, PortConfig{}, 18888, 17)
	before := len(p.services.rows)
	for typ := range uint32(5000) {
		p.packet(data(port.number, named(15000+typ, 1), "x"))
	}
	if got := len(p.services.rows); got != before {
		t.Errorf("%d rows, were %d", got, before)
	}
	if p.services.rest.MessagesIn != 4999 {
		t.Errorf("got %+v", p.services.rest)
	}
	for typ := range uint32(5000) {
		port.SendService(p.now, frame.Service{Type: 100000 + typ}, nil)
	}
	if got := len(p.services.rows); got != MaxServices {
		t.Errorf("%d rows, want %d", got, MaxServices)
	}
	all := p.Services()
	if all[0].Type != 0 || all[0].Unbound != uint64(5000-MaxServices+before) {
		t.Errorf("got %+v", all[0])
	}
	for i := range all[1:] {
		if all[i].Type >= all[i+1].Type {
			t.Fatalf("not in order: %d, %d", all[i].Type, all[i+1].Type)
		}
	}
}

// A member counts what it sends and reads, and is listed with its group.
//
// Proves: socket.seen
func TestStatsOfGroups(t *testing.T) {
	b := newGroupBed(t, 2)
	x, y, z := b.join(0, 1), b.join(1, 2), b.join(0, 3)
	b.settle()
	b.mustSend("to all", func() error { return x.Send(b.now, make([]byte, 10)) })
	b.mustSend("to one elsewhere", func() error { return x.SendTo(b.now, y.Addr(), make([]byte, 20)) })
	b.mustSend("to one here", func() error { return x.SendTo(b.now, z.Addr(), make([]byte, 30)) })
	b.settle()
	if s := x.Stats(); s.MessagesOut != 3 || s.BytesOut != 60 {
		t.Errorf("sender: got %+v", s)
	}
	for what, g := range map[*Group]PortStats{y: {MessagesIn: 2, BytesIn: 30}, z: {MessagesIn: 2, BytesIn: 40}} {
		if s := what.Stats(); s.BytesIn != g.BytesIn || s.MessagesIn < g.MessagesIn || s.MostQueued < 2 {
			t.Errorf("got %+v, want %+v", s, g)
		}
	}
	found := 0
	for _, s := range b.nodes[0].Sockets() {
		if s.Kind == GroupSocket && (s.Service == x.Service || s.Service == z.Service) {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d groups are listed, want 2", found)
	}
}
