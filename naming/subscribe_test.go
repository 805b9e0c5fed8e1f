// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// heard is what a subscription is told, one letter an event: P or W, and the binding.
type heard struct {
	Subscription
	lines []string
}

func (h *heard) note(verb string, b Binding) {
	h.lines = append(h.lines, fmt.Sprintf("%s %d-%d/%d", verb, b.Range.Lower, b.Range.Upper, b.Key))
}

func (h *heard) take() []string {
	l := h.lines
	h.lines = nil
	return l
}

// subscribe adds a subscription that has been told of what there is.
func subscribe(t *Table, s *Subscriptions, r frame.Range, f frame.Filter) *heard {
	h := &heard{}
	h.Subscription = Subscription{Range: r, Filter: f, Owner: h}
	h.Existing(t, func(b Binding) { h.note("P", b) })
	s.Add(&h.Subscription)
	return h
}

// publish tells the subscriptions what has changed.
func publish(t *Table, s *Subscriptions) {
	for _, ev := range t.TakeEvents(nil) {
		verb := "P"
		if ev.Withdrawn {
			verb = "W"
		}
		for _, x := range s.Match(nil, ev) {
			x.Owner.(*heard).note(verb, ev.Binding)
		}
	}
}

func bound1(lower, upper, key uint32, scope frame.Scope) Binding {
	return Binding{Range: frame.Range{Type: 100, Lower: lower, Upper: upper}, Scope: scope, Socket: frame.SocketAddr{Port: 1, Node: own}, Key: key}
}

// The bindings of spec 06 §2.3, "Tested", for each filter: those there, a further one,
// and their end. Of [1,10] the last binding has the scope of the node.
//
// Proves: names.subscriptions
func TestFilters(t *testing.T) {
	const (
		ports, service   = frame.FilterPorts, frame.FilterService
		cluster, nodeBit = frame.FilterClusterScope, frame.FilterNodeScope
		noStatus         = frame.FilterNoStatus
	)
	type l = []string
	for _, c := range []struct {
		f           frame.Filter
		there, more l
		end         l
	}{
		{ports, l{"P 1-10/1", "P 5-20/2", "P 1-10/3"}, l{"P 1-10/4"}, l{"W 1-10/1", "W 5-20/2", "W 1-10/3", "W 1-10/4"}},
		{service, l{"P 1-10/1", "P 5-20/2"}, nil, l{"W 5-20/2", "W 1-10/4"}},
		{0, l{"P 1-10/1", "P 5-20/2"}, nil, l{"W 5-20/2", "W 1-10/4"}},
		{ports | noStatus, nil, l{"P 1-10/4"}, l{"W 1-10/1", "W 5-20/2", "W 1-10/3", "W 1-10/4"}},
		{service | noStatus, nil, nil, l{"W 5-20/2", "W 1-10/4"}},
		{ports | cluster, l{"P 1-10/1", "P 5-20/2", "P 1-10/3"}, nil, l{"W 1-10/1", "W 5-20/2", "W 1-10/3"}},
		{ports | nodeBit, nil, l{"P 1-10/4"}, l{"W 1-10/4"}},
		{service | cluster, l{"P 1-10/1", "P 5-20/2"}, nil, l{"W 5-20/2"}},
		{service | nodeBit, nil, nil, l{"W 1-10/4"}},
		{ports | cluster | nodeBit, nil, nil, nil},
		{ports | 0x1000, l{"P 1-10/1", "P 5-20/2", "P 1-10/3"}, l{"P 1-10/4"}, l{"W 1-10/1", "W 5-20/2", "W 1-10/3", "W 1-10/4"}},
	} {
		tab, s := NewTable(own), &Subscriptions{}
		all := []Binding{
			bound1(1, 10, 1, frame.ClusterScope), bound1(5, 20, 2, frame.ClusterScope), bound1(1, 10, 3, frame.ClusterScope),
			bound1(1, 10, 4, frame.NodeScope),
		}
		for _, b := range all[:3] {
			tab.Insert(b)
		}
		publish(tab, s)
		h := subscribe(tab, s, frame.Range{Type: 100, Upper: 100}, c.f)
		check := func(when string, want l) {
			t.Helper()
			publish(tab, s)
			if got := h.take(); !slices.Equal(got, want) {
				t.Errorf("%v, %s: got %q, want %q", c.f, when, got, want)
			}
		}
		check("there", c.there)
		tab.Insert(all[3])
		check("a further one", c.more)
		for _, b := range all {
			tab.Remove(b)
		}
		check("the end", c.end)
	}
}

