// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// aName is what the tests bind.
var aName = frame.Range{Type: 100, Lower: 7, Upper: 7}

// bindAlone is BindExclusive that is settled at once.
func (p *Port) bindAlone(now time.Duration, r frame.Range) error {
	c, err := p.BindExclusive(now, r)
	if err == nil {
		err = c.Settle()
	}
	return err
}

// holders are who is bound to a range, as a node knows it.
func (n *bedNode) holders(r frame.Range) (all []frame.SocketAddr) {
	for b := range n.table.Live(r) {
		all = append(all, b.Socket)
	}
	return all
}

// wantAlone checks that all nodes know the one socket that is bound to the name.
func (b *bed) wantAlone(what string, p *Port) {
	b.t.Helper()
	for i, n := range b.nodes {
		if got := n.holders(aName); !slices.Equal(got, []frame.SocketAddr{p.Addr()}) {
			b.t.Errorf("%s: node %d knows %v, want %v", what, i, got, p.Addr())
		}
	}
}

// meet lets time pass until all nodes have met.
func (b *bed) meet() {
	b.t.Helper()
	b.waitFor(func() bool {
		for _, n := range b.nodes {
			if n.ups != len(b.nodes)-1 {
				return false
			}
		}
		return true
	})
	b.pass(time.Second)
}

// Of three nodes that bind a name exclusively before they have heard of each other, the socket on
// the lowest node has it in the end, all nodes know it alone, and the others are told who has
// it, once each; 200 seeds of who binds when, and with what delays.
//
// Mutations it catches: the rule is turned round; the loser's
// binding is not withdrawn, or not among its own; contest is not called for what comes from others;
// TakeLost forgets nothing; the key says nothing.
func TestExclusiveRace(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		b := newBed(t, 3)
		b.delay = func(int, int) time.Duration { return time.Duration(1+r.Int64N(2000)) * time.Microsecond }
		b.meet()
		var ports []*Port
		for range 1 + r.IntN(2) {
			for _, n := range b.nodes {
				p := n.OpenPort(PortConfig{})
				p.Owner = p
				ports = append(ports, p)
			}
		}
		r.Shuffle(len(ports), func(i, j int) { ports[i], ports[j] = ports[j], ports[i] })
		var bound []*Port
		for _, p := range ports {
			err := p.bindAlone(b.now, aName)
			switch {
			case err == nil:
				bound = append(bound, p)
			case !errors.Is(err, ErrNameTaken):
				t.Fatal(err)
			}
			b.pass(time.Duration(r.Int64N(800)) * time.Microsecond)
		}
		b.pass(time.Second)
		first := slices.MinFunc(bound, func(x, y *Port) int {
			if before(x.Addr(), y.Addr()) {
				return -1
			}
			return 1
		})
		b.wantAlone(fmt.Sprint("seed ", seed), first)
		told := 0
		for _, n := range b.nodes {
			told += len(n.TakeLost(nil))
			if again := n.TakeLost(nil); len(again) > 0 {
				t.Errorf("seed %d: told again %v", seed, again)
			}
		}
		if told != len(bound)-1 {
			t.Errorf("seed %d: %d are told, of %d that were bound", seed, told, len(bound))
		}
		for _, p := range bound {
			lost := p.Lost()
			if p == first {
				if lost != nil || len(p.Bindings()) != 1 {
					t.Errorf("seed %d: the first has lost: %v", seed, lost)
				}
				continue
			}
			if lost == nil || !lost.Exclusive || !lost.Lost || lost.Name != aName || len(p.Bindings()) != 0 || !before(lost.By, p.Addr()) {
				t.Errorf("seed %d: %v has %v, %v", seed, p.Addr(), lost, p.Bindings())
			}
		}
		if t.Failed() {
			return
		}
	}
}

