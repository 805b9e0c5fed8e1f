// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// A bed is some engines on one perfect segment with a clock of its own.
type bed struct {
	t     testing.TB
	now   time.Duration
	nodes []*bedNode
	lose  func(from int, b []byte) bool
	cut   func(from, to, bearer int) bool
	delay func(from, bearer int) time.Duration // nil: none; frames may overtake each other
	wire  []flight                             // by arrival
	lines []string                             // every frame, described
	taken func(from *bedNode)                  // nil: nobody asks; called after each NextFrame that gave one
	short func(node int) bool                  // nil: chunks are given; else asked, of a node's own ones: refused?
	feeds bool                                 // the bed takes a chunk itself
}

// A flight is a frame on its way.
type flight struct {
	at           time.Duration
	from, bearer int
	bytes        []byte
}

type bedNode struct {
	*Engine
	arena  *netdev.Arena
	macs   []frame.MAC // by bearer; bearers of one number share a segment
	events []Event
	names  []naming.Event
}

func newBed(t testing.TB, addrs ...frame.NodeAddr) *bed {
	b := &bed{t: t}
	for i, a := range addrs {
		b.add(Config{Address: a}, uint64(i))
	}
	return b
}

func (b *bed) add(c Config, seed uint64) *bedNode {
	b.t.Helper()
	k := netdev.ArenaConfig{Small: 1024}
	if i := len(b.nodes); b.short != nil {
		k.Poison, k.Refuse = true, func(netdev.Use) bool { return !b.feeds && b.short(i) }
	}
	n := &bedNode{arena: newArena(b.t, k)}
	c.Arena, c.Chance = n.arena, NewSeeded(seed, 1)
	e, err := New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	n.Engine = e
	b.nodes = append(b.nodes, n)
	b.attach(n, BearerConfig{MTU: 1500})
	return n
}

// attach gives a node a bearer, named and addressed by its number.
func (b *bed) attach(n *bedNode, c BearerConfig) {
	b.t.Helper()
	id := len(n.macs)
	c.Name, c.MAC = fmt.Sprintf("eth%d", id), frame.MAC{2, 0, 0, 0, byte(id), byte(slices.Index(b.nodes, n) + 1)}
	n.macs = append(n.macs, c.MAC)
	if _, err := n.AddBearer(b.now, c); err != nil {
		b.t.Fatal(err)
	}
}

// settle carries frames until none are left, or they need time.
func (b *bed) settle() {
	for busy := true; busy; {
		busy = false
		for len(b.wire) > 0 && b.wire[0].at <= b.now {
			f := b.wire[0]
			b.wire = b.wire[1:]
			b.arrive(f.from, f.bearer, f.bytes)
			busy = true
		}
		for i, n := range b.nodes {
			for id := range n.macs {
				for f := n.NextFrame(id); f != nil; f = n.NextFrame(id) {
					busy = true
					if b.taken != nil {
						b.taken(n)
					}
					line, err := describe.Message(f.Bytes()[frame.EthernetLen:])
					if err != nil && err != frame.ErrEncrypted {
						b.t.Errorf("node %d sent %s", i, line)
					}
					b.lines = append(b.lines, line+fmt.Sprintf(" @%v over %d", b.now, id))
					if b.lose == nil || !b.lose(i, f.Bytes()) {
						b.carry(i, id, f.Bytes())
					}
					f.Release()
				}
			}
			for ev, ok := n.NextEvent(); ok; ev, ok = n.NextEvent() {
				n.events = append(n.events, ev)
			}
			n.names = n.TakeNameEvents(n.names)
		}
	}
}

// carry brings a frame to its station, now or later.
func (b *bed) carry(from, bearer int, data []byte) {
	if b.delay == nil {
		b.arrive(from, bearer, data)
		return
	}
	f := flight{b.now + b.delay(from, bearer), from, bearer, bytes.Clone(data)}
	i, _ := slices.BinarySearchFunc(b.wire, f.at+1, func(f flight, at time.Duration) int { return cmp.Compare(f.at, at) })
	b.wire = slices.Insert(b.wire, i, f)
}

