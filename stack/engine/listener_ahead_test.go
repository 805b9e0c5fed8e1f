// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"testing"

	"github.com/utipc/utipc/frame"
)

// With Ahead a request is answered before it is accepted, up to the backlog; what comes meanwhile is
// read then, also of a peer that has ended; the next is asked again and answered when there is room.
// The connections that wait are reset with their listener. Mutations it catches: full does not count
// ahead; tell names connections that nobody has; Refuse leaves those that wait; acceptAhead drops the
// first message; Backlog is DefaultBacklog.
//
// Proves: socket.ahead
func TestAcceptAhead(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.listen(ListenConfig{Ahead: true, Backlog: 3})
		var clients []*Conn
		dial := func() *Conn {
			c, err := b.x.DialService(b.now, ConnConfig{}, service, []byte("first"))
			if err != nil {
				t.Fatal(err)
			}
			b.settle()
			clients = append(clients, c)
			return c
		}
		for range 4 {
			c := dial()
			if want := map[bool]ConnState{true: Established, false: Connecting}[len(clients) <= 3]; c.State() != want {
				t.Fatalf("connection %d: %v before it is accepted", len(clients), c.State())
			}
		}
		if err := clients[0].Write(b.now, []byte("second")); err != nil {
			t.Fatal(err)
		}
		clients[1].Close(b.now)
		b.settle()
		if ready := b.y.TakeReadyConns(nil); b.x != b.y && len(ready) > 0 || l.Pending() != 3 || l.Stats().Queued != 3 {
			t.Errorf("%d wait; named: %v", l.Pending(), ready)
		}
		if got := b.y.TakeReadyListeners(nil); len(got) != 1 || got[0] != l {
			t.Errorf("ready listeners: %v", got)
		}
		for i := range 2 {
			server, ok := l.Accept(b.now)
			if !ok || server.Peer() != clients[i].Addr() {
				t.Fatalf("accepted %v, want %v", server.Peer(), clients[i].Addr())
			}
			if name, _ := server.Name(); name != service {
				t.Errorf("accepted for %v", name)
			}
			want := map[int]string{0: "firstsecond", 1: "first"}[i]
			if got := b.readAll(server, 100); !bytes.Equal(got, []byte(want)) || (server.State() == Ended) != (i == 1) {
				t.Errorf("read %q of one that is %v", got, server.State())
			}
			if i == 0 { // it is its owner's now
				clients[0].Write(b.now, []byte("x"))
				b.settle()
				if ready := b.y.TakeReadyConns(nil); len(ready) == 0 {
					t.Error("the owner is not told")
				}
			}
			server.Close(b.now)
		}
		if !b.until(longTime, func() bool { return clients[3].State() == Established }) {
			t.Error("there is room, and the fourth is not answered")
		}
		l.Close(b.now)
		b.settle()
		for i := range 2 {
			if got := ended(clients[2+i]); got != "reset by the peer, no port" {
				t.Errorf("its listener is closed: %v", got)
			}
		}
		for _, c := range clients {
			c.Close(b.now)
		}
	})
	b := newConnBed(t, false)
	l := b.y.Listen(ListenConfig{Ahead: true})
	for range DefaultAhead + 1 {
		if _, err := b.x.Dial(b.now, ConnConfig{}, frame.SocketAddr{Port: l.Addr().Port, Node: l.Addr().Node}, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.settle()
	if l.Pending() != DefaultAhead {
		t.Errorf("%d wait, want %d", l.Pending(), DefaultAhead)
	}
	l.Close(b.now)
}
