// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// chain is three nodes with a range each, of which the second overlaps the first and the third. The
// second is cut off while they bind; then apart says what is cut, and what the first sends takes longer, so that
// the third hears of the second before that gives way.
func chain(t *testing.T, apart func(from, to int) bool) (b *bed, ports [3]*Port) {
	b = newBed(t, 3)
	b.cut = func(from, to, _ int) bool { return from == 1 || to == 1 }
	b.pass(longTime)
	for i, n := range b.nodes {
		ports[i] = n.OpenPort(PortConfig{})
		ports[i].Owner = ports[i]
		if err := ports[i].bindAlone(b.now, frame.Range{Type: 100, Lower: uint32(10 * i), Upper: uint32(10*i + 10)}); err != nil {
			t.Fatal(err)
		}
	}
	b.pass(time.Second)
	b.delay = func(from, _ int) time.Duration { return time.Duration(1-min(from, 1)) * 30 * time.Millisecond }
	b.cut = func(from, to, _ int) bool { return apart(from, to) }
	b.waitFor(func() bool { return b.nodes[2].ups == 2 })
	return b, ports
}

// Of three ranges in a chain that come together, the second gives way to the first, and the third keeps its
// own.
func TestExclusiveChain(t *testing.T) {
	b, p := chain(t, func(int, int) bool { return false })
	b.pass(longTime)
	if lost := p[1].Lost(); lost == nil || lost.By != p[0].Addr() {
		t.Errorf("the second has lost: %v", lost)
	}
	for _, i := range []int{0, 2} {
		if lost := p[i].Lost(); lost != nil || len(p[i].Bindings()) != 1 {
			t.Errorf("range %d has lost: %v, bound to %v", i, lost, p[i].Bindings())
		}
	}
	if x := &b.nodes[2].exclusive; len(x.spared) > 0 || x.look.isSet() {
		t.Errorf("spared still: %v", x.spared)
	}
}

