// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// holding makes n closed connections to the peer, of ports 6 and up, each with 100 bytes that
// wait for the window.
func holding(t *testing.T, n int) (b *nagleBed, all []*Conn) {
	b = &nagleBed{hostileBed: &hostileBed{scriptedPeer: newScriptedPeer(t, func(c *Config) {
		alone(c)
		var own []uint32
		for i := range n {
			own = append(own, uint32(6+i))
		}
		ports(own...)(c)
	}).up()}}
	for i := range n {
		c, err := b.Dial(b.now, ConnConfig{Stream: true}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
		if err != nil {
			t.Fatal(err)
		}
		port := uint32(6 + i)
		b.packet(conn(90, port, nil, ""))
		b.c = c
		b.write(5, 10)
		b.write(10, 10)
		b.packet(manager(90, port, func(f *frame.ConnFields) { f.Type, f.Acked, f.Window = frame.ConnAck, 3, 1 }))
		all = append(all, c)
		b.collect()
		b.report(nil)
	}
	return b, all
}

// What finds no place among the closed connections that still hold something ends at once, in
// a reset, and its owner knows. Places come back. Mutations: mayLinger looks at one of its
// four limits less; detach does not call endLinger.
func TestClosedConnectionsAreLimited(t *testing.T) {
	for name, fill := range map[string]func(all, own *lingerers){
		"connections":           func(all, _ *lingerers) { all.conns += maxLinger - 1 },
		"bytes":                 func(all, _ *lingerers) { all.bytes += maxLingerBytes - 100 },
		"connections to a node": func(_, own *lingerers) { own.conns += maxNodeLinger - 1 },
		"bytes for one node":    func(_, own *lingerers) { own.bytes += maxNodeBytes - 100 },
	} {
		b, all := holding(t, 3)
		fill(&b.conns.lingerers, &b.byAddr[popAddr].lingerers)
		b.first()
		all[0].Close(b.now)
		if got := b.first(); got != "" || all[0].Gone() || all[0].Unsent() != 0 {
			t.Errorf("%s: the last place: sent %q, %d unsent", name, got, all[0].Unsent())
		}
		all[1].Close(b.now)
		if got, want := b.first(), "data-critical/conn 7>90 error=no port bytes=0"; got != want || !all[1].Gone() || all[1].Unsent() != 100 {
			t.Errorf("%s: without a place: sent %q, want %q; %d unsent", name, got, want, all[1].Unsent())
		}
		if n := b.Counters().ClosedUnsent; n != 0 {
			t.Errorf("%s: %d bytes counted twice", name, n)
		}
		b.credit(1, 512, false)
		if got := b.first(); !all[0].Gone() {
			t.Errorf("%s: it is left, sent %q", name, got)
		}
		all[2].Close(b.now)
		if b.first(); all[2].Gone() {
			t.Errorf("%s: the place has not come back", name)
		}
		b.lose(b.now, b.byAddr[popAddr])
		b.done()
	}
}

// The owner of a closed connection hears of its end if it wants to, once. Mutation: release
// does not tell it.
func TestWatchClose(t *testing.T) {
	b, all := holding(t, 1)
	c := all[0]
	c.Close(b.now)
	c.WatchClose()
	if b.TakeReadyConns(nil); c.Gone() {
		t.Fatal("nothing waits")
	}
	b.credit(1, 512, false)
	if got := b.TakeReadyConns(nil); !slices.Contains(got, c) || !c.Gone() || c.Unsent() != 0 {
		t.Errorf("sent: told %v, gone %v", len(got), c.Gone())
	}
	if got := b.TakeReadyConns(nil); len(got) != 0 {
		t.Error("told twice")
	}
	if c.WatchClose(); c.watched {
		t.Error("there is nothing to watch")
	}
	b.drain()
	b.done()
}

// What is on the link when contact is lost, and not acknowledged, is counted where it belongs:
// for those who have the connection still, and for those who have not. Mutations: lost calls
// loseUnacked after Restart; connData opens no bundles, or no fragments.
func TestUnsentOnTheLink(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		count int // what is not acknowledged
	}{
		{"one", []int{10}, 10},
		{"in fragments", []int{10, 20000}, 20010},
		{"bundled, behind the window", slices.Repeat([]int{700}, 60), 60 * 700},
	} {
		b := newConnBed(t, false)
		x, y, l := b.pair(ConnConfig{})
		other, err := b.x.DialService(b.now, ConnConfig{}, service, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.settle()
		z, _ := l.Accept(b.now)
		b.settle()
		x.Write(b.now, []byte("acknowledged"))
		b.until(longTime, func() bool { return b.x.Unsent() == 0 })
		b.lose = func(from int, _ []byte) bool { return true }
		for _, n := range c.sizes {
			for _, c := range []*Conn{x, other} {
				if err := c.Write(b.now, text(n, 0)); err != nil {
					t.Fatal(err)
				}
			}
		}
		other.Close(b.now)
		if lost, underWay := b.x.UnsentBytes(); lost != 0 || underWay != uint64(2*c.count) {
			t.Errorf("%s: %d bytes lost and %d under way, want %d", c.name, lost, underWay, 2*c.count)
		}
		b.until(longTime, func() bool { return x.State() == Ended })
		if ended(x) != "contact with the peer's node lost, no node" || x.Unsent() != c.count || x.end.Unsent != c.count {
			t.Errorf("%s: %v, %d bytes unsent, want %d", c.name, ended(x), x.Unsent(), c.count)
		}
		if n := b.x.Counters().ClosedUnsent; n != uint64(c.count) {
			t.Errorf("%s: %d bytes lost after Close, want %d", c.name, n, c.count)
		}
		b.lose = nil
		for _, c := range []*Conn{x, y, z} {
			c.Close(b.now)
		}
		l.Close(b.now)
		b.clean()
	}
}

// What a failover has sent in pieces, or has no chunk to send now, is counted likewise.
// Mutations: unackedOn joins no pieces; Unsettled without what is to be moved.
func TestUnsentInFailover(t *testing.T) {
	for _, short := range []bool{false, true} {
		refuse, lost := false, false
		b := &connBed{bed: &bed{t: t}}
		b.short = func(node int) bool { return node == 0 && refuse }
		b.lose = func(from int, _ []byte) bool { return lost }
		for i, a := range []frame.NodeAddr{0x1001001, 0x1001002} {
			n := b.add(Config{Address: a}, uint64(i))
			b.attach(n, BearerConfig{MTU: 700, LinkConfig: LinkConfig{Priority: 5}})
		}
		b.x, b.y = b.nodes[0], b.nodes[1]
		b.until(longTime, func() bool {
			l := b.x.nodes
			return len(l) > 0 && l[0].links[1] != nil && l[0].links[0].IsUp() && l[0].links[1].IsUp()
		})
		x, y, l := b.pair(ConnConfig{})
		b.settle()
		b.until(longTime, func() bool { return b.x.Unsent() == 0 })
		lost = true
		const all = 1000 + 1200 + 20
		for _, n := range []int{1000, 1200, 20} {
			if err := x.Write(b.now, text(n, 0)); err != nil {
				t.Fatal(err)
			}
		}
		b.until(10*time.Millisecond, func() bool { return false })
		refuse = short
		b.x.SetMTU(b.now, 0, 0)
		b.until(10*time.Millisecond, func() bool { return false })
		if k := b.x.nodes[0].slots[0].Moving(); (k > 0) != short {
			t.Errorf("short of chunks %v: %d packets are to be moved", short, k)
		}
		if lost, underWay := b.x.UnsentBytes(); lost != 0 || underWay != all {
			t.Errorf("short of chunks %v: %d bytes lost and %d under way, want %d", short, lost, underWay, all)
		}
		refuse = false
		b.until(longTime, func() bool { return x.State() == Ended })
		if x.Unsent() != all {
			t.Errorf("short of chunks %v: %v, %d bytes unsent, want %d", short, ended(x), x.Unsent(), all)
		}
		lost = false
		for _, c := range []*Conn{x, y} {
			c.Close(b.now)
		}
		l.Close(b.now)
		b.clean()
	}
}