// Two partitions, in each of which a name is bound exclusively, heal: the lower node keeps it. When
// that is cut off for good the name is free.
//
// Mutation it catches: bindings that come in bulk are not looked at.
func TestExclusiveHeals(t *testing.T) {
	b := newBed(t, 4)
	apart := true
	b.cut = func(from, to, _ int) bool { return apart && from/2 != to/2 }
	b.pass(5 * time.Second)
	low, high := b.nodes[1].OpenPort(PortConfig{}), b.nodes[2].OpenPort(PortConfig{})
	for _, p := range []*Port{high, low} {
		if err := p.bindAlone(b.now, aName); err != nil {
			t.Fatal(err)
		}
	}
	b.pass(time.Second)
	if low.Lost() != nil || high.Lost() != nil {
		t.Fatalf("lost %v, %v", low.Lost(), high.Lost())
	}
	apart = false
	b.meet()
	b.wantAlone("healed", low)
	if got := high.Lost(); got == nil || got.By != low.Addr() {
		t.Errorf("the higher node has lost: %v", got)
	}
	if err := high.bindAlone(b.now, aName); !errors.Is(err, ErrNameTaken) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v", err)
	}
	b.cut = func(from, to, _ int) bool { return from == 1 || to == 1 }
	b.waitFor(func() bool { return b.nodes[2].ups == 2 && b.nodes[0].ups == 2 && b.nodes[3].ups == 2 })
	if err := high.bindAlone(b.now, aName); err != nil {
		t.Errorf("the name of a node that is lost: %v", err)
	}
	if high.Lost() != nil {
		t.Errorf("lost still %v", high.Lost())
	}
}

// A binding that is not exclusive, of a kernel, of an older version or of an own socket, of whatever
// scope, goes before an exclusive one; so does an exclusive one of a lower node, and one of a higher node not.
// What comes from others is what the key says only of nodes that have Exclusive.
//
// Mutations it catches: has(Exclusive) is not asked; the key of the range, or of the socket, is not
// looked at; contest is not called for own bindings; those that only touch the range count.
func TestExclusiveGivesWay(t *testing.T) {
	theirs := func(node frame.NodeAddr, r frame.Range) frame.NameItem {
		return frame.NameItem{Range: r, Port: 5, Key: exclusiveKey(r, frame.SocketAddr{Port: 5, Node: node})}
	}
	wide := frame.Range{Type: 100, Lower: 1, Upper: 7}
	for _, c := range []struct {
		name    string
		version uint8
		item    func(p *scriptedPeer) frame.NameItem
		lost    bool
		excl    bool
	}{
		{"a kernel's", 0, func(*scriptedPeer) frame.NameItem { return nameItem(100, 7, 7, 5) }, true, false},
		{"a kernel's with the mark", 0, func(p *scriptedPeer) frame.NameItem { return theirs(p.addr, aName) }, true, false},
		{"an older version's", uint8(Exclusive) - 1, func(p *scriptedPeer) frame.NameItem { return theirs(p.addr, aName) }, true, false},
		{"plain", uint8(Exclusive), func(*scriptedPeer) frame.NameItem { return nameItem(100, 7, 7, 5) }, true, false},
		{"plain, wide", uint8(Exclusive), func(*scriptedPeer) frame.NameItem { return nameItem(100, 0, 9, 5) }, true, false},
		{"plain, beside it", uint8(Exclusive), func(*scriptedPeer) frame.NameItem { return nameItem(100, 8, 9, 5) }, false, false},
		{"exclusive", uint8(Exclusive), func(p *scriptedPeer) frame.NameItem { return theirs(p.addr, aName) }, popAddr < ownAddr, true},
		{"exclusive, wide", uint8(Exclusive) + 1, func(p *scriptedPeer) frame.NameItem { return theirs(p.addr, wide) }, popAddr < ownAddr, true},
		{"with the key of another range", uint8(Exclusive), func(p *scriptedPeer) frame.NameItem {
			it := theirs(p.addr, aName)
			it.Range = wide
			return it
		}, true, false},
		{"with the key of another socket", uint8(Exclusive), func(p *scriptedPeer) frame.NameItem {
			it := theirs(p.addr, aName)
			it.Port = 6
			return it
		}, true, false},
	} {
		p := newScriptedPeer(t)
		p.joinAs(c.version)
		own := p.OpenPort(PortConfig{})
		own.Owner = own
		if err := own.bindAlone(p.now, aName); err != nil {
			t.Fatal(err)
		}
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, c.item(p)))
		if lost := own.Lost(); (lost != nil) != c.lost || lost != nil && lost.Exclusive != c.excl {
			t.Errorf("%s: lost %+v", c.name, lost)
		}
		if got := len(p.TakeLost(nil)) == 1; got != c.lost || len(own.Bindings()) == 1 == c.lost {
			t.Errorf("%s: told %v, bound %v", c.name, got, own.Bindings())
		}
	}
	for _, scope := range []frame.Scope{frame.ClusterScope, frame.NodeScope} {
		p := newScriptedPeer(t)
		own, other := p.OpenPort(PortConfig{}), p.OpenPort(PortConfig{})
		if err := errors.Join(own.bindAlone(p.now, aName), other.Bind(p.now, wide, scope)); err != nil {
			t.Fatal(err)
		}
		if lost := own.Lost(); lost == nil || lost.By != other.Addr() {
			t.Errorf("scope %v: lost %v", scope, lost)
		}
		if err := own.bindAlone(p.now, aName); !errors.Is(err, ErrNameTaken) {
			t.Errorf("scope %v: got %v", scope, err)
		}
	}
}

