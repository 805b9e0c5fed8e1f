// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// sockets by the letters of spec 05 §5.1: small ones are the first socket of the
// nodes A (own), B and C, capitals the second.
func socket(letter rune) frame.SocketAddr {
	s := frame.SocketAddr{Port: 1, Node: own + frame.NodeAddr(letter|0x20) - 'a'}
	if letter < 'a' {
		s.Port = 2
	}
	return s
}

func letterOf(s frame.SocketAddr) string {
	l := rune('a' + s.Node - own)
	if s.Port == 2 {
		l -= 0x20
	}
	return string(l)
}

// Who receives consecutive messages: rows of the table "Tested" in spec 05 §5.1,
// seen from node A; a is its own socket.
//
// Proves: names.rules
func TestAnycastTurns(t *testing.T) {
	five := frame.Range{Type: 100, Lower: 5, Upper: 5}
	for _, c := range []struct {
		name  string
		bound string // in this order, all to {t,5,5}; "*" makes the next one of node scope
		node  frame.NodeAddr
		want  string
	}{
		{"b, c", "bc", 0, "cbcb"},
		{"b, c, B: the newest is first", "bcB", 0, "BcbBcb"},
		{"b, c and own", "bca", 0, "acbacb"},
		{"and an own one with node scope", "bca*A", 0, "AacbAacb"},
		{"lookup node own", "bca*A", own, "AaAa"},
		{"one socket bound twice, c", "bbc", 0, "cbbcbb"},
		{"nobody", "", 0, "----"},
		{"none of the own node", "bc", own, "--"},
	} {
		tab := NewTable(own)
		scope, key := frame.Scope(frame.ClusterScope), uint32(0)
		for _, l := range c.bound {
			if l == '*' {
				scope = frame.NodeScope
				continue
			}
			key++
			tab.Insert(Binding{Range: five, Scope: scope, Socket: socket(l), Key: key})
			scope = frame.ClusterScope
		}
		var got strings.Builder
		for range c.want {
			s, ok := tab.Anycast(frame.Service{Type: 100, Instance: 5, Node: c.node})
			if !ok {
				got.WriteByte('-')
			} else {
				got.WriteString(letterOf(s))
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got.String(), c.want)
		}
	}
}

// "With overlapping ranges {1,10} at b and {5,15} at c instance 7 always goes to b
// (lower lower), with {5,15} and {5,8} always to the range created last."
//
// Proves: names.rules
func TestAnycastFirstRange(t *testing.T) {
	for _, c := range []struct {
		ranges [2][2]uint32 // of b, then c
		node   frame.NodeAddr
		want   string
	}{
		{[2][2]uint32{{1, 10}, {5, 15}}, 0, "bbb"},
		{[2][2]uint32{{5, 15}, {1, 10}}, 0, "ccc"},
		{[2][2]uint32{{5, 15}, {5, 8}}, 0, "ccc"},
		{[2][2]uint32{{5, 8}, {5, 15}}, 0, "ccc"},
		{[2][2]uint32{{1, 6}, {5, 15}}, 0, "ccc"},
		{[2][2]uint32{{0, 1<<32 - 1}, {7, 7}}, 0, "bbb"},
		{[2][2]uint32{{8, 9}, {1, 6}}, 0, "---"},
	} {
		tab := NewTable(own)
		for i, r := range c.ranges {
			tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: r[0], Upper: r[1]}, Scope: frame.ClusterScope, Socket: socket(rune('b' + i)), Key: 1})
		}
		got := ""
		for range c.want {
			if s, ok := tab.Anycast(frame.Service{Type: 100, Instance: 7, Node: c.node}); ok {
				got += letterOf(s)
			} else {
				got += "-"
			}
		}
		if got != c.want {
			t.Errorf("%v: got %v, want %v", c.ranges, got, c.want)
		}
	}
}

// The own node as lookup node: the first range with an own binding in it.
func TestAnycastOwnNodeSkipsForeignRanges(t *testing.T) {
	tab := NewTable(own)
	tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: 1, Upper: 10}, Socket: socket('b'), Key: 1})
	tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: 5, Upper: 15}, Socket: socket('a'), Key: 1})
	if s, ok := tab.Anycast(frame.Service{Type: 100, Instance: 7, Node: own}); !ok || letterOf(s) != "a" {
		t.Errorf("got %v %v, want a", s, ok)
	}
}

// Another lookup node is not asked here: it will look up itself.
func TestAnycastAtOtherNode(t *testing.T) {
	s, ok := NewTable(own).Anycast(frame.Service{Type: 100, Instance: 7, Node: remote1})
	if want := (frame.SocketAddr{Node: remote1}); !ok || s != want {
		t.Errorf("got %v %v, want %v", s, ok, want)
	}
}

