// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

const (
	own  frame.NodeAddr = 0xa
	far1 frame.NodeAddr = 0xb
	far2 frame.NodeAddr = 0xc
)

// A model is the binding table as naively as it can be written: all bindings in
// one list, the newest first; a turn moves the binding to the end.
type model struct {
	born  map[frame.Range]int // when a range was created
	clock int
	all   []Binding // in order of turn, over all ranges
	local []Binding
}

func (m *model) insert(b Binding) bool {
	if slices.Contains(m.all, b) {
		return false
	}
	if !slices.ContainsFunc(m.all, func(x Binding) bool { return x.Range == b.Range }) {
		m.clock++
		m.born[b.Range] = m.clock
	}
	m.all = slices.Insert(m.all, 0, b)
	if b.Socket.Node == own {
		m.local = slices.Insert(m.local, 0, b)
	}
	return true
}

func (m *model) remove(b Binding) bool {
	same := func(x Binding) bool { return x.Range == b.Range && x.Socket == b.Socket && x.Key == b.Key }
	n := len(m.all)
	m.all = slices.DeleteFunc(m.all, same)
	m.local = slices.DeleteFunc(m.local, same)
	return len(m.all) < n
}

func (m *model) purge(n frame.NodeAddr) {
	gone := func(x Binding) bool { return x.Socket.Node == n }
	m.all = slices.DeleteFunc(m.all, gone)
	m.local = slices.DeleteFunc(m.local, gone)
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
		return m.born[b] - m.born[a]
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

func key(b Binding) string {
	return fmt.Sprint(b.Range, b.Scope, b.Socket, b.Key)
}

func keys(list []Binding) (k []string) {
	for _, b := range list {
		k = append(k, key(b))
	}
	slices.Sort(k)
	return k
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
	tab, m := NewTable(own), &model{born: map[frame.Range]int{}}
	rng := func() frame.Range {
		l, u := edges[pop()%len(edges)], edges[pop()%len(edges)]
		return frame.Range{Type: 100 + uint32(pop()%2), Lower: min(l, u), Upper: max(l, u)}
	}
	binding := func() Binding {
		r, x := rng(), pop()
		b := Binding{Range: r, Scope: frame.ClusterScope, Key: uint32(x >> 5 & 3),
			Socket: frame.SocketAddr{Port: uint32(x & 3), Node: [...]frame.NodeAddr{own, far1, far2}[x>>2%3%3]}}
		if x&0x80 != 0 && b.Socket.Node == own {
			b.Scope = frame.NodeScope
		}
		return b
	}
	standing := map[string]bool{} // by the events
	memos := map[frame.Service]*Memo{}
	for len(b) > 0 {
		switch op := pop(); op % 8 {
		case 0, 1, 2:
			x := binding()
			// One binding has one scope; a second with another is a repetition.
			if i := slices.IndexFunc(m.all, func(y Binding) bool {
				return y.Range == x.Range && y.Socket == x.Socket && y.Key == x.Key
			}); i >= 0 {
				x = m.all[i]
			}
			if got, want := tab.Insert(x), m.insert(x); got != want {
				t.Fatalf("insert %v: got %v, want %v", key(x), got, want)
			}
		case 3:
			x := binding()
			if op&8 != 0 && len(m.all) > 0 {
				x = m.all[pop()%len(m.all)]
			}
			if got, want := tab.Remove(x), m.remove(x); got != want {
				t.Fatalf("remove %v: got %v, want %v", key(x), got, want)
			}
		case 4:
			if op&0x38 == 0x38 {
				n := [...]frame.NodeAddr{own, far1, far2}[pop()%3]
				tab.Purge(n)
				m.purge(n)
			}
		case 5, 6:
			a := frame.Service{Type: 100 + uint32(pop()%3), Instance: edges[pop()%len(edges)], Node: [...]frame.NodeAddr{0, 0, own, far1}[pop()%4]}
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
			r, remote := rng(), op&8 != 0
			got := tab.LocalReceivers([]uint32{77}, r, remote)
			if got[0] != 77 {
				t.Fatal("what stood in front is gone")
			}
			got = got[1:]
			slices.Sort(got)
			if want := m.receivers(r, remote); !slices.Equal(got, want) {
				t.Fatalf("receivers of %v, remote %v: got %v, want %v", r, remote, got, want)
			}
			var want []Binding
			for _, x := range m.all {
				if x.Range.Overlaps(r) {
					want = append(want, x)
				}
			}
			if got, want := keys(slices.Collect(tab.Overlapping(r))), keys(want); !slices.Equal(got, want) {
				t.Fatalf("overlapping %v:\n got %v\nwant %v", r, got, want)
			}
		}
		for _, e := range tab.TakeEvents(nil) {
			k := key(e.Binding)
			if standing[k] != e.Withdrawn {
				t.Fatalf("event %+v does not alternate", e)
			}
			standing[k] = !e.Withdrawn
		}
	}
	if got, want := keys(slices.Collect(tab.All())), keys(m.all); !slices.Equal(got, want) {
		t.Fatalf("all:\n got %v\nwant %v", got, want)
	}
	for _, k := range keys(m.all) {
		if !standing[k] {
			t.Fatalf("no event told of %v", k)
		}
	}
	for _, n := range []frame.NodeAddr{own, far1, far2} {
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
func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x01\x05\x00\x00\x05\x00\x05\x00"))
	f.Add([]byte("some bindings come and go and are looked up"))
	f.Fuzz(func(t *testing.T, b []byte) { runTable(t, b) })
}

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
