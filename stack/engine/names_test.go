// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

func nameItem(typ, lower, upper, port uint32) frame.NameItem {
	return frame.NameItem{Range: frame.Range{Type: typ, Lower: lower, Upper: upper}, Port: port, Key: port + 1}
}

// learned returns what the table has of the peer, the node's own binding aside.
func (p *scriptedPeer) learned() (s []string) {
	for b := range p.Bindings {
		if b.Socket.Node == popAddr && b.Range.Type != naming.NodeState {
			s = append(s, fmt.Sprintf("%v=%d/%d", b.Range, b.Socket.Port, b.Key))
		}
	}
	return s
}

// Spec 05, "Validation and hostile input", and spec 01 §8.10.
//
// Proves: link.hostile, hostile.docs
func TestHostileNames(t *testing.T) {
	update := func(f *frame.NamesFields) { f.UpdateSeq = 1 }
	withdraw := func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = 1, true }
	cutShort := func(n int) []byte {
		p := newScriptedPeer(t)
		b := p.names(update, nameItem(100, 1, 1, 5), nameItem(100, 2, 2, 6))
		b = b[:len(b)-n]
		b[3] = byte(len(b))
		return b
	}
	type m = []string
	for _, c := range []struct {
		name string
		msg  func(p *scriptedPeer) []byte
		want []string
		drop string
	}{
		{"sound", func(p *scriptedPeer) []byte { return p.names(update, nameItem(100, 1, 9, 5)) }, m{"100:1-9=5/6"}, ""},
		{"inverted range", func(p *scriptedPeer) []byte { return p.names(update, nameItem(100, 9, 1, 5), nameItem(100, 2, 2, 6)) }, m{"100:2-2=6/7"}, "name items that break a rule=1"},
		{"topology server", func(p *scriptedPeer) []byte { return p.names(update, nameItem(1, 1, 1, 5)) }, nil, "name items that break a rule=1"},
		{"link state", func(p *scriptedPeer) []byte { return p.names(update, nameItem(2, 1, 1, 5)) }, nil, "name items that break a rule=1"},
		{"type 63", func(p *scriptedPeer) []byte { return p.names(update, nameItem(63, 1, 1, 5)) }, nil, "name items that break a rule=1"},
		{"type 64", func(p *scriptedPeer) []byte { return p.names(update, nameItem(64, 1, 1, 5)) }, m{"64:1-1=5/6"}, ""},
		{"another node's state", func(p *scriptedPeer) []byte {
			return p.names(update, stateItem(0x1001009))
		}, nil, "name items that break a rule=1"},
		{"own node's state", func(p *scriptedPeer) []byte { return p.names(update, stateItem(ownAddr)) }, nil, "name items that break a rule=1"},
		{"all nodes' states", func(p *scriptedPeer) []byte { return p.names(update, nameItem(0, 0, 1<<32-1, 5)) }, nil, "name items that break a rule=1"},
		{"orignode is another", func(p *scriptedPeer) []byte {
			return p.names(func(f *frame.NamesFields) { f.UpdateSeq, f.Orig = 1, 0x1001009 }, nameItem(100, 1, 9, 5))
		}, nil, "name items that break a rule=1"},
		{"orignode is ours", func(p *scriptedPeer) []byte {
			return p.names(func(f *frame.NamesFields) { f.UpdateSeq, f.Orig = 1, ownAddr }, nameItem(100, 1, 9, 5))
		}, nil, "name items that break a rule=1"},
		{"last item cut short", func(*scriptedPeer) []byte { return cutShort(1) }, m{"100:1-1=5/6"}, ""},
		{"both items cut short", func(*scriptedPeer) []byte { return cutShort(21) }, nil, ""},
		{"no item", func(p *scriptedPeer) []byte { return p.names(update) }, nil, ""},
		{"type 2 of message", func(p *scriptedPeer) []byte {
			b := p.names(update, nameItem(100, 1, 1, 5))
			b[4] |= 2 << 5
			return b
		}, nil, "name items that break a rule=1"},
		{"header of 44", func(p *scriptedPeer) []byte {
			b := p.names(update, nameItem(100, 1, 1, 5))
			b[0], b[1] = 2<<5|byte(frame.UserName)<<1|1, 3<<5
			return b
		}, nil, "name items that break a rule=1"},
		{"unknown withdrawal", func(p *scriptedPeer) []byte { return p.names(withdraw, nameItem(100, 1, 1, 5)) }, nil, "name items that break a rule=1"},
		{"same twice", func(p *scriptedPeer) []byte {
			return p.names(update, nameItem(100, 1, 1, 5), nameItem(100, 1, 1, 5))
		}, m{"100:1-1=5/6"}, ""},
	} {
		p := newScriptedPeer(t).up()
		p.packet(c.msg(p))
		if got := p.learned(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		p.wantDrops(c.name, c.drop)
		if !p.byAddr[popAddr].links[0].IsUp() {
			t.Errorf("%s: the link is down", c.name)
		}
		p.done()
	}
}

