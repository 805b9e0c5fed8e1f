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
	x, y  *bedNode // the first two; the ends of what a test has between them
	lose  func(from int, b []byte) bool
	cut   func(from, to, bearer int) bool
	delay func(from, bearer int) time.Duration // nil: none; frames may overtake each other
	wire  []flight                             // by arrival
	lines []string                             // every frame, described
	taken func(from *bedNode)                  // nil: nobody asks; called after each NextFrame that gave one
	short func(node int) bool                  // nil: chunks are given; else asked, of a node's own ones: refused?
	seed  uint64                               // of the first node that grow adds
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

// newBed makes n nodes, 1001001 and on, with a bearer each.
func newBed(t testing.TB, n int, change ...func(*Config)) *bed {
	return (&bed{t: t}).grow(n, change...)
}

// grow adds n nodes.
func (b *bed) grow(n int, change ...func(*Config)) *bed {
	b.t.Helper()
	for range n {
		i := len(b.nodes)
		c := Config{Address: 0x1001001 + frame.NodeAddr(i)}
		for _, f := range change {
			f(&c)
		}
		b.add(c, b.seed+uint64(i))
	}
	return b
}

func (b *bed) add(c Config, seed uint64) *bedNode {
	b.t.Helper()
	n := b.bare(c, seed)
	b.attach(n, BearerConfig{MTU: 1500})
	return n
}

// bare makes a node without a bearer.
func (b *bed) bare(c Config, seed uint64) *bedNode {
	b.t.Helper()
	n := &bedNode{}
	b.begin(n, c, seed)
	switch b.nodes = append(b.nodes, n); len(b.nodes) {
	case 1:
		b.x = n
	case 2:
		b.y = n
	}
	return n
}

// begin makes a node's engine, with memory of its own unless that is given.
func (b *bed) begin(n *bedNode, c Config, seed uint64) {
	b.t.Helper()
	if c.Arena == nil {
		k := netdev.ArenaConfig{Small: 1024}
		if i := len(b.nodes); b.short != nil {
			k.Poison, k.Refuse = true, func(netdev.Use) bool { return !b.feeds && b.short(i) }
		}
		c.Arena = newArena(b.t, k)
	}
	c.Chance = NewSeeded(seed, 1)
	e, err := New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	n.Engine, n.arena, n.macs, n.events = e, c.Arena, nil, nil
}

// attach gives a node a bearer, named and addressed by its number.
func (b *bed) attach(n *bedNode, c BearerConfig) {
	b.t.Helper()
	id := len(n.macs)
	c.Name, c.MAC = cmp.Or(c.Name, fmt.Sprint("eth", id)), frame.MAC{2, 0, 0, 0, byte(id), byte(slices.Index(b.nodes, n) + 1)}
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
			if n.NamesReady() {
				n.names = n.TakeNameEvents(n.names)
			}
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
		b.feed(n, bearer, bytes)
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

// pass lets time pass.
func (b *bed) pass(d time.Duration) bool { return b.until(d, func() bool { return false }) }

// waitFor lets time pass until cond.
func (b *bed) waitFor(cond func() bool) {
	b.t.Helper()
	if !b.until(time.Minute, cond) {
		b.t.Fatalf("it does not happen; frames: %q", b.lines[max(0, len(b.lines)-40):])
	}
}

// inject gives a node a frame that no node sent.
func (b *bed) inject(n *bedNode, bytes []byte) { b.feed(n, 0, bytes) }

func (b *bed) feed(n *bedNode, bearer int, bytes []byte) {
	b.t.Helper()
	b.feeds = true
	f := n.arena.Get(len(bytes), netdev.Control)
	b.feeds = false
	if f == nil {
		b.t.Fatal("no chunk")
	}
	f.Resize(len(bytes))
	copy(f.Bytes(), bytes)
	n.HandleFrame(b.now, bearer, f)
	f.Recycle()
}

// wantFree checks that every chunk has come back.
func (b *bed) wantFree() {
	b.t.Helper()
	for i, n := range b.nodes {
		if n.arena.Free() != n.arena.Total() {
			b.t.Errorf("node %d: %d of %d chunks free", i, n.arena.Free(), n.arena.Total())
		}
	}
}

func (n *bedNode) knows(r frame.Range) bool {
	return n.table != nil && len(slices.Collect(n.table.Overlapping(r))) > 0
}
