// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// badUpdate gives a scripted peer's engine an update with one sound name, {100,1,1}, behind what
// a test puts before it, and wants the engine to take only that.
func badUpdate(t *testing.T, what string, bad func(*frame.NamesFields), drops string, items ...frame.NameItem) {
	t.Helper()
	p := newScriptedPeer(t).up()
	p.packet(p.names(func(f *frame.NamesFields) {
		f.UpdateSeq = 1
		if bad != nil {
			bad(f)
		}
	}, append(items, nameItem(100, 1, 1, 5))...))
	var want []string
	if bad == nil {
		want = []string{"100:1-1=5/6"}
	}
	wantLines(t, what, p.learned(), want...)
	p.wantDrops(what, drops)
	if ev, ok := p.NextEvent(); !ok || ev.Kind != BadNames || ev.Node != popAddr || ev.Count != 1 {
		t.Errorf("%s: got event %v, want one of refused names", what, ev)
	}
	if !p.byAddr[popAddr].up() {
		t.Errorf("%s: contact is lost", what)
	}
	if bad == nil { // its number is spent
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 2 }, nameItem(100, 2, 2, 5)))
		wantLines(t, what+", the next", p.learned(), "100:1-1=5/6", "100:2-2=5/6")
	}
	p.done()
}

// Proves: names.hostile
func TestInvertedRangeFromPeer(t *testing.T) {
	const one = "name items that break a rule=1"
	badUpdate(t, "9 to 1", nil, one, nameItem(100, 9, 1, 5))
	badUpdate(t, "all but one", nil, one, nameItem(100, 1<<32-1, 0, 5))
	badUpdate(t, "of its own node", nil, one, frame.NameItem{Range: frame.Range{Lower: uint32(popAddr) + 1, Upper: uint32(popAddr)}, Key: uint32(popAddr)})
}

// Subscribers of types 0 to 2 learn of nodes, the topology service and links from these:
// a peer says of them only that it is there itself.
//
// Proves: names.hostile
func TestReservedTypesFromPeer(t *testing.T) {
	for typ := range uint32(naming.FirstUser) {
		badUpdate(t, fmt.Sprint("type ", typ), nil, "name items that break a rule=1", nameItem(typ, 1, 1, 5))
	}
	badUpdate(t, "this node", nil, "name items that break a rule=1", stateItem(ownAddr))
	badUpdate(t, "a third", nil, "name items that break a rule=1", stateItem(0x1001009))
	badUpdate(t, "itself and more", nil, "name items that break a rule=1", nameItem(0, uint32(popAddr), uint32(popAddr)+1, 0))
}

// A node publishes and withdraws for itself: in another's name it does neither.
//
// Proves: names.hostile
func TestPublishingForAnotherNode(t *testing.T) {
	for _, orig := range []frame.NodeAddr{ownAddr, 0x1001009, 0} {
		for _, withdrawal := range []bool{false, true} {
			badUpdate(t, fmt.Sprint(orig, withdrawal), func(f *frame.NamesFields) { f.Orig, f.Withdrawal = orig, withdrawal }, "name items that break a rule=1")
		}
	}
	c := newPeers(t, 1, 2)
	c.peerList[1].listen(1, 100, 1, 1)
	own := c.bind(100, 2)
	c.forget()
	victim := func(a frame.NodeAddr) func(f *frame.NamesFields) {
		return func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal, f.Orig = 1, true, a }
	}
	b := own.Bindings()[0]
	c.on(0, 0).packet(c.peerList[0].names(victim(c.peerList[1].addr), nameItem(100, 1, 1, 5)))
	c.on(0, 0).packet(c.peerList[0].names(victim(c.Address()), frame.NameItem{Range: b.Range, Port: b.Socket.Port, Key: b.Key}))
	c.on(0, 0).broadcast(c.peerList[0].names(func(f *frame.NamesFields) { victim(c.peerList[1].addr)(f); f.Dest = 0 }, nameItem(100, 1, 1, 5)))
	c.on(0, 0).broadcast(c.peerList[0].names(func(f *frame.NamesFields) { victim(c.peerList[0].addr)(f); f.Dest = 0 }, nameItem(100, 1, 1, 5))) // exactly another's, but its own node
	c.wantDrops("withdrawals of others' names", "name items that break a rule=4")
	if got := []int{c.table.Count(c.peerList[1].addr), len(own.Bindings())}; !slices.Equal(got, []int{2, 1}) {
		t.Errorf("left: %v", got)
	}
	c.done("")
}