// A socket that has lost a name is told until it binds, or unbinds that; a name that was unbound, or
// whose socket is closed, is free at once, and nothing gives way for it.
//
// Mutations it catches: Bind, Unbind or Close leave Lost as it was; Unbind of a lost name is an error;
// what was withdrawn is held still; the owner of a closed socket is told.
func TestExclusiveUnbind(t *testing.T) {
	p := newScriptedPeer(t)
	own, other := p.OpenPort(PortConfig{}), p.OpenPort(PortConfig{})
	lose := func() {
		t.Helper()
		if err := errors.Join(own.bindAlone(p.now, aName), other.Bind(p.now, aName, 0), other.Unbind(p.now, aName, 0)); err != nil || own.Lost() == nil {
			t.Fatal(err, own.Lost())
		}
	}
	lose()
	if err := own.Unbind(p.now, aName, 0); err != nil || own.Lost() != nil {
		t.Errorf("unbind: %v, %v", err, own.Lost())
	}
	if err := own.Unbind(p.now, aName, 0); err != ErrNotBound {
		t.Errorf("unbind again: %v", err)
	}
	lose()
	if err := own.Bind(p.now, frame.Range{Type: 200}, 0); err != nil || own.Lost() != nil {
		t.Errorf("bind: %v, %v", err, own.Lost())
	}
	if err := errors.Join(own.bindAlone(p.now, aName), own.Unbind(p.now, aName, 0), other.bindAlone(p.now, aName)); err != nil {
		t.Errorf("a name that is free: %v", err)
	}
	other.Close(p.now)
	p.TakeLost(nil)
	third := p.OpenPort(PortConfig{})
	if err := errors.Join(own.bindAlone(p.now, aName), third.Bind(p.now, aName, 0)); err != nil {
		t.Fatal(err)
	}
	own.Close(p.now)
	if x := &p.exclusive; len(x.held)+len(x.lost)+len(x.giving) != 0 || len(p.TakeLost(nil)) != 0 {
		t.Errorf("left %+v", x)
	}
}

