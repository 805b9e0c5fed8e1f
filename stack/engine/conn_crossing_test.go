// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
)

// Both ends of a connection are closed while each holds something that the window of the other
// stops: each takes what comes as if it were read, so that both come to their end and nothing is
// counted as lost.
//
// Mutations it catches: handleLate acknowledges nothing; ackUnread is not called, or
// acknowledges nothing.
//
// Proves: socket.nagle
func TestCrossingClose(t *testing.T) {
	for _, read := range []int{0, 1, 700} {
		t.Run(fmt.Sprint(read), func(t *testing.T) {
			b := newConnBed(t, false)
			client, server, l := b.pair(ConnConfig{Stream: true})
			for range 20 {
				for _, c := range []*Conn{client, server} {
					for c.Write(b.now, text(300, 0)) == nil {
					}
				}
				b.settle()
			}
			buf := make([]byte, read)
			for _, c := range []*Conn{client, server} {
				c.Read(b.now, buf)
			}
			if client.Held() == 0 || server.Held() == 0 {
				t.Fatalf("%d and %d bytes held", client.Held(), server.Held())
			}
			b.closeBoth(client, server, l)
		})
	}
}

// closeBoth closes both ends, and checks that each comes to its end and that nothing is lost.
func (b *bed) closeBoth(client, server *Conn, l *Listener) {
	b.t.Helper()
	client.Close(b.now)
	server.Close(b.now)
	if !b.until(lingerProbe/2, func() bool { return client.Gone() && server.Gone() }) {
		b.t.Errorf("client: %v, %d bytes held; server: %v, %d bytes held", client.Gone(), client.Held(), server.Gone(), server.Held())
	}
	if x, y := client.Unsent(), server.Unsent(); x+y != 0 {
		b.t.Errorf("%d and %d bytes lost", x, y)
	}
	l.Close(b.now)
	b.clean()
}

// A long message of which its reader has taken the beginning is acknowledged with the rest when both
// ends close: with the least window hardly anything else waits, and each end holds something for which
// there is no room before that.
//
// Mutation it catches: ackUnread does not count a message that was read in part.
//
// Proves: socket.nagle
func TestCrossingCloseInMessage(t *testing.T) {
	b := newConnBed(t, false)
	client, server, l := b.pair(ConnConfig{Stream: true})
	ends, all := [2]*Conn{client, server}, make([]byte, 100000)
	write := func(c *Conn, size int) {
		t.Helper()
		if err := c.Write(b.now, text(size, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range ends {
		peer := ends[1-i]
		peer.flow.SetLimit(1)
		for _, window := c.Window(); window != 65; _, window = c.Window() {
			write(c, 60000)
			b.settle()
			peer.Read(b.now, all)
			b.settle()
		}
	}
	for _, c := range ends {
		write(c, 300)
		write(c, 300) // waits for the answer to the first
		write(c, 60000)
		for c.Write(b.now, text(300, 0)) == nil {
		}
	}
	b.settle()
	for _, c := range ends {
		c.Read(b.now, all[:700])
		if c.Held() == 0 || c.taken == 0 {
			t.Fatalf("%d bytes held, %d bytes of the first message read", c.Held(), c.taken)
		}
	}
	b.closeBoth(client, server, l)
}
