// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// What its owner has read for nobody goes back with the end of a connection, cut, and instead of what
// waits in it; spec 07 §4.6. Mutations it catches: returnUnread does not look for it; keepBack keeps all of
// it; release does not drop it; Returned reports it.
func TestConnUnread(t *testing.T) {
	for _, c := range []struct {
		name   string
		unread int
		want   string
	}{
		{"nothing", 0, "data-low/conn 6>90 error=no port bytes=5"},
		{"some", 100, "data-low/conn 6>90 error=no port bytes=100"},
		{"much", 5000, "data-low/conn 6>90 error=no port bytes=1024"},
	} {
		b := newStreamPeer(t, ConnConfig{})
		b.packet(conn(90, 6, nil, "waits"))
		b.c.Unread([]byte(strings.Repeat("x", c.unread)))
		if got := b.c.Returned(); got != "" {
			t.Errorf("%s: %q came back", c.name, got)
		}
		b.c.Abort(b.now)
		if got := b.first(); got != c.want {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.want)
		}
		if b.c.goesBack() != "" || !b.c.Gone() {
			t.Errorf("%s: something is left", c.name)
		}
		b.done()
	}
}

// What comes back with the end of a connection, which may be early, is kept until Close, cut, and counts;
// without room, and from others, it is not. Mutations it catches: peerEnded, or an early end, drops it;
// keepReturned looks for no room; keepBack keeps all; charge does not count it.
func TestConnReturned(t *testing.T) {
	end := func(from uint32, n int) []byte {
		return conn(from, 6, code(frame.ConnShutdown), strings.Repeat("x", n))
	}
	ack := manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Window = frame.ConnAck, 512 })
	for _, c := range []struct {
		name  string
		room  int
		do    func(b *connPeer)
		want  int
		state ConnState
	}{
		{"nothing", 1 << 20, func(b *connPeer) { b.packet(end(90, 0)) }, 0, Ended},
		{"some", 1 << 20, func(b *connPeer) { b.packet(end(90, 10)) }, 10, Ended},
		{"as much as may be", frame.MaxReturned, func(b *connPeer) { b.packet(end(90, frame.MaxReturned)) }, frame.MaxReturned, Ended},
		{"more", 1 << 20, func(b *connPeer) { b.packet(end(90, frame.MaxReturned+1)) }, frame.MaxReturned, Ended},
		{"no room", frame.MaxReturned - 1, func(b *connPeer) { b.packet(end(90, frame.MaxReturned)) }, 0, Ended},
		{"of another", 1 << 20, func(b *connPeer) { b.packet(end(91, 10)) }, 0, Established},
		{"twice", 1 << 20, func(b *connPeer) { b.packet(end(90, 10)); b.packet(end(90, 20)) }, 10, Ended},
		{"early", 1 << 20, func(b *connPeer) {
			b.packet(bundle(nil, ack, end(90, 10)))
			if got := b.c.Returned(); got != "" {
				b.t.Errorf("%d bytes before the end", len(got))
			}
			b.report(func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, b.seq })
		}, 10, Ended},
	} {
		a := NewAccount(AccountConfig{Limit: c.room})
		b := newStreamPeer(t, ConnConfig{Account: a})
		before := a.Stats().Held
		c.do(b)
		if got := len(b.c.Returned()); got != c.want || b.c.State() != c.state {
			t.Errorf("%s: %d bytes came back, %v; want %d, %v", c.name, got, b.c.State(), c.want, c.state)
		}
		if got := a.Stats().Held - before; got != c.want {
			t.Errorf("%s: the account holds %d bytes more, want %d", c.name, got, c.want)
		}
		b.collect()
		b.sent = nil
		b.c.Close(b.now)
		if got := len(b.c.Returned()); got != 0 || a.Stats().Held != 0 {
			t.Errorf("%s: closed: %d bytes, the account holds %d", c.name, got, a.Stats().Held)
		}
		b.collect()
		b.sent = nil
		b.done()
	}
}
