// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// A node's bindings go in parts: in the order in which they came, never chosen meanwhile, and
// what the node publishes anew is withdrawn before and stays.
//
// Mutations that it catches: Choose that does not spare; Recall that trusts its memory; Add that
// refuses what is condemned as repeated; Sweep that does not look at serials.
func TestCondemn(t *testing.T) {
	const many = 3000
	table := NewTable(own)
	bind := func(i uint32, n frame.NodeAddr) Binding {
		return Binding{
			Range: frame.Range{Type: 100, Lower: i, Upper: i}, Scope: frame.ClusterScope,
			Socket: frame.SocketAddr{Port: 7, Node: n}, Key: i,
		}
	}
	for i := range uint32(many) {
		table.Insert(bind(i, remote1))
	}
	for _, i := range []uint32{1, 3, many} { // of the last, before far1
		table.Insert(bind(i, remote2))
	}
	table.Insert(bind(many, remote1))
	var memo Memo
	service := frame.Service{Type: 100, Instance: 2}
	if c, ok := table.Recall(&memo, service); !ok || c.Socket().Node != remote1 {
		t.Fatalf("before: %v %v", c, ok)
	}
	table.TakeEvents(nil)
	table.Condemn(remote1)
	if c, ok := table.Recall(&memo, service); ok {
		t.Errorf("a condemned binding is recalled: %v", c)
	}
	for range 3 {
		if a, ok := table.Anycast(frame.Service{Type: 100, Instance: 1}); !ok || a.Node != remote2 {
			t.Errorf("chosen: %v %v", a, ok)
		}
	}
	for _, i := range []uint32{3, many} {
		var memo Memo
		for range 3 {
			c, ok := table.Recall(&memo, frame.Service{Type: 100, Instance: i})
			if !ok || c.Socket().Node != remote2 {
				t.Errorf("recalled: %v %v", c, ok)
			}
			c.Take()
		}
	}
	if table.Remove(bind(9, remote1)) {
		t.Error("a condemned binding could be withdrawn")
	}
	again := []uint32{many - 1, 0}
	for _, i := range again {
		if err := table.Add(bind(i, remote1)); err != nil {
			t.Errorf("published anew: %v", err)
		}
	}
	parts, next := 0, uint32(0)
	for table.Condemned() {
		if k := table.Sweep(100); k > 100 {
			t.Fatalf("a part of %d", k)
		}
		parts++
	}
	if parts < many/100 || table.Count(remote1) != len(again) {
		t.Errorf("%d parts, and the node has %d bindings left, want %d", parts, table.Count(remote1), len(again))
	}
	there := map[Binding]bool{}
	for _, ev := range table.TakeEvents(nil) {
		i := ev.Binding.Range.Lower
		switch {
		case !ev.Withdrawn:
			there[ev.Binding] = true
			continue
		case there[ev.Binding]:
			t.Errorf("%d is withdrawn, and was published anew", i)
		case i > 9 && i < many-1:
			if i < next {
				t.Fatalf("%d is withdrawn after %d", i, next)
			}
			next = i
		}
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	for _, i := range again {
		if _, ok := table.Anycast(frame.Service{Type: 100, Instance: i}); !ok {
			t.Errorf("%d is not there", i)
		}
	}
}

// What is condemned takes nobody's room: neither the node's own, nor that of others.
//
// Mutations: Add without sweepOf, or without Sweep.
func TestCondemnedMakesRoom(t *testing.T) {
	table := NewTable(own)
	table.Limit = 10
	bind := func(i uint32, n frame.NodeAddr) Binding {
		return Binding{Range: frame.Range{Type: 100, Lower: i, Upper: i}, Socket: frame.SocketAddr{Port: 7, Node: n}, Key: i}
	}
	for i := range uint32(10) {
		table.Insert(bind(i, remote1))
	}
	table.Condemn(remote1)
	for i := range uint32(10) {
		if err := table.Add(bind(i, remote2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Add(bind(11, remote2)); err != ErrTableFull || table.Condemned() {
		t.Errorf("a full table: %v, condemned %v", err, table.Condemned())
	}
	table = NewTable(own)
	for i := range uint32(MaxBindings) {
		table.Insert(bind(i, remote1))
	}
	table.Condemn(remote1)
	if err := table.Add(bind(1<<20, remote1)); err != nil || table.Count(remote1) != MaxBindings {
		t.Errorf("a full node: %v, %d bindings", err, table.Count(remote1))
	}
}

// A table is read in parts while it changes: each part looks at no more than asked for, and
// what is there all the time is read once.
//
// Mutations: Cursor.Next that begins each type anew; that does not count; types without remove.
func TestCursorBesideChanges(t *testing.T) {
	table := NewTable(own)
	at := func(typ, i, port uint32) Binding {
		return Binding{Range: frame.Range{Type: typ, Lower: i, Upper: i}, Socket: frame.SocketAddr{Port: port, Node: remote1}}
	}
	for i := range uint32(500) {
		table.Insert(at(100+i, 1, 7))   // types
		table.Insert(at(7, i, 7))       // ranges
		table.Insert(at(8, 1, 1000+i))  // of one range
		table.Insert(at(9, i%2, 1+i%4)) // some of them again
	}
	was := map[Binding]int{}
	for b := range table.All() {
		was[b] = 0
	}
	var c Cursor
	for parts := uint32(0); !c.Done(); parts++ {
		read := 0
		k := c.Next(table, 30, func(b Binding) { was[b]++; read++ })
		if k > 31 || read > k || parts > 1000 {
			t.Fatalf("part %d looked at %d, and read %d", parts, k, read)
		}
		for _, b := range []Binding{at(100+parts, 1, 7), at(8, 1, 1000+parts), at(7, 499-parts%500, 7)} {
			if table.Remove(b) {
				delete(was, b)
			}
		}
		table.Insert(at(5000+parts, 1, 7))
		table.Insert(at(8, 1, 5000+parts))
	}
	for b, k := range was {
		if b.Socket.Port < 5000 && b.Range.Type < 5000 && k != 1 {
			t.Errorf("%v was read %d times", b, k)
		}
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
}
