// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A nagleBed is an engine with one stream, of port 6 to the peer's port 90; the peer
// is the test.
type nagleBed struct {
	*hostileBed
	c *Conn
}

func newNagleBed(t testing.TB, k ConnConfig, change ...func(*Config)) *nagleBed {
	t.Helper()
	return nagleBedOf(newScriptedPeer(t, append(change, ports(6))...).up(), k)
}

// nagleBedOf is newNagleBed of a peer that is up.
func nagleBedOf(p *scriptedPeer, k ConnConfig) *nagleBed {
	p.t.Helper()
	b := &nagleBed{hostileBed: &hostileBed{scriptedPeer: p}}
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
func (b *nagleBed) write(times, n int) {
	b.t.Helper()
	for range times {
		if err := b.c.Write(b.now, text(n, 0)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// credit is the peer's acknowledgement; an answer has the bit.
func (b *nagleBed) credit(acked, window uint16, answer bool) {
	b.packet(manager(90, 6, func(f *frame.ConnFields) {
		f.Type, f.Acked, f.Window, f.NagleAck = frame.ConnAck, acked, window, answer
	}))
}

// got is what was sent: "5x10" five messages of 10 bytes, "10?" one that asks.
func (b *nagleBed) got() string {
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

func (b *nagleBed) want(what, want string) {
	b.t.Helper()
	if got := b.got(); got != want {
		b.t.Errorf("%s: sent %q, want %q", what, got, want)
	}
}