// BindExclusive fails as Bind does, and no plain binding has a key that says it is exclusive.
//
// Mutations it catches: a check of Bind is left out; the key is drawn once.
func TestExclusiveErrors(t *testing.T) {
	p := newScriptedPeer(t, func(c *Config) { c.Chance = &sameKey{Chance: c.Chance} })
	own := p.OpenPort(PortConfig{})
	for _, c := range []struct {
		r    frame.Range
		want error
	}{
		{frame.Range{Type: 63}, ErrReserved},
		{frame.Range{Type: 100, Lower: 2, Upper: 1}, ErrRange},
	} {
		if err := own.bindAlone(p.now, c.r); err != c.want {
			t.Errorf("%v: got %v, want %v", c.r, err, c.want)
		}
	}
	p.cfg.Chance.(*sameKey).keys = []uint32{exclusiveKey(aName, own.Addr()), 12}
	if err := own.Bind(p.now, aName, 0); err != nil || own.Bindings()[0].Key != 12 {
		t.Errorf("%v, %+v", err, own.Bindings())
	}
	own.Close(p.now)
	if err := own.bindAlone(p.now, aName); err != ErrClosed {
		t.Errorf("closed: got %v", err)
	}
	for _, c := range []struct {
		err  NameTakenError
		want string
	}{
		{NameTakenError{Name: aName, By: frame.SocketAddr{Node: 0x1001002, Port: 9}}, "100:7 is taken: socket <1001002:9> is bound to it, not exclusively (who is? utipc nametable show)"},
		{NameTakenError{Name: aName, By: frame.SocketAddr{Node: 0x1001002, Port: 9}, Exclusive: true, Lost: true}, "100:7 was withdrawn here: socket <1001002:9> is bound to it, exclusively (who is? utipc nametable show)"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A sameKey is a Chance that draws given keys first.
type sameKey struct {
	Chance
	keys []uint32
}

func (s *sameKey) Key(port uint32) uint32 {
	if len(s.keys) == 0 {
		return s.Chance.Key(port)
	}
	k := s.keys[0]
	s.keys = s.keys[1:]
	return k
}

// A name that is lost before it is settled is what Settle returns, and the socket is not said to have
// lost one.
//
// Mutations it catches: the owner is told of it; Settle says nothing; a name is settled from the start.
func TestExclusiveSettles(t *testing.T) {
	p := newScriptedPeer(t)
	own, other := p.OpenPort(PortConfig{}), p.OpenPort(PortConfig{})
	c, err := own.BindExclusive(p.now, aName)
	if err = errors.Join(err, other.Bind(p.now, aName, 0)); err != nil {
		t.Fatal(err)
	}
	var taken *NameTakenError
	if err := c.Settle(); !errors.As(err, &taken) || taken.By != other.Addr() {
		t.Errorf("settled: %v", err)
	}
	if len(p.TakeLost(nil)) != 0 || own.Lost() != nil || len(own.Bindings()) != 0 {
		t.Errorf("lost %v, bound %v", own.Lost(), own.Bindings())
	}
}

// A binding gives way once, however many go before it in one message of names: what a message may
// have a node note is limited by the node's own names.
//
// Mutation it catches: contest notes each pair.
func TestExclusiveGivesWayOnce(t *testing.T) {
	p := newScriptedPeer(t)
	p.joinAs(0)
	const names, items = 20, 30
	own := p.OpenPort(PortConfig{})
	for i := range uint32(names) {
		if err := own.bindAlone(p.now, frame.Range{Type: 100, Lower: i, Upper: i}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint32(items) {
		it := nameItem(100, 0, 1<<32-1, 5)
		it.Key += i
		if !p.applyName(p.now, p.Engine.peer(p.addr), it, false) {
			t.Fatal("a name is not taken")
		}
	}
	if got := len(p.exclusive.giving); got != names {
		t.Errorf("%d are to give way, want %d", got, names)
	}
	if p.giveWay(p.now); len(own.Bindings()) != 0 || own.Lost() == nil {
		t.Errorf("it has %d names still", len(own.Bindings()))
	}
}
