// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A slow monitor, as the specification tells it: the ring is walked by looking the next
// address up, and nothing is remembered but what it names.
type slow struct {
	self      frame.NodeAddr
	nodes     map[frame.NodeAddr]*slowNode // self among them
	order     []frame.NodeAddr             // their addresses, ascending
	gen, list frame.Seq
	own       frame.DomainFields
}

type slowNode struct {
	up, head, local bool
	applied         int
	look            bool
	by              map[frame.NodeAddr]int // who reported it lost since it answered last, as which member
	has             bool
	rec             frame.DomainFields

	list, peer, acked                   frame.Seq
	monitoring, probing, reset, synched bool
}

func newSlow(self frame.NodeAddr) *slow {
	return &slow{self: self, nodes: map[frame.NodeAddr]*slowNode{self: {up: true, head: true}}, order: []frame.NodeAddr{self}, list: 1} // SetThreshold counts
}

func (s *slow) next(a frame.NodeAddr) frame.NodeAddr {
	i, ok := slices.BinarySearch(s.order, a)
	if ok {
		i++
	}
	return s.order[i%len(s.order)]
}

func (s *slow) prev(a frame.NodeAddr) frame.NodeAddr {
	i, _ := slices.BinarySearch(s.order, a)
	return s.order[(i+len(s.order)-1)%len(s.order)]
}

func (s *slow) size() int {
	d := 1
	for d*d < len(s.nodes) {
		d++
	}
	return min(d, 64)
}

func (s *slow) apply(a frame.NodeAddr) {
	n := s.nodes[a]
	n.applied = 0
	if !n.up || !n.has {
		return
	}
	q := a
	for _, x := range n.rec.Members {
		if q = s.next(q); q != x || q == a {
			return
		}
		n.applied++
	}
}

func (s *slow) reapply(a frame.NodeAddr) {
	for range min(len(s.nodes), frame.MaxDomain+1) {
		if a != s.self {
			s.apply(a)
		}
		a = s.prev(a)
	}
}

func (s *slow) update() {
	s.nodes[s.self].applied = s.size() - 1
	var d frame.DomainFields
	q := s.self
	for i := range s.size() - 1 {
		q = s.next(q)
		d.Members = append(d.Members, q)
		if s.nodes[q].up {
			d.UpMap |= 1 << i
		}
	}
	if d.UpMap != s.own.UpMap || !slices.Equal(d.Members, s.own.Members) {
		s.gen++
		d.Gen = s.gen
		s.own = d
	}
}

func (s *slow) roles(head frame.NodeAddr) {
	i := 0
	for q := s.next(head); q != s.self; q = s.next(q) {
		n := s.nodes[q]
		n.local = false
		if i < s.nodes[head].applied {
			i++
			n.head, n.local = false, head == s.self
			continue
		}
		if !n.up {
			continue
		}
		if n.head {
			break
		}
		n.head, head, i = true, q, 0
	}
	s.list++
}

func (s *slow) follow(a frame.NodeAddr) {
	for !s.nodes[a].head {
		a = s.prev(a)
	}
	if s.nodes[s.self].applied != s.size()-1 {
		a = s.self
	}
	if a == s.self {
		s.update()
	}
	s.roles(a)
}

func (s *slow) lost(a frame.NodeAddr, before uint64, had int, after uint64, has int) {
	q := a
	for i := range had {
		q = s.next(q)
		n := s.nodes[q]
		switch {
		case q == s.self || !n.up || before>>i&1 == 0 || n.local:
		case has <= i:
			n.look = true
		case after>>i&1 == 0:
			if n.by == nil {
				n.by = make(map[frame.NodeAddr]int)
			}
			if _, ok := n.by[a]; !ok {
				n.by[a] = i
			}
		}
	}
}

func (s *slow) linkUp(a frame.NodeAddr) {
	n := s.nodes[a]
	if n == nil {
		n = &slowNode{}
		s.nodes[a] = n
		i, _ := slices.BinarySearch(s.order, a)
		s.order = slices.Insert(s.order, i, a)
		s.reapply(a)
	}
	n.up = true
	n.list, n.peer, n.acked, n.monitoring, n.probing, n.reset, n.synched = 0, 0, 0, false, false, false, false
	s.follow(a)
}

func (s *slow) clear(a frame.NodeAddr) {
	if n := s.nodes[a]; n.head && n.has {
		s.lost(a, n.rec.UpMap, n.applied, 0, 0)
	}
	s.retract(a, nil)
	*s.nodes[a] = slowNode{}
}

// retract forgets what a node reported of those who do not stand where they stood.
func (s *slow) retract(a frame.NodeAddr, members []frame.NodeAddr) {
	for i, q := range s.nodes[a].rec.Members {
		n := s.nodes[q]
		if n == nil {
			continue
		}
		if k, ok := n.by[a]; ok && k == i && (i >= len(members) || members[i] != q) {
			delete(n.by, a)
			n.look = true
		}
	}
}

func (s *slow) linkDown(a frame.NodeAddr) {
	s.clear(a)
	s.follow(a)
}

func (s *slow) remove(a frame.NodeAddr) {
	s.clear(a)
	p := s.prev(a)
	delete(s.nodes, a)
	i, _ := slices.BinarySearch(s.order, a)
	s.order = slices.Delete(s.order, i, i+1)
	s.reapply(p)
	s.follow(p)
	if len(s.nodes) <= DefaultThreshold {
		for o, n := range s.nodes {
			if o != s.self {
				n.has, n.rec, n.applied = false, frame.DomainFields{}, 0
			}
		}
	}
}

