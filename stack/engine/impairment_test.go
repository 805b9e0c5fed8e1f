// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// impaired is what a node was told of its links, and forgets it.
func (n *bedNode) impaired() (all []Event) {
	for _, ev := range n.events {
		if ev.Kind == LinkImpaired || ev.Kind == LinkRecovered {
			all = append(all, ev)
		}
	}
	n.events = nil
	return all
}

// shows is what the node's only link shows.
func (n *bedNode) shows(now time.Duration) Impairment {
	for s := range n.Peers(now) {
		return s.Impaired
	}
	return Unimpaired
}

// wantImpaired checks that a node was told of one change, and what its link shows.
func wantImpaired(t *testing.T, b *bed, n *bedNode, kind EventKind, what Impairment) Event {
	t.Helper()
	all, shown := n.impaired(), Unimpaired
	if kind == LinkImpaired {
		shown = what
	}
	if len(all) != 1 || all[0].Kind != kind || all[0].Fault != what || all[0].Link == "" || n.shows(b.now) != shown {
		t.Fatalf("node %v at %v: got %+v, its link shows %q; want one %q, %q", n.Address(), b.now, all, n.shows(b.now), kind, what)
	}
	return all[0]
}

func isGroup(f []byte) bool { return f[0]&1 != 0 }

// contact lets two nodes meet.
func contact(t *testing.T, b *bed) {
	t.Helper()
	up := func() bool { return b.nodes[0].ups == 1 && b.nodes[1].ups == 1 }
	if !b.until(5*time.Second, up) || b.pass(time.Second) {
		t.Fatal("no contact")
	}
	for _, n := range b.nodes {
		if all := n.impaired(); len(all) > 0 {
			t.Fatalf("got %+v of a healthy link", all)
		}
	}
}