// Where the second never hears of the first, the third waits no longer than spareTime, and one that has not
// settled its name does not wait at all; nor does one whose rivals are too many to look at.
//
// Mutations it catches: contest spares nobody; spare sets no alarm; contest does not look at settled; givesWay says
// always no.
func TestExclusiveChainIsNotWaitedForForever(t *testing.T) {
	b, p := chain(t, func(from, to int) bool { return from+to == 1 })
	if lost := p[2].Lost(); lost != nil {
		t.Fatalf("lost at once: %v", lost)
	}
	b.pass(spareTime + time.Second)
	if lost := p[2].Lost(); lost == nil || lost.By != p[1].Addr() {
		t.Errorf("lost %v, bound to %v", lost, p[2].Bindings())
	}

	s := newScriptedPeer(t, func(c *Config) { c.Address = 0x1001009 }) // the peer's go before its own
	s.joinAs(uint8(Exclusive))
	own := s.OpenPort(PortConfig{})
	name := frame.Range{Type: 200, Lower: 20, Upper: 20}
	theirs := frame.Range{Type: 200, Lower: 10, Upper: 20}
	rival := frame.NameItem{Range: theirs, Port: 5, Key: exclusiveKey(theirs, frame.SocketAddr{Port: 5, Node: s.addr})}
	before := s.OpenPort(PortConfig{})
	for _, c := range []struct {
		what    string
		settled bool
		plain   frame.Scope // of a binding of this node that goes before the rival; 0: none
		lost    bool
	}{
		{"nothing goes before the rival", true, 0, true},
		{"settled", true, frame.ClusterScope, false},
		{"what goes before it nobody else knows", true, frame.NodeScope, true},
		{"not settled", false, frame.ClusterScope, true},
	} {
		h, err := own.BindExclusive(s.now, name)
		if err != nil {
			t.Fatal(err)
		}
		if c.settled {
			h.Settle()
		}
		if c.plain != 0 {
			if err := before.Bind(s.now, frame.Range{Type: 200, Lower: 10, Upper: 10}, c.plain); err != nil {
				t.Fatal(err)
			}
		}
		s.applyName(s.now, s.Engine.peer(s.addr), rival, false)
		s.giveWay(s.now)
		if got := len(own.Bindings()) == 0; got != c.lost {
			t.Errorf("%s: lost %v", c.what, got)
		}
		s.applyName(s.now, s.Engine.peer(s.addr), rival, true)
		own.Unbind(s.now, name, 0)
		before.Unbind(s.now, frame.Range{Type: 200, Lower: 10, Upper: 10}, c.plain)
	}
	many := s.OpenPort(PortConfig{})
	for i := range uint32(mostRivals + 1) {
		if err := many.bindAlone(s.now, frame.Range{Type: 300, Lower: i, Upper: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := before.Bind(s.now, frame.Range{Type: 300, Lower: 1000, Upper: 1000}, 0); err != nil {
		t.Fatal(err)
	}
	rival.Range = frame.Range{Type: 300, Upper: 1000}
	rival.Key = exclusiveKey(rival.Range, frame.SocketAddr{Port: 5, Node: s.addr})
	s.applyName(s.now, s.Engine.peer(s.addr), rival, false)
	if s.giveWay(s.now); len(many.Bindings()) != 0 {
		t.Errorf("with more rivals than are looked at %d names stay", len(many.Bindings()))
	}
}

// Of four in a chain the third keeps its range, as the second gives way, and the fourth gives way to it.
func TestExclusiveChainOfFour(t *testing.T) {
	c := newPeers(t, 1, 2, func(c *Config) { c.Address = 0x1001009 })
	names := func(i int, r frame.Range) {
		n := c.node(i)
		n.version = uint8(Exclusive)
		c.applyName(c.now, n, frame.NameItem{Range: r, Port: 5, Key: exclusiveKey(r, frame.SocketAddr{Port: 5, Node: n.addr})}, false)
		c.giveWay(c.now)
	}
	first, fourth := c.OpenPort(PortConfig{}), c.OpenPort(PortConfig{})
	if err := first.Bind(c.now, frame.Range{Type: 200, Upper: 10}, 0); err != nil {
		t.Fatal(err)
	}
	if err := fourth.bindAlone(c.now, frame.Range{Type: 200, Lower: 30, Upper: 40}); err != nil {
		t.Fatal(err)
	}
	names(0, frame.Range{Type: 200, Lower: 10, Upper: 20})
	names(1, frame.Range{Type: 200, Lower: 20, Upper: 30})
	if fourth.Lost() == nil {
		t.Errorf("it has %v still", fourth.Bindings())
	}
}

// What contest looks at counts as work, so that a peer's names are taken in parts where they meet many of
// this node.
//
// Mutation it catches: contest counts nothing.
func TestContestCountsAsWork(t *testing.T) {
	p := newScriptedPeer(t)
	p.joinAs(0)
	own := p.OpenPort(PortConfig{})
	const names = 30
	for i := range uint32(names) {
		if err := own.bindAlone(p.now, frame.Range{Type: 100, Lower: i, Upper: i}); err != nil {
			t.Fatal(err)
		}
	}
	p.work.done = 0
	p.applyName(p.now, p.Engine.peer(p.addr), nameItem(100, 0, names, 5), false)
	if got := p.work.done; got < names {
		t.Errorf("counted %d, want at least %d", got, names)
	}
}

// A name that was lost before it was settled, and was given back, is not what settling of another name
// says.
//
// Mutation it catches: Unbind leaves what was refused.
func TestExclusiveRefusedAndGivenBack(t *testing.T) {
	p := newScriptedPeer(t)
	own, other := p.OpenPort(PortConfig{}), p.OpenPort(PortConfig{})
	if _, err := own.BindExclusive(p.now, aName); err != nil {
		t.Fatal(err)
	}
	if err := other.Bind(p.now, aName, 0); err != nil {
		t.Fatal(err)
	}
	if err := own.Unbind(p.now, aName, 0); err != nil {
		t.Errorf("the name that was refused: %v", err)
	}
	if _, err := own.BindExclusive(p.now, frame.Range{Type: 200}); err != nil {
		t.Fatal(err)
	}
	if err := own.SettleNames(); err != nil {
		t.Errorf("settled: %v", err)
	}
}
