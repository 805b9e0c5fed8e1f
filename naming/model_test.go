// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

const (
	own     frame.NodeAddr = 0xa
	remote1 frame.NodeAddr = 0xb
	remote2 frame.NodeAddr = 0xc
)

func single(typ, instance uint32) frame.Range {
	return frame.Range{Type: typ, Lower: instance, Upper: instance}
}

// A model is the binding table as naively as it can be written: all bindings in
// one list, the newest first; a turn moves the binding to the end.
type model struct {
	created map[frame.Range]int // when a range was created
	clock   int
	limit   int
	all     []Binding // in order of turn, over all ranges
	local   []Binding
	came    []Binding // in order of insertion
	events  []Event
}

func (m *model) bound(r frame.Range) bool {
	return slices.ContainsFunc(m.came, func(x Binding) bool { return x.Range == r })
}

func (m *model) add(b Binding) error {
	switch {
	case slices.Contains(m.all, b):
		return ErrRepeated
	case len(m.all) >= m.limit && b.Socket.Node != own:
		return ErrTableFull
	}
	edge := !m.bound(b.Range)
	if edge {
		m.clock++
		m.created[b.Range] = m.clock
	}
	m.all = slices.Insert(m.all, 0, b)
	if b.Socket.Node == own {
		m.local = slices.Insert(m.local, 0, b)
	}
	m.came = append(m.came, b)
	m.events = append(m.events, Event{Edge: edge, Binding: b})
	return nil
}

// drop removes the first binding, in order of insertion, for which f is true.
func (m *model) drop(f func(Binding) bool) bool {
	i := slices.IndexFunc(m.came, f)
	if i < 0 {
		return false
	}
	b := m.came[i]
	same := func(x Binding) bool { return x == b }
	m.came = slices.DeleteFunc(m.came, same)
	m.all = slices.DeleteFunc(m.all, same)
	m.local = slices.DeleteFunc(m.local, same)
	m.events = append(m.events, Event{Withdrawn: true, Edge: !m.bound(b.Range), Binding: b})
	return true
}

func (m *model) remove(b Binding) bool {
	return m.drop(func(x Binding) bool { return x.Range == b.Range && x.Socket == b.Socket && x.Key == b.Key })
}

func (m *model) purge(n frame.NodeAddr) {
	for m.drop(func(x Binding) bool { return x.Socket.Node == n }) {
	}
}

// overlapping returns all bindings that overlap r, and the oldest of each range.
func (m *model) overlapping(r frame.Range) (all, ranges []Binding) {
	for _, b := range m.came {
		if !b.Range.Overlaps(r) {
			continue
		}
		all = append(all, b)
		if !slices.ContainsFunc(ranges, func(x Binding) bool { return x.Range == b.Range }) {
			ranges = append(ranges, b)
		}
	}
	return all, ranges
}

