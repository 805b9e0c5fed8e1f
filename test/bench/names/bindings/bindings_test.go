// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/tier"
)

// A table of a shape has the shape's ranges, each once; every key is bound, and those of
// ranges around one point are also what their name says.
//
// Proves: names.cost
func TestShapes(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, s := range Shapes() {
		const n = 2000
		ranges, keys := s.Make(n)
		want := n
		switch {
		case s.Around():
			want = n / 10
		case s.Name == "b-wide":
			want = n + 1
		}
		known := map[frame.Range]bool{}
		for _, r := range ranges {
			known[r] = true
			if s.Around() && (r.Lower > point || r.Upper < point) {
				t.Errorf("%s: %v does not contain %d", s.Name, r, point)
			}
		}
		tab, err := Fill(ranges)
		if err != nil || len(known) != want || tab.Len() != want {
			t.Errorf("%s: got %d ranges, %d bindings, %v, want %d", s.Name, len(known), tab.Len(), err, want)
		}
		for _, k := range keys {
			if _, ok := tab.Choose(k); !ok {
				t.Fatalf("%s: %v is not bound", s.Name, k)
			}
		}
		if s.What == "" || len(keys) == 0 {
			t.Errorf("%s: %q, %d keys", s.Name, s.What, len(keys))
		}
	}
}

// A round looks every key up in both, and sees what is missing; allocations are counted.
//
// Proves: names.cost
func TestLookups(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	l, err := NewLookups(Shapes()[0], 1000)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := l.Round(); err != nil {
			t.Fatal(err)
		}
	}
	if f := l.Figures(); f.Table <= 0 || f.Map <= 0 || f.BestTable > f.Table || f.BestMap > f.Map || f.Mallocs > 0.001 {
		t.Errorf("got %+v", f)
	}
	l.ours, l.theirs, l.mallocs = []float64{30, 10, 50}, []float64{7, 9, 5}, 3*perRound
	if f, want := l.Figures(), (LookupFigures{Table: 30, Map: 7, BestTable: 10, BestMap: 5, Mallocs: 1}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
	k := l.ask[0]
	delete(l.kept, k)
	if err := l.Round(); err == nil {
		t.Error("a key that is not in the map: got no error")
	}
	l.kept[k] = frame.SocketAddr{}
	l.tab.Purge(1)
	if err := l.Round(); err == nil {
		t.Error("keys that are not in the table: got no error")
	}
}

// Binding one more leaves the table as it was.
//
// Proves: names.cost
func TestBinds(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	many := NewManyBinds()
	all := []*Binds{many}
	for _, s := range Shapes() {
		b, err := NewBinds(s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	for _, b := range all {
		n := b.tab.Len()
		for range 50 {
			if err := b.Round(); err != nil {
				t.Fatal(err)
			}
		}
		if f := b.Figures(); b.tab.Len() != n || f.Bind <= 0 || f.BindP99 < f.Bind || f.Unbind <= 0 || f.UnbindP99 < f.Unbind {
			t.Errorf("got %d bindings, %+v, want %d", b.tab.Len(), f, n)
		}
	}
	for i := range 200 {
		many.bind, many.unbind = append(many.bind[:i], float64(200-i)), append(many.unbind[:i], float64(2*i))
	}
	if f, want := many.Figures(), (BindFigures{Bind: 100, BindP99: 198, Unbind: 198, UnbindP99: 394}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

// Every way binds as many as it says, and loses a whole node.
//
// Proves: names.cost
func TestMillions(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, m := range Millions() {
		f, err := m.Measure(100)
		if err != nil || f.Bytes < 50 || f.Bytes > 2000 || f.Insert <= 0 || f.Purge <= 0 || f.Purge > time.Minute {
			t.Errorf("%s: got %+v, %v", m.Name, f, err)
		}
	}
}