func (b *bed) arrive(from, bearer int, bytes []byte) {
	eth, _, err := frame.ParseEthernet(bytes)
	if err != nil {
		b.t.Fatalf("node %d sent a frame that is none: %v", from, err)
	}
	for i, n := range b.nodes {
		if i == from || bearer >= len(n.macs) || !eth.Dst().IsGroup() && eth.Dst() != n.macs[bearer] || b.cut != nil && b.cut(from, i, bearer) {
			continue
		}
		b.feeds = true
		f := n.arena.Get(len(bytes), netdev.Control)
		b.feeds = false
		f.Resize(len(bytes))
		copy(f.Bytes(), bytes)
		n.HandleFrame(b.now, bearer, f)
		f.Recycle()
	}
}

// until lets time pass, deadline by deadline, until cond or for at most limit.
func (b *bed) until(limit time.Duration, cond func() bool) bool {
	end := b.now + limit
	for {
		b.settle()
		if cond() {
			return true
		}
		next := end
		for _, n := range b.nodes {
			next = min(next, n.Deadline())
		}
		if len(b.wire) > 0 {
			next = min(next, b.wire[0].at)
		}
		if next >= end {
			b.now = end
			return false
		}
		b.now = next
		for _, n := range b.nodes {
			n.HandleTimeout(b.now)
		}
	}
}

func (n *bedNode) knows(r frame.Range) bool {
	return n.table != nil && len(slices.Collect(n.table.Overlapping(r))) > 0
}

func TestTwoNodesExchangeByName(t *testing.T) {
	b := newBed(t, 0x1001001, 0x1001002)
	x, y := b.nodes[0], b.nodes[1]
	svc := frame.Service{Type: 18888, Instance: 17}
	py := y.OpenPort(PortConfig{})
	if err := py.Bind(b.now, svc.Range(), frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
	if !b.until(3*time.Second, func() bool { return x.knows(svc.Range()) }) {
		t.Fatalf("name did not arrive; frames: %q", b.lines)
	}
	px := x.OpenPort(PortConfig{})
	for i := range 500 {
		if err := px.SendService(b.now, svc, []byte{byte(i), byte(i >> 8)}); err != nil {
			t.Fatal(err)
		}
		b.settle()
	}
	var buf [16]byte
	for i := range 500 {
		n, r, ok := py.Read(buf[:])
		if !ok || n != 2 || int(buf[0])|int(buf[1])<<8 != i || r.From != px.Addr() {
			t.Fatalf("message %d: got %v %v %v", i, buf[:n], r, ok)
		}
	}
	y.nodes[0].links[0].SetTolerance(b.now, 400*time.Millisecond)
	b.lose = func(int, []byte) bool { return true }
	start := b.now
	if !b.until(3*time.Second, func() bool { return !x.knows(svc.Range()) }) {
		t.Fatal("a dead node's name stays")
	}
	t.Logf("lost after %v", b.now-start)
	b.lose = nil
	if !b.until(10*time.Second, func() bool {
		return x.knows(svc.Range()) && y.knows(frame.Range{Type: 0, Lower: 0x1001001, Upper: 0x1001001})
	}) {
		t.Fatalf("contact was not made again: %v %v %q", x.nodes[0].contact, y.nodes[0].contact, b.lines[len(b.lines)-30:])
	}
	b.until(5*time.Second, func() bool { return false })
	for i, n := range b.nodes {
		if n.arena.Free() != n.arena.Total() {
			t.Errorf("node %d: %d of %d chunks free", i, n.arena.Free(), n.arena.Total())
		}
	}
}

func TestTrial(t *testing.T) {
	b := newBed(t)
	id := frame.Identity{'a'}
	b.add(Config{Identity: id}, 7)
	b.until(2*time.Second, func() bool { return b.nodes[0].Address() != 0 })
	if got, want := b.now, time.Second+125*time.Millisecond; got > want || b.nodes[0].Address() != id.Hash() {
		t.Errorf("address %v after %v, want %v within %v", b.nodes[0].Address(), got, id.Hash(), want)
	}
}