// A withdrawal needs exactly what was published.
func TestWithdrawalIsExact(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(100, 1, 9, 5)))
	seq := frame.Seq(2)
	for _, it := range []frame.NameItem{
		nameItem(100, 1, 8, 5), nameItem(100, 2, 9, 5), nameItem(101, 1, 9, 5), nameItem(100, 1, 9, 6),
		{Range: frame.Range{Type: 100, Lower: 1, Upper: 9}, Port: 5, Key: 7},
		nameItem(100, 1, 9, 5),
	} {
		if got := p.learned(); len(got) != 1 {
			t.Fatalf("before %v: got %q", it, got)
		}
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = seq, true }, it))
		seq++
	}
	if got := p.learned(); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}

// A peer with more names than a node may have, or more updates ahead of their
// turn than are kept, has to start over.
//
// Proves: names.limits
func TestNameLimits(t *testing.T) {
	p := newScriptedPeer(t).up()
	var many []frame.NameItem
	for i := range uint32(71) {
		many = append(many, nameItem(100, i, i, i))
	}
	seq := frame.Seq(1)
	for range naming.MaxBindings/71 + 1 {
		for i := range many {
			many[i].Range.Type++
		}
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = seq }, many...))
		seq++
	}
	for p.table.Condemned() {
		p.HandleTimeout(p.now)
	}
	if got := p.eventList(); !slices.Contains(got, "peer lost 1001002") || p.table.Count(popAddr) != 0 {
		t.Errorf("bindings: got %q, %d kept", got, p.table.Count(popAddr))
	}
	p.done()

	p = newScriptedPeer(t).up()
	for i := range frame.Seq(5000) {
		p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 100 + i }, nameItem(100, 1, 1, 5)))
	}
	if got := p.eventList(); !slices.Contains(got, "peer lost 1001002") {
		t.Errorf("updates ahead: got %q", got)
	}
	p.done()

	p = newScriptedPeer(t).up()
	p.table.Limit = p.table.Len() + 1
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(100, 1, 1, 5), nameItem(100, 2, 2, 6)))
	if got := p.eventList(); !slices.Contains(got, "peer lost 1001002") || p.table.Count(popAddr) != 0 {
		t.Errorf("bindings of all nodes: got %q, %d kept", got, p.table.Count(popAddr))
	}
	p.table.Limit = 0
	if err := p.OpenPort(PortConfig{}).Bind(0, frame.Range{Type: 100}, frame.ClusterScope); err != nil {
		t.Errorf("an own name in a full table: got %v", err)
	}
	p.done()
}