// A binding is told of by its whole range when any part of it is subscribed to.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		typ, lower, upper uint32
		want              bool
	}{
		{100, 5, 20, true},
		{100, 20, 20, true},
		{100, 0, 5, true},
		{100, 0, 1<<32 - 1, true},
		{100, 7, 8, true},
		{100, 0, 4, false},
		{100, 21, 1<<32 - 1, false},
		{101, 5, 20, false},
	} {
		tab, s := NewTable(own), &Subscriptions{}
		h := subscribe(tab, s, frame.Range{Type: c.typ, Lower: c.lower, Upper: c.upper}, frame.FilterPorts)
		tab.Insert(bound1(5, 20, 1, frame.ClusterScope))
		publish(tab, s)
		if got := h.take(); slices.Equal(got, []string{"P 5-20/1"}) != c.want {
			t.Errorf("%d: %d-%d: got %q", c.typ, c.lower, c.upper, got)
		}
	}
}

func TestLegal(t *testing.T) {
	for _, c := range []struct {
		lower, upper uint32
		f            frame.Filter
		want         bool
	}{
		{0, 0, frame.FilterPorts, true},
		{1, 0, frame.FilterPorts, false},
		{0, 1<<32 - 1, frame.FilterService, true},
		{0, 1, 0, true},
		{0, 1, frame.FilterPorts | frame.FilterService, false},
		{0, 1, frame.FilterPorts | 0xffffff00, true},
	} {
		x := Subscription{Range: frame.Range{Type: 1, Lower: c.lower, Upper: c.upper}, Filter: c.f}
		if got := x.Legal(); got != c.want {
			t.Errorf("%v %v: got %v", x.Range, x.Filter, got)
		}
	}
}

// sound checks a tree, and returns how many there are.
func (x *Subscription) sound(t *testing.T, lo, hi *Subscription) int {
	t.Helper()
	if x == nil {
		return 0
	}
	if lo != nil && !lo.before(x) || hi != nil && !x.before(hi) {
		t.Fatalf("%v is out of order", x.Range)
	}
	n := x.left.sound(t, lo, x) + x.right.sound(t, x, hi) + 1
	h, reach := x.height, x.reach
	if x.measure(); h != x.height || reach != x.reach {
		t.Fatalf("%v: height %d, reach %d; measured %d, %d", x.Range, h, reach, x.height, x.reach)
	}
	if d := x.left.tall() - x.right.tall(); d < -1 || d > 1 {
		t.Fatalf("%v: %d levels on the left, %d on the right", x.Range, x.left.tall(), x.right.tall())
	}
	return n
}