// Of a message that is cut in an item those before it count; nothing behind it is read.
//
// Proves: names.hostile
func TestItemsCutShort(t *testing.T) {
	for cut := range 61 {
		p := newScriptedPeer(t).up()
		msg := p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(100, 1, 1, 5), nameItem(100, 2, 2, 5), nameItem(100, 3, 3, 5))
		msg = msg[:len(msg)-cut]
		msg[2], msg[3] = byte(len(msg)>>8), byte(len(msg))
		p.packet(msg)
		want := (60 - cut) / frame.NameItemLen
		if got := p.learned(); len(got) != want {
			t.Errorf("%d bytes short: learned %q, want %d", cut, got, want)
		}
		p.wantDrops(fmt.Sprint(cut, " bytes short"), "")
		p.done()
	}
}

// Withdrawals of names that nobody has, as many as a link carries: the work for each is
// the same, nothing is kept, each is counted, and the owner is told once a second.
//
// Proves: names.hostile
func TestWithdrawalsOfUnknownNamesAtLineRate(t *testing.T) {
	p := newScriptedPeer(t).up()
	items := make([]frame.NameItem, 70)
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(100, 1, 1, 5)))
	before, had := p.table.Len(), p.count.Drops[DropNames]
	var events []Event
	const messages = 3000
	start := p.now
	for k := range frame.Seq(messages) {
		p.now = start + time.Duration(k)*time.Millisecond
		for i := range items {
			items[i] = nameItem(100+uint32(k), uint32(i), uint32(i), 5)
		}
		msg := p.names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = 2+k, true }, items...)
		if k%2 == 0 {
			p.packet(msg)
		} else {
			frame.StampBroadcast(msg, 0, frame.DefaultNetID)
			copy(msg[28:], []byte{0, 0, 0, 0})
			p.broadcast(msg)
		}
		p.sent = nil
		for ev, ok := p.NextEvent(); ok; ev, ok = p.NextEvent() {
			if ev.Kind == BadNames {
				events = append(events, ev)
			}
		}
	}
	if got := p.count.Drops[DropNames] - had; got != messages*70-1 { // one of them is known
		t.Errorf("counted %d, want %d", got, messages*70-1)
	}
	if got := p.table.Len(); got != before-1 {
		t.Errorf("%d names, had %d", got, before)
	}
	if got := p.learned(); got != nil {
		t.Errorf("left %q", got)
	}
	if len(events) != 3 || events[0].Count != 1 || events[1].Count != 70*1000-1 || events[2].Count != 70*1000 {
		t.Errorf("told %v, want once a second, with the number", events)
	}
	if !p.byAddr[popAddr].up() {
		t.Error("contact is lost")
	}
	p.done()
}