// Updates by broadcast and by unicast are one sequence, and broadcast ones keep
// the bulk's order (spec 05 §4).
//
// Proves: names.distribution
func TestUpdatesByBothWays(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	bc := func(seq frame.Seq, it frame.NameItem) {
		p.broadcast(p.names(func(f *frame.NamesFields) {
			f.NonSeq, f.NetID, f.Dest, f.UpdateSeq = true, frame.DefaultNetID, 0, seq
		}, it))
	}
	bc(2, nameItem(100, 2, 2, 2))
	if got := p.learned(); got != nil {
		t.Errorf("ahead of its turn: got %q", got)
	}
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(100, 1, 1, 1)))
	bc(1, nameItem(100, 1, 1, 1))
	bc(3, nameItem(100, 3, 3, 3))
	wantLines(t, "table", p.learned(), "100:1-1=1/2", "100:2-2=2/3", "100:3-3=3/4")
	p.wantDrops("all", "")
}

func TestBind(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	port := p.OpenPort(PortConfig{})
	r := frame.Range{Type: 100, Lower: 1, Upper: 9}
	for _, c := range []struct {
		r    frame.Range
		want error
	}{
		{frame.Range{Type: 63}, ErrReserved},
		{frame.Range{Type: 0}, ErrReserved},
		{frame.Range{Type: 64, Lower: 2, Upper: 1}, ErrRange},
		{r, nil},
		{r, nil},
	} {
		if err := port.Bind(0, c.r, frame.ClusterScope); err != c.want {
			t.Errorf("%v: got %v, want %v", c.r, err, c.want)
		}
	}
	port.Bind(0, r, frame.NodeScope) // tells nobody, counts nothing
	port.Bind(0, r, frame.ZoneScope) // read as cluster
	b := port.Bindings()
	var keys []uint32
	for _, x := range b {
		keys = append(keys, x.Key)
	}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 4 || slices.Contains(keys, port.number) {
		t.Errorf("keys: got %v, want four, none the port's", keys)
	}
	for _, s := range []frame.Scope{frame.ZoneScope, frame.NodeScope, frame.ClusterScope, frame.NoScope} {
		if err := port.Unbind(0, r, s); err != nil {
			t.Errorf("scope %v: got %v", s, err)
		}
	}
	if err := port.Unbind(0, r, frame.ClusterScope); err != ErrNotBound {
		t.Errorf("got %v, want %v", err, ErrNotBound)
	}
	var got []string
	for _, l := range p.drain() {
		w, rest, _ := strings.Cut(l, " ")
		u, _, _ := strings.Cut(rest, " ")
		got = append(got, w+" "+u)
	}
	wantLines(t, "told", got, "name/publish update=1", "name/publish update=2", "name/publish update=3",
		"name/withdraw update=4", "name/withdraw update=5", "name/withdraw update=6")
	p.table.Purge(ownAddr)
	for i := range uint32(naming.MaxBindings) {
		p.table.Insert(naming.Binding{Range: frame.Range{Type: 1000 + i}, Socket: frame.SocketAddr{Port: 1, Node: ownAddr}})
	}
	if err := port.Bind(0, r, frame.NodeScope); err != ErrTooManyBindings {
		t.Errorf("got %v, want %v", err, ErrTooManyBindings)
	}
}

// A node that cannot be told of more names than may be owed to it has to start over,
// rather than have another table. Without that limit what is owed grows without end.
func TestUpdateThatCannotBeSent(t *testing.T) {
	p := newScriptedPeer(t, alone).up()
	port := p.OpenPort(PortConfig{})
	var err error
	for i := uint32(0); err == nil && p.byAddr[popAddr].links[0].IsUp() && i < 2*maxOwedUpdates; i++ {
		err = port.Bind(0, frame.Range{Type: 100, Lower: i, Upper: i}, frame.ClusterScope)
	}
	p.HandleTimeout(0)
	if got := p.eventList(); err != nil || !slices.Contains(got, "peer lost 1001002") {
		t.Errorf("got %v, events %q; want the peer lost", err, got)
	}
	if n := p.byAddr[popAddr]; n.links[0].State() != flowctl.Down || n.contact != DownLeaving {
		t.Errorf("got %v %v", n.links[0].State(), n.contact)
	}
	p.done()
}