// Spec 05 §5.2: each socket once; a message from elsewhere reaches cluster scope.
//
// Proves: names.rules
func TestLocalReceivers(t *testing.T) {
	tab := NewTable(own)
	for i, b := range []struct {
		l, u, port uint32
		scope      frame.Scope
		node       frame.NodeAddr
	}{
		{1, 10, 1, frame.ClusterScope, own},
		{1, 10, 1, frame.ClusterScope, own}, // bound twice
		{5, 15, 1, frame.ClusterScope, own},
		{5, 15, 2, frame.NodeScope, own},
		{9, 9, 3, frame.NodeScope, own},
		{9, 12, 3, frame.ClusterScope, own},
		{1, 20, 4, frame.ClusterScope, remote1},
		{30, 40, 5, frame.ClusterScope, own},
		{1, 99, 0, frame.ClusterScope, own}, // nobody's
	} {
		tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: b.l, Upper: b.u}, Scope: b.scope, Socket: frame.SocketAddr{Port: b.port, Node: b.node}, Key: uint32(i)})
	}
	for _, c := range []struct {
		l, u   uint32
		remote bool
		want   []uint32
	}{
		{1, 4, true, []uint32{1}},
		{1, 9, true, []uint32{1, 3}},
		{1, 9, false, []uint32{1, 2, 3}},
		{0, 1<<32 - 1, true, []uint32{1, 3, 5}},
		{16, 29, true, nil},
		{40, 50, true, []uint32{5}},
		{41, 50, true, nil},
	} {
		got := tab.LocalReceivers(nil, frame.Range{Type: 100, Lower: c.l, Upper: c.u}, c.remote)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d-%d, remote %v: got %v, want %v", c.l, c.u, c.remote, got, c.want)
		}
	}
	if got := tab.LocalReceivers(nil, frame.Range{Type: 101, Lower: 1, Upper: 9}, false); got != nil {
		t.Errorf("another type: got %v, want none", got)
	}
}

func TestEventsOfPurge(t *testing.T) {
	tab := NewTable(own)
	r := frame.Range{Type: 100, Lower: 1, Upper: 2}
	for i := range uint32(3) {
		tab.Insert(Binding{Range: r, Socket: frame.SocketAddr{Port: i, Node: remote1}, Key: i})
		tab.Insert(Binding{Range: r, Socket: frame.SocketAddr{Port: i, Node: remote2}, Key: i})
	}
	if got := len(tab.TakeEvents(nil)); got != 6 {
		t.Errorf("published: got %v events, want 6", got)
	}
	tab.Purge(remote1)
	tab.Purge(remote1)
	ev := tab.TakeEvents(nil)
	if len(ev) != 3 || tab.Count(remote1) != 0 || tab.Count(remote2) != 3 {
		t.Errorf("purged: got %v, %d and %d left; want 3 events, 0 and 3", ev, tab.Count(remote1), tab.Count(remote2))
	}
	for _, e := range ev {
		if !e.Withdrawn || e.Binding.Socket.Node != remote1 {
			t.Errorf("got %+v, want a withdrawal of %v", e, remote1)
		}
	}
}

// Anycast is on the path of every message.
func TestNoAllocsAnycast(t *testing.T) {
	tab := NewTable(own)
	for i := range uint32(100) {
		tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: i, Upper: i + 3}, Socket: socket('b'), Key: i})
		tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: i, Upper: i + 3}, Scope: frame.ClusterScope, Socket: socket('a'), Key: i})
	}
	var ports [16]uint32
	if got := testing.AllocsPerRun(100, func() {
		tab.Anycast(frame.Service{Type: 100, Instance: 50})
		tab.LocalReceivers(ports[:0], frame.Range{Type: 100, Lower: 40, Upper: 50}, true)
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// Two peers with as many bindings of one range as they may have: one is lost, the
// turns of the other's stay.
//
// Proves: names.rules
func TestPurgeOfManyBindings(t *testing.T) {
	tab := NewTable(own)
	five := frame.Range{Type: 100, Lower: 5, Upper: 5}
	for i := range uint32(2 * MaxBindings) {
		if !tab.Insert(Binding{Range: five, Socket: frame.SocketAddr{Port: i, Node: remote1 + frame.NodeAddr(i%2)}, Key: i}) {
			t.Fatalf("binding %d refused", i)
		}
	}
	next := func() uint32 {
		s, _ := tab.Anycast(frame.Service{Type: 100, Instance: 5})
		return s.Port
	}
	for want := uint32(2*MaxBindings - 1); want > 2*MaxBindings-5; want-- {
		if got := next(); got != want {
			t.Fatalf("turn: got %v, want %v", got, want)
		}
	}
	tab.TakeEvents(nil)
	tab.Purge(remote1)
	for i, ev := range tab.TakeEvents(nil) {
		if ev.Binding.Key != uint32(2*i) || !ev.Withdrawn || ev.Edge {
			t.Fatalf("event %d: got %+v", i, ev)
		}
	}
	if tab.Count(remote1) != 0 || tab.Count(remote2) != MaxBindings || tab.Len() != MaxBindings {
		t.Errorf("got %d, %d and %d left, want 0, %d and %[4]d", tab.Count(remote1), tab.Count(remote2), tab.Len(), MaxBindings)
	}
	for _, want := range []uint32{2*MaxBindings - 5, 2*MaxBindings - 7} {
		if got := next(); got != want {
			t.Errorf("turn behind the purge: got %v, want %v", got, want)
		}
	}
	tab.Purge(remote2)
	ev := tab.TakeEvents(nil)
	if len(ev) != MaxBindings || !ev[len(ev)-1].Edge || ev[len(ev)-2].Edge {
		t.Errorf("got %d events, the last %+v", len(ev), ev[len(ev)-1])
	}
	if _, ok := tab.Anycast(frame.Service{Type: 100, Instance: 5}); ok || tab.Len() != 0 || len(tab.services)+len(tab.ranges)+len(tab.nodes) != 0 {
		t.Error("something is left")
	}
}