func (m *model) nodes(r frame.Range) (ns []frame.NodeAddr) {
	for _, b := range m.came {
		if b.Range.Overlaps(r) {
			ns = append(ns, b.Socket.Node)
		}
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// inOrder returns all bindings as All does.
func (m *model) inOrder() (list []Binding) {
	rs := m.ranges()
	slices.SortStableFunc(rs, func(a, b frame.Range) int { return cmp.Compare(a.Type, b.Type) })
	for _, r := range rs {
		for _, b := range m.all {
			if b.Range == r {
				list = append(list, b)
			}
		}
	}
	return list
}

// ranges returns the ranges there are, in the order lookups visit them.
func (m *model) ranges() (rs []frame.Range) {
	for _, b := range m.all {
		if !slices.Contains(rs, b.Range) {
			rs = append(rs, b.Range)
		}
	}
	slices.SortFunc(rs, func(a, b frame.Range) int {
		switch {
		case a.Lower != b.Lower && a.Lower < b.Lower:
			return -1
		case a.Lower != b.Lower:
			return 1
		}
		return m.created[b] - m.created[a]
	})
	return rs
}

func turn(list []Binding, r frame.Range) (frame.SocketAddr, bool) {
	for i, b := range list {
		if b.Range == r {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = b
			return b.Socket, true
		}
	}
	return frame.SocketAddr{}, false
}

func (m *model) anycast(a frame.Service) (frame.SocketAddr, bool) {
	if a.Node != 0 && a.Node != own {
		return frame.SocketAddr{Node: a.Node}, true
	}
	for _, r := range m.ranges() {
		if r.Type != a.Type || a.Instance < r.Lower || a.Instance > r.Upper {
			continue
		}
		if a.Node == 0 {
			return turn(m.all, r)
		}
		if s, ok := turn(m.local, r); ok {
			return s, true
		}
	}
	return frame.SocketAddr{}, false
}

func (m *model) receivers(r frame.Range, remote bool) (ports []uint32) {
	for _, b := range m.local {
		if b.Range.Overlaps(r) && b.Socket.Port != 0 && !(remote && b.Scope != frame.ClusterScope) && !slices.Contains(ports, b.Socket.Port) {
			ports = append(ports, b.Socket.Port)
		}
	}
	slices.Sort(ports)
	return ports
}

// edges are instances where bounds meet.
var edges = [...]uint32{0, 1, 2, 3, 5, 8, 9, 10, 15, 1<<32 - 2, 1<<32 - 1}

// runTable makes calls of a Table and its model and compares all answers.
func runTable(t testing.TB, b []byte) {
	pop := func() int {
		if len(b) == 0 {
			return 0
		}
		x := b[0]
		b = b[1:]
		return int(x)
	}
	tab, m := NewTable(own), &model{created: map[frame.Range]int{}, limit: DefaultLimit}
	mode := pop()
	if mode&3 == 3 {
		tab.Limit, m.limit = mode>>4, mode>>4
	}
	few := len(edges) // of ranges, else many bind the same
	if mode&4 != 0 {
		few = 2
	}
	rng := func() frame.Range {
		l, u := edges[pop()%few], edges[pop()%few]
		if mode&8 != 0 {
			u = l // single instances only
		}
		return frame.Range{Type: 100 + uint32(pop()%2), Lower: min(l, u), Upper: max(l, u)}
	}
	binding := func() Binding {
		r, x := rng(), pop()
		b := Binding{
			Range: r, Scope: frame.ClusterScope, Key: uint32(x >> 5 & 3),
			Socket: frame.SocketAddr{Port: uint32(x & 3), Node: [...]frame.NodeAddr{own, remote1, remote2}[x>>2%3%3]},
		}
		if x&0x80 != 0 && b.Socket.Node == own {
			b.Scope = frame.NodeScope
		}
		return b
	}
	memos, many := map[frame.Service]*Memo{}, map[frame.Range]*NodesMemo{}
	for len(b) > 0 {
		switch op := pop(); op % 10 {
		case 0, 1, 2:
			x := binding()
			// One binding has one scope; a second with another is a repetition.
			if i := slices.IndexFunc(m.all, func(y Binding) bool {
				return y.Range == x.Range && y.Socket == x.Socket && y.Key == x.Key
			}); i >= 0 {
				x = m.all[i]
			}
			if got, want := tab.Add(x), m.add(x); got != want {
				t.Fatalf("add %+v: got %v, want %v", x, got, want)
			}
		case 3:
			x := binding()
			if op&16 != 0 && len(m.all) > 0 {
				x = m.all[pop()%len(m.all)]
			}
			if got, want := tab.Remove(x), m.remove(x); got != want {
				t.Fatalf("remove %+v: got %v, want %v", x, got, want)
			}
		case 4:
			if op > 200 {
				n := [...]frame.NodeAddr{own, remote1, remote2}[pop()%3]
				tab.Purge(n)
				m.purge(n)
			}
		case 5, 6:
			a := frame.Service{Type: 100 + uint32(pop()%3), Instance: edges[pop()%len(edges)], Node: [...]frame.NodeAddr{0, 0, own, remote1}[pop()%4]}
			if memos[a] == nil {
				memos[a] = &Memo{}
			}
			again, found := tab.Recall(memos[a], a)
			got, ok := tab.Anycast(a)
			if found != ok || again.Socket() != got {
				t.Fatalf("recall %v: got %v %v, choice %v %v", a, again.Socket(), found, got, ok)
			}
			want, wantOK := m.anycast(a)
			if got != want || ok != wantOK {
				t.Fatalf("anycast %v: got %v %v, want %v %v", a, got, ok, want, wantOK)
			}
		case 7:
			r, remote := rng(), op&16 != 0
			got := tab.LocalReceivers([]uint32{77}, r, remote)
			if want := append([]uint32{77}, m.receivers(r, remote)...); !slices.Equal(got, want) {
				t.Fatalf("receivers of %v, remote %v: got %v, want %v", r, remote, got, want)
			}
		case 8:
			r := rng()
			if many[r] == nil {
				many[r] = &NodesMemo{}
			}
			want := append([]frame.NodeAddr{77}, m.nodes(r)...)
			if got := tab.Nodes([]frame.NodeAddr{77}, r); !slices.Equal(got, want) {
				t.Fatalf("nodes of %v: got %v, want %v", r, got, want)
			}
			if got := tab.RecallNodes(many[r], []frame.NodeAddr{77}, r); !slices.Equal(got, want) {
				t.Fatalf("nodes of %v recalled: got %v, want %v", r, got, want)
			}
		case 9:
			r := rng()
			all, ranges := m.overlapping(r)
			if got := slices.Collect(tab.Overlapping(r)); !slices.Equal(got, all) {
				t.Fatalf("overlapping %v:\n got %v\nwant %v", r, got, all)
			}
			if got := slices.Collect(tab.OverlappingRanges(r)); !slices.Equal(got, ranges) {
				t.Fatalf("ranges that overlap %v:\n got %v\nwant %v", r, got, ranges)
			}
		}
		got := tab.TakeEvents(nil)
		for i := range got {
			got[i].created, got[i].serial = 0, 0 // the model has no places
		}
		if !slices.Equal(got, m.events) {
			t.Fatalf("events:\n got %+v\nwant %+v", got, m.events)
		}
		m.events = m.events[:0]
		if err := tab.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := slices.Collect(tab.All()), m.inOrder(); !slices.Equal(got, want) {
		t.Fatalf("all:\n got %v\nwant %v", got, want)
	}
	if tab.Len() != len(m.all) {
		t.Fatalf("got %d bindings, want %d", tab.Len(), len(m.all))
	}
	for _, n := range []frame.NodeAddr{own, remote1, remote2} {
		want := 0
		for _, x := range m.all {
			if x.Socket.Node == n {
				want++
			}
		}
		if got := tab.Count(n); got != want {
			t.Fatalf("count of %v: got %v, want %v", n, got, want)
		}
	}
}

// FuzzTable runs a Table beside the naive model.
//
// Proves: names.distribution, names.rules
func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x01\x05\x00\x00\x05\x00\x05\x00"))
	f.Add([]byte("some bindings come and go and are looked up"))
	f.Fuzz(func(t *testing.T, b []byte) { runTable(t, b) })
}

// Proves: names.distribution, names.rules
func TestTableAgainstModel(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := make([]byte, 1500)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		runTable(t, b)
	}
}