// bind has a node say a name to all.
func (n *bedNode) bind(t *testing.T, now time.Duration, instance uint32) {
	t.Helper()
	r := frame.Service{Type: 18888, Instance: instance}.Range()
	if err := n.OpenPort(PortConfig{}).Bind(now, r, frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
}

// A switch that no longer passes multicast on: both ends say so after 10 s, before contact is
// given up, and again when it passes.
// Mutations: inspect does not look at castFrom, or castTo; look does not wait for impairedAfter.
//
// Proves: link.impaired
func TestMulticastEaten(t *testing.T) {
	b := newBed(t, 2)
	contact(t, b)
	x, y := b.nodes[0], b.nodes[1]
	b.lose = func(from int, f []byte) bool { return from == 0 && isGroup(f) }
	x.bind(t, b.now, 1)
	start := b.now
	told := func() bool { return x.shows(b.now) != Unimpaired && y.shows(b.now) != Unimpaired }
	if !b.until(20*time.Second, told) || b.now-start < 10*time.Second || b.now-start > 11*time.Second {
		t.Errorf("told after %v, want 10 s", b.now-start)
	}
	wantImpaired(t, b, x, LinkImpaired, MulticastOut)
	wantImpaired(t, b, y, LinkImpaired, MulticastIn)
	b.lose = nil
	if !b.until(3*time.Second, func() bool { return y.knows(frame.Range{Type: 18888, Lower: 1, Upper: 1}) }) {
		t.Error("the name does not arrive")
	}
	b.pass(time.Second)
	wantImpaired(t, b, x, LinkRecovered, MulticastOut)
	wantImpaired(t, b, y, LinkRecovered, MulticastIn)
}

// Where contact is given up earlier than after 10 s the stalls of several contacts add up.
// A node that broadcasts nothing for long after one is not told of, and time without contact
// does not count.
// Mutations: pause forgets the stall; look clears the sum at the start of one; lost does not
// pause.
func TestMulticastEatenOverSeveralContacts(t *testing.T) {
	b := newBed(t, 0)
	for i := range 2 {
		b.add(Config{Address: frame.NodeAddr(0x1001001 + i), Tolerance: 300 * time.Millisecond}, uint64(i))
	}
	contact(t, b)
	x, y := b.nodes[0], b.nodes[1]
	b.lose = func(from int, f []byte) bool { return from == 0 && isGroup(f) && len(b.wireMessage(f)) > 0 }
	x.bind(t, b.now, 1)
	lost := func() bool {
		return slices.ContainsFunc(y.events, func(ev Event) bool { return ev.Kind == PeerLost })
	}
	if !b.until(10*time.Second, lost) {
		t.Fatal("contact is not given up")
	}
	b.pass(30 * time.Second)
	if x.shows(b.now) != Unimpaired || y.shows(b.now) != Unimpaired || len(x.impaired())+len(y.impaired()) > 0 {
		t.Error("told of one short stall")
	}
	eaten := b.lose
	x.bind(t, b.now, 2)
	b.pass(time.Second)
	b.lose = func(int, []byte) bool { return true }
	b.pass(15 * time.Second)
	b.lose = eaten
	if !b.until(5*time.Second, func() bool { return y.ups == 1 }) {
		t.Fatal("no contact")
	}
	x.bind(t, b.now, 3)
	b.pass(time.Second)
	if len(x.impaired())+len(y.impaired()) > 0 {
		t.Error("told of time without contact")
	}
	for i := uint32(4); i < 40 && y.shows(b.now) == Unimpaired; i++ {
		x.bind(t, b.now, i)
		b.pass(time.Second)
	}
	if got := y.impaired(); len(got) != 1 || got[0].Fault != MulticastIn {
		t.Errorf("got %+v, want it told", got)
	}
}

// wireMessage is a packet of a broadcast link in a frame, empty for anything else.
func (b *bed) wireMessage(f []byte) []byte {
	m, err := frame.Parse(f[frame.EthernetLen:])
	if err != nil || !m.NonSeq() || m.User() == frame.UserDiscovery {
		return nil
	}
	return m.Bytes()
}

// A node that is not heard by its peer says so 10 s after it heard it: from the start, and
// when a link that worked becomes one-way. The peer, which hears nothing, says nothing.
// Mutations: neighbour does not call hear; answered tells nothing.
//
// Proves: link.impaired
func TestOneWayLink(t *testing.T) {
	b := newBed(t, 2)
	x, y := b.nodes[0], b.nodes[1]
	deaf := func(from int, _ []byte) bool { return from == 1 }
	for _, part := range []string{"from the start", "later"} {
		b.lose = deaf
		if part == "later" && !b.until(20*time.Second, func() bool { return y.ups == 0 }) {
			t.Fatal("the link stays up")
		}
		start := b.now
		told := func() bool { return y.shows(b.now) == OneWay }
		if !b.until(25*time.Second, told) || b.now-start < 8*time.Second || b.now-start > 17*time.Second {
			t.Errorf("%s: told after %v, want some 10 s", part, b.now-start)
		}
		wantImpaired(t, b, y, LinkImpaired, OneWay)
		if got := x.impaired(); len(got) > 0 {
			t.Errorf("%s: the peer says %+v", part, got)
		}
		b.lose = nil
		if !b.until(15*time.Second, func() bool { return y.ups == 1 && x.ups == 1 }) {
			t.Fatalf("%s: no contact", part)
		}
		wantImpaired(t, b, y, LinkRecovered, OneWay)
	}
}

// A peer with other links on the bearer announces itself once a minute, but repeats its RESET.
// Mutation: handleLink does not call hear.
func TestOneWayLinkToOneWithOthers(t *testing.T) {
	b := newBed(t, 3)
	x, y, z := b.nodes[0], b.nodes[1], b.nodes[2]
	met := func() bool { return x.ups == 2 && y.ups == 2 && z.ups == 2 }
	if !b.until(5*time.Second, met) || b.until(90*time.Second, func() bool { return !met() }) {
		t.Fatal("no contact")
	}
	y.impaired()
	b.lose = func(from int, _ []byte) bool { return from == 1 }
	start := b.now
	told := func() bool {
		return slices.ContainsFunc(y.events, func(ev Event) bool { return ev.Kind == LinkImpaired && ev.Fault == OneWay })
	}
	if !b.until(30*time.Second, told) {
		t.Errorf("not told after %v", b.now-start)
	}
}

// A link that comes up shortly after its peer was heard for long enough was never one-way: the
// other direction is back a moment later.
// Mutation: inspect does not wait for answerTime.
func TestAnswerInTimeIsNotOneWay(t *testing.T) {
	b := newBed(t, 2)
	x, y := b.nodes[0], b.nodes[1]
	b.lose = func(from int, _ []byte) bool { return from == 1 }
	ripe := func() bool {
		for _, n := range y.byAddr {
			for _, h := range n.heard {
				if h != nil && h.ripe {
					return true
				}
			}
		}
		return false
	}
	if !b.until(20*time.Second, ripe) {
		t.Fatal("the peer is not heard for long enough")
	}
	b.pass(answerTime / 2)
	b.lose = nil
	if !b.until(answerTime/2, func() bool { return x.ups == 1 && y.ups == 1 }) {
		t.Fatal("no contact in time")
	}
	b.pass(answerTime)
	for _, n := range b.nodes {
		if all := n.impaired(); len(all) > 0 {
			t.Errorf("got %+v", all)
		}
	}
}

// A cable that is out for a minute or two is no one-way link, however often it was heard
// just before and after. Mutation: heardFor is 0.
func TestCableOutIsNotOneWay(t *testing.T) {
	b := newBed(t, 2)
	contact(t, b)
	for _, out := range []time.Duration{5, 11, 30, 60, 120, 200} {
		b.lose = func(from int, _ []byte) bool { return true }
		if !b.until(10*time.Second, func() bool { return b.nodes[0].ups == 0 }) {
			t.Fatal("the link stays up")
		}
		one := b.now + time.Second // one direction works for a moment
		b.lose = func(from int, _ []byte) bool { return from == 0 || b.now > one }
		b.pass(out * time.Second)
		b.lose = nil
		if !b.until(20*time.Second, func() bool { return b.nodes[0].ups == 1 && b.nodes[1].ups == 1 }) {
			t.Fatal("no contact")
		}
		for _, n := range b.nodes {
			if all := n.impaired(); len(all) > 0 {
				t.Errorf("out for %d s: got %+v", out, all)
			}
		}
	}
}

// A path that carries less than the interfaces at its ends: the link fails as one of a kernel
// does, and comes back with packets that get through, at both ends. The end that sent them is
// told; an interface whose MTU is changed, or a peer that was silent, begins anew.
// Mutations: fail does not call suspectPath, or keeps the bound of a peer that was silent;
// sendReset announces ownMTU; SetMTU keeps the bound.
//
// Proves: link.impaired
func TestNarrowPath(t *testing.T) {
	for _, c := range []struct{ carries, bound, steps int }{{1450, 1400, 1}, {1300, 1280, 2}, {600, 576, 3}} {
		b := newBed(t, 2)
		contact(t, b)
		x, y := b.nodes[0], b.nodes[1]
		b.lose = func(_ int, f []byte) bool { return len(f) > frame.EthernetLen+c.carries }
		svc := frame.Service{Type: 18888, Instance: 17}
		y.bind(t, b.now, 17)
		send := func() {
			if err := x.OpenPort(PortConfig{}).SendService(b.now, svc, make([]byte, 4000)); err != nil {
				t.Fatal(err)
			}
		}
		for step := range c.steps {
			if !b.until(10*time.Second, func() bool { return x.knows(svc.Range()) }) {
				t.Fatalf("%d: step %d: no contact", c.carries, step)
			}
			send()
			if !b.until(20*time.Second, func() bool { return x.ups == 0 }) {
				t.Fatalf("%d: step %d: the link stands still", c.carries, step)
			}
		}
		if !b.until(10*time.Second, func() bool { return x.knows(svc.Range()) && y.ups == 1 }) {
			t.Fatalf("%d: no contact", c.carries)
		}
		before := y.Counters().MessagesIn
		send()
		if !b.until(2*time.Second, func() bool { return y.Counters().MessagesIn > before }) {
			t.Errorf("%d: the message does not arrive", c.carries)
		}
		if got := wantImpaired(t, b, x, LinkImpaired, NarrowPath).MTU; c.steps == 1 && got != c.bound {
			t.Errorf("%d: told of an MTU of %d, want %d", c.carries, got, c.bound)
		}
		for _, n := range b.nodes {
			for s := range n.Peers(b.now) {
				if s.MTU != c.bound {
					t.Errorf("%d: node %v has a link with an MTU of %d, want %d", c.carries, n.Address(), s.MTU, c.bound)
				}
			}
		}
		mtu := 1500
		if c.steps == 1 { // the peer is silent
			b.lose = func(int, []byte) bool { return true }
			if !b.until(10*time.Second, func() bool { return x.ups+y.ups == 0 }) {
				t.Fatalf("%d: the links stay up", c.carries)
			}
		} else {
			mtu = 1504
			for _, n := range b.nodes {
				n.SetMTU(b.now, 0, mtu)
			}
		}
		b.lose = nil
		if !b.until(20*time.Second, func() bool { return x.ups == 1 && y.ups == 1 }) {
			t.Fatalf("%d: no contact with another path", c.carries)
		}
		b.pass(time.Second)
		for _, n := range b.nodes {
			for s := range n.Peers(b.now) {
				if s.MTU != mtu {
					t.Errorf("%d: node %v has a link with an MTU of %d afterwards, want %d", c.carries, n.Address(), s.MTU, mtu)
				}
			}
		}
		wantImpaired(t, b, x, LinkRecovered, NarrowPath)
	}
}