// A peer with more names than it may have loses contact, and its names with it; the owner
// is told who it was. Back with fewer it is as others.
//
// Proves: names.hostile
func TestTooManyNamesOfPeer(t *testing.T) {
	c := newPeers(t, 1, 2)
	c.forget()
	items := make([]frame.NameItem, 70)
	seq := frame.Seq(1)
	for k := uint32(0); c.node(0).up() && k < 2000; k++ {
		for i := range items {
			items[i] = nameItem(100+k, uint32(i), uint32(i), 5)
		}
		c.on(0, 0).packet(c.peerList[0].names(func(f *frame.NamesFields) { f.UpdateSeq = seq }, items...))
		seq++
		if got := c.table.Count(c.peerList[0].addr); got > naming.MaxBindings {
			t.Fatalf("%d names", got)
		}
		c.sent = nil
	}
	for c.table.Condemned() {
		c.HandleTimeout(c.now)
	}
	if c.node(0).up() || c.table.Count(c.peerList[0].addr) != 0 || !c.node(1).up() {
		t.Fatalf("up: %v, with %d names; the other: %v", c.node(0).up(), c.table.Count(c.peerList[0].addr), c.node(1).up())
	}
	if got := c.eventList(); !slices.Contains(got, "too many names 1001002 times 1") || !slices.Contains(got, "peer lost 1001002") {
		t.Errorf("told %q", got)
	}
	c.TakeNameEvents(nil)
	c.on(0, 0).join()
	c.peerList[0].listen(1, 100, 1, 1)
	if got := c.table.Count(c.peerList[0].addr); got != 2 {
		t.Errorf("back: %d names, want 2", got)
	}
	c.done("")
}

// When the table is full it is who has most that goes, not who needs a little.
//
// Proves: hostile.docs, hostile.bounded
func TestHostileNamesLeaveRoom(t *testing.T) {
	c := newPeers(t, 1, 3)
	const most = 1000
	c.table.Limit = most
	c.forget()
	seq := make([]frame.Seq, 3)
	bind := func(i, n int) {
		for range n {
			seq[i]++
			c.on(i, 0).packet(c.peerList[i].names(func(f *frame.NamesFields) { f.UpdateSeq = seq[i] }, nameItem(100+uint32(i), uint32(seq[i]), uint32(seq[i]), 5)))
			c.sent = nil
		}
	}
	bind(1, 100)
	for range most { // the greedy one, until there is no room
		if c.table.Len() < most {
			bind(0, 1)
		}
	}
	bind(2, 100)
	if c.node(0).up() || !c.node(1).up() || !c.node(2).up() {
		t.Errorf("up: %v %v %v; want the first gone", c.node(0).up(), c.node(1).up(), c.node(2).up())
	}
	if got := c.table.Count(c.peerList[2].addr); got != 101 || c.table.Len() > most {
		t.Errorf("%d names of the last, %d in all", got, c.table.Len())
	}
	if got := c.eventList(); !slices.Contains(got, "too many names 1001002 times 1") {
		t.Errorf("told %q", got)
	}
	c.TakeNameEvents(nil)
	c.done("")
}

// The owner is told that this node has all the names it may have, once a second.
func TestTooManyNamesOfThisNode(t *testing.T) {
	c := newPeers(t, 1, 0)
	p := c.OpenPort(PortConfig{})
	for k := c.table.Count(c.Address()); k < naming.MaxBindings; k++ {
		c.table.Insert(naming.Binding{Range: frame.Range{Type: 100, Lower: uint32(k), Upper: uint32(k)}, Socket: frame.SocketAddr{Port: 9, Node: c.Address()}})
	}
	c.forget()
	for k := range 5 {
		if err := p.Bind(c.now, frame.Range{Type: 200}, frame.ClusterScope); err != ErrTooManyBindings {
			t.Fatalf("got %v", err)
		}
		if k == 3 {
			c.now += logGap
		}
	}
	wantLines(t, "told", c.eventList(), "too many names 1001001 times 1", "too many names 1001001 times 4")
}

// Updates that never get their turn are limited; the peer starts over.
func TestUpdatesWithoutTheirTurn(t *testing.T) {
	c := newPeers(t, 1, 1)
	c.forget()
	n := 0
	for ; c.node(0).up() && n < 10000; n++ {
		c.on(0, 0).packet(c.peerList[0].names(func(f *frame.NamesFields) { f.UpdateSeq = frame.Seq(10 + n) }, nameItem(100, 1, 1, 5)))
		c.sent = nil
	}
	if n != 4096+1 {
		t.Errorf("contact ended after %d, want 4096 that are kept and one", n)
	}
	if got := c.table.Count(c.peerList[0].addr); got != 0 {
		t.Errorf("%d names", got)
	}
	c.done("")
}
