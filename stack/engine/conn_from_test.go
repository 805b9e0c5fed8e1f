// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// An idle socket refuses requests until Start, and one without names becomes a connection with
// its number, which a request to a node that is out of reach leaves as it was. Mutations:
// Listener.handle does not look at Idle; newConn does not take the number; dialing closes the
// socket before it looks for the way.
//
// Proves: plain.connections
func TestConnFromIdle(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		l := b.y.Listen(ListenConfig{Idle: true})
		refused, err := b.x.Dial(b.now, ConnConfig{}, l.Addr(), nil)
		b.settle()
		if err != nil || ended(refused) != "refused, no port" {
			t.Errorf("got %v, %v", err, ended(refused))
		}
		l.Start()
		taken, _ := b.x.Dial(b.now, ConnConfig{}, l.Addr(), nil)
		b.settle()
		server, ok := l.Accept(b.now)
		if !ok {
			t.Fatal("a socket that was started has no request")
		}
		own := b.x.Listen(ListenConfig{Idle: true})
		addr := own.Addr()
		if _, err := b.x.DialFrom(b.now, own, ConnConfig{}, frame.SocketAddr{Port: 1, Node: 0x1001099}, nil); !Unreachable(err) {
			t.Errorf("got %v", err)
		}
		if _, err := b.x.DialServiceFrom(b.now, own, ConnConfig{}, frame.Service{Type: 9999}, nil); !Unreachable(err) {
			t.Errorf("got %v", err)
		}
		c, err := b.x.DialFrom(b.now, own, ConnConfig{}, l.Addr(), nil)
		if err != nil || c.Addr() != addr {
			t.Fatalf("got %v, %v, want %v", err, c.Addr(), addr)
		}
		b.settle()
		other, ok := l.Accept(b.now)
		b.settle()
		if !ok || c.State() != Established || other.Peer() != addr {
			t.Errorf("got %v, %v", ok, c.State())
		}
		for _, c := range []*Conn{refused, taken, server, c, other} {
			c.Close(b.now)
		}
		l.Close(b.now)
	})
}
