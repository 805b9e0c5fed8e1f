// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// holding makes n closed connections to the peer, of ports 6 and up, each with 100 bytes that
// wait for the window.
func holding(t *testing.T, n int) (b *connPeer, all []*Conn) {
	b = &connPeer{scriptedPeer: newScriptedPeer(t, func(c *Config) {
		alone(c)
		var own []uint32
		for i := range n {
			own = append(own, uint32(6+i))
		}
		ports(own...)(c)
	}).up()}
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

// A message in several packets of which the peer has the first is lost as a whole.
// Mutation: the link keeps no packet of what the peer has in part.
func TestUnsentMessageInPart(t *testing.T) {
	b := newConnBed(t, false)
	x, y, l := b.pair(ConnConfig{})
	b.settle()
	b.until(longTime, func() bool { return b.x.Unsent() == 0 })
	b.lose = func(_ int, f []byte) bool { return isFragment(f, frame.LastFragment) }
	if err := x.Write(b.now, text(20000, 0)); err != nil {
		t.Fatal(err)
	}
	b.until(longTime, func() bool { return x.node.links[0].Unacked() == 1 })
	if lost, underWay := b.x.UnsentBytes(); lost != 0 || underWay != 20000 {
		t.Errorf("%d bytes lost and %d under way, want 20000", lost, underWay)
	}
	b.lose = func(int, []byte) bool { return true }
	b.until(longTime, func() bool { return x.State() == Ended })
	if x.Unsent() != 20000 || x.end.Unsent != 20000 {
		t.Errorf("%d bytes unsent, the end says %d, want 20000", x.Unsent(), x.end.Unsent)
	}
	b.lose = nil
	for _, c := range []*Conn{x, y} {
		c.Close(b.now)
	}
	l.Close(b.now)
	b.clean()
}

// isFragment reports whether a frame holds a packet of a message in several, of such a type.
func isFragment(f []byte, types ...frame.FragmentType) bool {
	m, err := frame.Parse(f[frame.EthernetLen:])
	if err != nil {
		return false
	}
	part, err := frame.ParseFragment(m)
	return err == nil && slices.Contains(types, part.Type())
}

// What the peer has taken behind a packet that it misses it has not delivered when contact is
// lost. Mutation: handleGap lets go of each packet that a block acknowledges.
func TestUnsentBehindAGap(t *testing.T) {
	b := newConnBed(t, false)
	x, y, l := b.pair(ConnConfig{})
	b.lose = func(_ int, frame []byte) bool { return bytes.Contains(frame, []byte("missing")) }
	sum := 0
	for _, msg := range []string{"missing", "first behind", "second behind"} {
		if err := x.Write(b.now, []byte(msg)); err != nil {
			t.Fatal(err)
		}
		sum += len(msg)
	}
	b.until(longTime, func() bool { return x.node.links[0].Unacked() == 1 })
	b.lose = func(int, []byte) bool { return true }
	b.until(longTime, func() bool { return x.State() == Ended })
	if x.Unsent() != sum || x.end.Unsent != sum {
		t.Errorf("%d bytes unsent, the end says %d, want %d", x.Unsent(), x.end.Unsent, sum)
	}
	b.lose = nil
	for _, c := range []*Conn{x, y} {
		c.Close(b.now)
	}
	l.Close(b.now)
	b.clean()
}

// What the peer has and cannot deliver is lost, too, where its link fails, and then the one that
// took over; where that one brings the rest, nothing is kept.
// Mutations: inherit takes over nothing; SendFailover lets go of what came early; letGoInherited
// lets go at once, or never.
func TestUndeliveredInFailover(t *testing.T) {
	for _, missing := range [][]frame.FragmentType{{frame.FirstFragment}, {frame.MiddleFragment, frame.LastFragment}} {
		for _, comes := range []bool{false, true} {
			b := newTwoLinkBed(t, nil, nil)
			x, y, l := b.pair(ConnConfig{})
			b.settle()
			b.until(longTime, func() bool { return b.x.Unsent() == 0 })
			b.lose = func(_ int, f []byte) bool { return isFragment(f, missing...) }
			all := 0
			for _, n := range []int{20000, 500} {
				if err := x.Write(b.now, text(n, 0)); err != nil {
					t.Fatal(err)
				}
				all += n
			}
			on := slices.IndexFunc(x.node.links[:], func(l *link) bool { return l != nil && l.Unacked() > 0 })
			left := 1
			if len(missing) > 1 {
				left = x.node.links[on].Unacked() - 2
			}
			b.until(longTime, func() bool { return x.node.links[on].Unacked() == left })
			if !comes { // but for the first packet, of several
				tunnelled := 0
				b.lose = func(from int, f []byte) bool {
					if frame.UserOf(f[frame.EthernetLen:]) == frame.UserTunnel {
						tunnelled++
					}
					return from == 0 && (tunnelled != 1 || len(missing) == 1)
				}
			}
			b.x.SetMTU(b.now, on, 0)
			if other := x.node.links[1-on]; !comes && len(missing) > 1 {
				n := other.Unacked()
				b.until(longTime, func() bool { return other.Unacked() < n })
			}
			if lost, underWay := b.x.UnsentBytes(); lost != 0 || underWay != uint64(all) {
				t.Errorf("%v is missing, come %v: %d bytes lost and %d under way, want %d", missing, comes, lost, underWay, all)
			}
			b.lose = nil
			if comes {
				b.until(longTime, func() bool { return y.Pending() == 2 && b.x.Unsent() == 0 })
				if lost, underWay := b.x.UnsentBytes(); lost != 0 || underWay != 0 {
					t.Errorf("%v has come: %d bytes lost and %d under way", missing, lost, underWay)
				}
			} else {
				b.x.SetMTU(b.now, 1-on, 0)
				b.until(longTime, func() bool { return x.State() == Ended })
				if x.Unsent() != all {
					t.Errorf("%v is missing, both links have failed: %d bytes unsent, want %d", missing, x.Unsent(), all)
				}
			}
			for _, c := range []*Conn{x, y} {
				c.Close(b.now)
			}
			l.Close(b.now)
			b.clean()
		}
	}
}

// What a failover has sent in pieces, or has no chunk to send now, is counted likewise.
// Mutations: unackedOn joins no pieces; Unsettled without what is to be moved.
func TestUnsentInFailover(t *testing.T) {
	for _, short := range []bool{false, true} {
		refuse, lost := false, false
		b := newTwoLinkBed(t, func(node int) bool { return node == 0 && refuse }, func(int, []byte) bool { return lost })
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
		b.pass(10 * time.Millisecond)
		refuse = short
		b.x.SetMTU(b.now, 0, 0)
		b.pass(10 * time.Millisecond)
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

// What is under way to a peer that has ended the connection is not lost: nobody would read it, and
// the end has said so; also when it is closed before contact is lost. Mutations: loseUnackedOn counts
// for a connection that has ended, or for one that was closed when it had ended; close does not note
// that; it does so for all.
func TestEndedByItsPeerLosesNothing(t *testing.T) {
	for _, closed := range []bool{false, true} {
		endedByItsPeer(t, closed)
	}
}

func endedByItsPeer(t *testing.T, closed bool) {
	b := newConnBed(t, false)
	x, y, l := b.pair(ConnConfig{})
	b.until(longTime, func() bool { return b.x.Unsent() == 0 })
	b.lose = func(from int, _ []byte) bool { return from == 0 }
	if err := x.Write(b.now, text(100, 0)); err != nil {
		t.Fatal(err)
	}
	y.Close(b.now)
	b.until(longTime, func() bool { return x.State() == Ended })
	if _, underWay := b.x.UnsentBytes(); underWay != 100 {
		t.Fatalf("%d bytes under way, want 100", underWay)
	}
	if closed {
		x.Close(b.now)
	}
	b.until(longTime, func() bool { return !b.x.nodes[0].links[0].IsUp() })
	if lost, underWay := b.x.UnsentBytes(); lost != 0 || underWay != 0 || x.Unsent() != 0 {
		t.Errorf("closed before: %v: %d bytes lost of closed connections, %d of the one that ended, %d under way; want none", closed, lost, x.Unsent(), underWay)
	}
	b.lose = nil
	x.Close(b.now)
	l.Close(b.now)
	b.clean()
}

// The ports of connections that had ended when they were closed are limited in number, and forgotten
// when the node has acknowledged all. Mutations: noteEnded without either.
func TestEndedPortsAreLimited(t *testing.T) {
	b := newConnBed(t, false)
	x, y, l := b.pair(ConnConfig{})
	b.until(longTime, func() bool { return b.x.Unsent() == 0 })
	n := b.x.nodes[0]
	b.lose = func(from int, _ []byte) bool { return from == 0 }
	if err := x.Write(b.now, text(100, 0)); err != nil {
		t.Fatal(err)
	}
	for range maxEnded + 1 {
		x.noteEnded()
	}
	if len(n.ended) != maxEnded {
		t.Errorf("%d are known, want %d", len(n.ended), maxEnded)
	}
	b.lose = nil
	b.until(longTime, func() bool { return b.x.Unsent() == 0 })
	if x.noteEnded(); len(n.ended) != 0 {
		t.Errorf("%d are known when nothing is under way", len(n.ended))
	}
	x.Close(b.now)
	y.Close(b.now)
	l.Close(b.now)
	b.clean()
}

// A node that leaves acknowledges what has come, so that its peer does not count that as lost.
// Mutation: Leave does not report.
func TestLeaveAcknowledges(t *testing.T) {
	b := newConnBed(t, false)
	x, _, _ := b.pair(ConnConfig{})
	b.until(longTime, func() bool { return b.x.Unsent() == 0 })
	if err := x.Write(b.now, text(100, 0)); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if _, underWay := b.x.UnsentBytes(); underWay != 100 {
		t.Fatalf("%d bytes under way, want 100", underWay)
	}
	b.y.Leave(b.now)
	b.until(longTime, func() bool { return x.State() == Ended })
	if x.Unsent() != 0 {
		t.Errorf("%d bytes are lost that the peer had received", x.Unsent())
	}
}