// Subscriptions come and go, and each change finds those, in their order, that a look
// at all of them finds.
//
// Proves: names.subscriptions
func TestSubscriptionsAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		s, all := &Subscriptions{}, []*Subscription(nil)
		rng := func() frame.Range {
			l := r.Uint32N(1000)
			return frame.Range{Type: r.Uint32N(2), Lower: l, Upper: l + r.Uint32N(100)*r.Uint32N(2)}
		}
		filters := []frame.Filter{frame.FilterPorts, frame.FilterService, frame.FilterPorts | frame.FilterNodeScope, 0}
		for i := range 1500 {
			if grow := i < 1000; r.IntN(3) > 0 == grow || len(all) == 0 {
				x := &Subscription{Range: rng(), Filter: filters[r.IntN(4)]}
				if seed%4 == 0 { // in order: the worst for a tree without balance
					x.Range.Lower = uint32(i)
					x.Range.Upper = uint32(i) + r.Uint32N(5)
				}
				s.Add(x)
				all = append(all, x)
			} else {
				k := r.IntN(len(all))
				s.Remove(all[k])
				s.Remove(all[k])
				if all[k].Added() {
					t.Fatal("removed, and there")
				}
				all = slices.Delete(all, k, k+1)
			}
			ev := Event{Withdrawn: r.IntN(2) == 0, Edge: r.IntN(2) == 0, Binding: Binding{Range: rng(), Scope: frame.Scope(2 + r.IntN(2))}}
			var want []*Subscription
			for _, x := range all {
				if x.Range.Overlaps(ev.Binding.Range) && x.wants(ev) {
					want = append(want, x)
				}
			}
			if got := s.Match([]*Subscription{nil}, ev); !slices.Equal(got[1:], want) {
				t.Fatalf("seed %d, %+v: got %d, want %d subscriptions", seed, ev, len(got)-1, len(want))
			}
			if got := inParts(t, s, ev, 1+i%5); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %+v: in parts of %d: got %d, want %d subscriptions", seed, ev, 1+i%5, len(got), len(want))
			}
			if i%16 != 0 {
				continue
			}
			n := 0
			for _, root := range s.types {
				n += root.sound(t, nil, nil)
			}
			if n != len(all) || s.Len() != n {
				t.Fatalf("seed %d: %d in the trees, %d counted, want %d", seed, n, s.Len(), len(all))
			}
		}
		for _, x := range all {
			s.Remove(x)
		}
		if len(s.types) != 0 {
			t.Errorf("seed %d: %d types are left without a subscription", seed, len(s.types))
		}
	}
}

// What a change costs beside 65535 subscriptions that it does not concern, and when one
// comes and goes.
func BenchmarkSubscriptions(b *testing.B) {
	for _, c := range []struct {
		name string
		r    func(i uint32) frame.Range
	}{
		{"of other types", func(i uint32) frame.Range { return frame.Range{Type: 1000 + i, Upper: 1<<32 - 1} }},
		{"of other instances", func(i uint32) frame.Range { return frame.Range{Type: 100, Lower: 10 + i, Upper: 10 + i} }},
	} {
		s := &Subscriptions{}
		for i := range uint32(MaxSubscriptions) {
			s.Add(&Subscription{Range: c.r(i), Filter: frame.FilterPorts})
		}
		s.Add(&Subscription{Range: frame.Range{Type: 100, Lower: 1, Upper: 3}, Filter: frame.FilterPorts})
		b.Run("change, "+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []*Subscription
			for range b.N {
				dst = s.Match(dst[:0], Event{Binding: bound1(2, 2, 1, frame.ClusterScope)})
			}
			if len(dst) != 1 {
				b.Fatal(len(dst))
			}
		})
		b.Run("add and remove, "+c.name, func(b *testing.B) {
			b.ReportAllocs()
			x := &Subscription{Range: frame.Range{Type: 100, Lower: 5, Upper: 7}}
			for range b.N {
				s.Add(x)
				s.Remove(x)
			}
		})
	}
}

// inParts finds the subscriptions that are to be told of ev, in parts that look at no more than
// n. Before each comes a subscription that is not to be told, and goes after it.
//
// Mutation: Next that begins anew.
func inParts(t *testing.T, s *Subscriptions, ev Event, n int) (all []*Subscription) {
	var m Matching
	for !m.Done() {
		r := ev.Binding.Range
		r.Lower, r.Upper = r.Upper+1, r.Upper+5
		y := &Subscription{Range: r}
		s.Add(y)
		var looked int
		if all, looked = m.Next(s, all, ev, n); looked > n {
			t.Fatalf("a part looks at %d, asked for %d", looked, n)
		}
		s.Remove(y)
	}
	ByAge(all)
	return all
}