func (s *slow) receive(a frame.NodeAddr, data []byte) {
	n := s.nodes[a]
	probed := n.probing
	n.probing, n.reset = false, false
	d, err := frame.ParseDomain(data)
	if err != nil {
		return
	}
	if !n.synched {
		n.peer, n.acked, n.synched = d.Gen()-1, d.AckGen(), true
	}
	if d.AckGen().After(n.acked) {
		n.acked = d.AckGen()
	}
	newer := d.Gen().After(n.peer)
	if !newer && !probed || !n.up {
		return
	}
	n.by, n.look = nil, false
	if !newer {
		return
	}
	n.peer = d.Gen()
	before, had := n.rec.UpMap, n.applied
	s.retract(a, d.Fields(nil).Members)
	n.has, n.rec = true, d.Fields(nil)
	s.apply(a)
	s.lost(a, before, had, n.rec.UpMap, n.applied)
	for !s.nodes[a].head {
		a = s.prev(a)
	}
	s.roles(a)
}

func (s *slow) judge(a frame.NodeAddr) Duty {
	n := s.nodes[a]
	if len(s.nodes) <= DefaultThreshold {
		n.probing, n.monitoring = false, true
		return Duty{Count: true}
	}
	if n.probing || n.list != s.list || n.acked != s.gen {
		n.reset = n.probing && len(n.by) >= 4
		n.list = s.list
		n.probing = n.acked != s.gen || len(n.by) > 0 || n.look
		n.monitoring = n.local || n.head
	}
	return Duty{n.monitoring, n.probing, n.reset}
}

// play makes both do what bytes say, and compares all there is to see after each step.
func play(t *testing.T, self frame.NodeAddr, steps []byte) {
	m, s := New(self, DefaultThreshold), newSlow(self)
	at := 0
	next := func() byte {
		if at >= len(steps) {
			return 0
		}
		at++
		return steps[at-1]
	}
	var members []frame.NodeAddr
	for at < len(steps) {
		op, a := next(), self+frame.NodeAddr(int8(next()))
		p := m.Peer(a)
		switch {
		case a == self:
		case p == nil:
			m.Up(a)
			s.linkUp(a)
		case op < 8:
			m.Down(p)
			s.linkDown(a)
		case op < 16:
			m.Remove(p)
			s.remove(a)
		case op < 32:
			m.Up(a)
			s.linkUp(a)
		case op < 96:
			if got, want := m.Judge(p), s.judge(a); got != want {
				t.Fatalf("step %d: Judge(%v): got %+v, want %+v", at, a, got, want)
			}
		default:
			f := frame.DomainFields{Gen: p.cookie.peerGen + frame.Seq(int8(op-96)/8), AckGen: m.gen + frame.Seq(int8(next())/16)}
			members = members[:0]
			q := a
			for range next() % 16 {
				if q = s.next(q); next() >= 250 {
					q += 3
				}
				members = append(members, q)
				if s.nodes[q] == nil {
					q = a
				}
			}
			f.Members, f.UpMap = members, uint64(next())|uint64(next())<<8
			b := f.Append(nil)
			if op == 255 {
				b = b[:len(b)-1]
			}
			m.Receive(p, b)
			s.receive(a, b)
		}
		compare(t, at, m, s)
	}
}

func compare(t *testing.T, at int, m *Monitor, s *slow) {
	t.Helper()
	if len(m.ring) != len(s.nodes) || m.gen != s.gen || m.listGen != s.list || !slices.Equal(m.own.members, s.own.Members) || m.own.up != s.own.UpMap {
		t.Fatalf("step %d: got %d nodes, generation %d, list %d, domain %v %b, want %d, %d, %d, %v %b", at,
			len(m.ring), m.gen, m.listGen, m.own.members, m.own.up, len(s.nodes), s.gen, s.list, s.own.Members, s.own.UpMap)
	}
	a := s.self
	for _, p := range m.ring {
		n := s.nodes[a]
		got := seen{p.addr, p.up, p.head, p.local, p.look, p.record != nil, int(p.applied), int(p.downs), p.cookie}
		want := seen{
			a, n.up, n.head, n.local, n.look, n.has, n.applied, len(n.by),
			cookie{n.list, n.peer, n.acked, n.monitoring, n.probing, n.reset, n.synched},
		}
		if got != want {
			t.Fatalf("step %d: got %+v, want %+v", at, got, want)
		}
		a = s.next(a)
	}
}

// What there is to see of a member.
type seen struct {
	addr                        frame.NodeAddr
	up, head, local, look, told bool
	applied, downs              int
	cookie                      cookie
}

// TestAgainstModel plays random lives of a ring, most of the time a large one.
//
// Proves: contact.monitor
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		steps := make([]byte, 4000)
		for i := range steps {
			steps[i] = byte(r.Uint32())
		}
		play(t, frame.NodeAddr([]uint32{0x01001001, 5, 0xfffffff0, 0x80000000}[seed%4]), steps)
	}
}

// FuzzMonitor looks for a life of a ring that the model lives otherwise, or that panics.
//
// Proves: contact.monitor
func FuzzMonitor(f *testing.F) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		steps := make([]byte, 300)
		for i := range steps {
			steps[i] = byte(r.Uint32())
		}
		f.Add(uint32(seed*0x7fffffff+1), steps)
	}
	f.Fuzz(func(t *testing.T, self uint32, steps []byte) {
		if len(steps) > 2000 {
			steps = steps[:2000]
		}
		play(t, frame.NodeAddr(self), steps)
	})
}
