// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// says makes p send a record with its own next generation.
func says(m *Monitor, p *Peer, up uint64, members ...frame.NodeAddr) bool {
	f := frame.DomainFields{Gen: p.cookie.peerGen + 1, AckGen: m.gen, UpMap: up, Members: members}
	return m.Receive(p, f.Append(nil))
}

// ringOf is the monitor of node 1 in a ring of n, with every node's record.
func ringOf(t *testing.T, n int) *Monitor {
	t.Helper()
	all := manyMonitors(n, 32)
	exchange(t, all, everybody)
	return all[0]
}

// domain returns what a node of 1 to n says of itself in good faith.
func domain(n, reach int, a frame.NodeAddr) (members []frame.NodeAddr) {
	for i := range reach {
		members = append(members, (a+frame.NodeAddr(i))%frame.NodeAddr(n)+1)
	}
	return members
}

// TestReports: a node that those before it report lost is probed, and given up after
// four reports and one probe without answer. One that answers stays.
//
// Proves: contact.monitor
func TestReports(t *testing.T) {
	const n, victim = 50, 30
	reach := frame.NodeAddr(7)
	for _, answers := range []bool{false, true} {
		m := ringOf(t, n)
		q := m.Peer(victim)
		if q.local {
			t.Fatal("the victim stands in the own domain")
		}
		for k := frame.NodeAddr(1); k <= 4; k++ {
			a := victim - k
			if !says(m, m.Peer(a), (1<<reach-1)&^(1<<(k-1)), domain(n, int(reach), a)...) {
				t.Fatalf("the report of %v was refused", a)
			}
			if q.downs != uint8(k) {
				t.Errorf("after %d reports: got %d", k, q.downs)
			}
		}
		if d := m.Judge(q); !d.Probe || d.Reset {
			t.Errorf("after four reports: got %+v, want a probe first", d)
		}
		if answers {
			m.Receive(q, (&frame.DomainFields{Gen: q.cookie.peerGen, AckGen: m.gen}).Append(nil))
		}
		if d := m.Judge(q); d.Reset == answers || d.Probe == answers {
			t.Errorf("next interval, answered %v: got %+v", answers, d)
		}
		if d := m.Judge(q); d.Reset == answers {
			t.Errorf("third interval, answered %v: got %+v", answers, d)
		}
	}
}

// TestLiarEndsNoLink: one neighbour says of a living one, as often as it can, that it
// is lost, up, lost, and is gone and there again. It counts once, so that the living one
// is not given up though half of its probes are lost.
//
// Proves: contact.monitor
func TestLiarEndsNoLink(t *testing.T) {
	const n, victim, liar = 50, 30, 29
	m := ringOf(t, n)
	q, p := m.Peer(victim), m.Peer(liar)
	members := domain(n, 7, liar)
	for k := range 100 {
		for i := range 32 {
			says(m, p, (1<<7-1)&^uint64(i%2), members[:7-i%4%3]...)
			if i%8 == k%8 {
				m.Down(p)
				m.Up(liar)
			}
			if q.downs > 1 {
				t.Fatalf("one neighbour counts as %d", q.downs)
			}
		}
		d := m.Judge(q)
		if d.Reset {
			t.Fatal("a liar ended the link of a neighbour that answers")
		}
		if d.Probe && k%2 == 0 { // it lives
			m.Receive(q, (&frame.DomainFields{Gen: q.cookie.peerGen, AckGen: m.gen}).Append(nil))
		}
	}
}

// TestLostHead: when a head is lost, those it covered are probed once.
//
// Proves: contact.monitor
func TestLostHead(t *testing.T) {
	m := ringOf(t, 50)
	i := slices.IndexFunc(m.ring, func(p *Peer) bool { return p.head && p != m.ring[0] && p.applied > 0 })
	h := m.ring[i]
	covered := slices.Clone(m.ring[i+1 : i+1+int(h.applied)])
	m.Down(h)
	if h.head || h.up || h.record != nil || h.applied != 0 {
		t.Errorf("the lost head: got %+v", *h)
	}
	for _, q := range covered {
		if d := m.Judge(q); !q.look || q.downs != 0 || !d.Probe {
			t.Errorf("%v, which it covered: got %d reports, %+v, want none, a probe", q.addr, q.downs, d)
		}
	}
}

// TestLostHeadKeepsReports: what others reported of a node counts on when a head that
// covered it is lost too, as when many die at once.
func TestLostHeadKeepsReports(t *testing.T) {
	m := ringOf(t, 50)
	i := slices.IndexFunc(m.ring, func(p *Peer) bool { return p.head && p != m.ring[0] && p.applied > 0 })
	q := m.ring[i+1]
	for k := frame.NodeAddr(2); k <= 4; k++ { // not the head, which stands right before it
		a := q.addr - k
		says(m, m.Peer(a), (1<<7-1)&^(1<<(k-1)), domain(50, 7, a)...)
	}
	had := q.downs
	if m.Down(m.ring[i]); had < 2 || q.downs != had {
		t.Errorf("got %d reports, and %d once the head was lost, want as many", had, q.downs)
	}
}

// TestRecords: what is no record changes nothing; what is wrong about the ring is kept,
// and covers nobody.
//
// Proves: contact.monitor
func TestRecords(t *testing.T) {
	good := func(gen, ack frame.Seq, up uint64, members ...frame.NodeAddr) []byte {
		return (&frame.DomainFields{Gen: gen, AckGen: ack, UpMap: up, Members: members}).Append(nil)
	}
	many := make([]frame.NodeAddr, frame.MaxDomain)
	for i := range many {
		many[i] = frame.NodeAddr(21 + i)
	}
	long := good(100, 0, 1, many...)
	long = append(long, 0, 0, 0, 99)
	long[1], long[7] = byte(len(long)&0xff), 65
	long[0] = byte(len(long) >> 8)
	for _, c := range []struct {
		name    string
		record  []byte
		ok      bool
		applied int
	}{
		{"none", nil, false, 7},
		{"cut", good(100, 0, 1, 21)[:15], false, 7},
		{"longer than it says", append(good(100, 0, 1, 21), 0), false, 7},
		{"more members than there are", func() []byte { b := good(100, 0, 1, 21); b[7] = 2; return b }(), false, 7},
		{"65 members", long, false, 7},
		{"length and members differ", func() []byte { b := good(100, 0, 1, 21); b[1] = 16; return b }(), false, 7},
		{"64 members, all right", good(100, 0, 1, many...), true, 30},
		{"none of ours", good(100, 0, 1, 900, 901), true, 0},
		{"itself", good(100, 0, 1, 20, 21), true, 0},
		{"one repeated", good(100, 0, 1, 21, 21), true, 1},
		{"this node", good(100, 0, 1, 1), true, 0},
		{"backwards", good(1, 0, 0), true, 7},
		{"the same again", nil, true, 7}, // filled in below
	} {
		m := ringOf(t, 50)
		p := m.Peer(20)
		p.cookie.peerGen = 50
		if c.name == "the same again" {
			c.record = good(50, 0, 0, 21)
		}
		if got := m.Receive(p, c.record); got != c.ok || int(p.applied) != c.applied {
			t.Errorf("%s: got ok %v, %d applied, want %v, %d", c.name, got, p.applied, c.ok, c.applied)
		}
	}
}

// TestAcknowledgement: an acknowledgement counts forwards alone, and a new session
// begins with what the first record says.
//
// Proves: contact.monitor
func TestAcknowledgement(t *testing.T) {
	m := ringOf(t, 50)
	p := m.Peer(20)
	c := &p.cookie
	for _, x := range []struct{ ack, want frame.Seq }{{m.gen - 1, m.gen}, {m.gen, m.gen}, {m.gen + 3, m.gen + 3}, {m.gen, m.gen + 3}} {
		m.Receive(p, (&frame.DomainFields{Gen: c.peerGen, AckGen: x.ack}).Append(nil))
		if c.ackedGen != x.want {
			t.Errorf("ack %d: got %d, want %d", x.ack, c.ackedGen, x.want)
		}
	}
	m.Down(p)
	m.Up(20)
	if m.Receive(p, (&frame.DomainFields{Gen: 7, AckGen: 9}).Append(nil)); c.peerGen != 7 || c.ackedGen != 9 {
		t.Errorf("new session: got generation %d, acknowledged %d, want 7, 9", c.peerGen, c.ackedGen)
	}
}

// TestDomainFollowsTheRing: the own domain has the ring's size at once, whoever came.
//
// Proves: contact.monitor
func TestDomainFollowsTheRing(t *testing.T) {
	m := New(1, 32)
	for a := frame.NodeAddr(2); a <= 300; a++ {
		m.Up(a)
		if m.own.count() != m.reach() || int(m.Self().applied) != m.reach() {
			t.Fatalf("ring of %d: got a domain of %d, want %d", m.Size(), m.own.count(), m.reach())
		}
	}
	for a := frame.NodeAddr(300); a > 1; a-- {
		m.Remove(m.Peer(a))
		if m.own.count() != m.reach() {
			t.Fatalf("ring of %d: got a domain of %d, want %d", m.Size(), m.own.count(), m.reach())
		}
	}
	if m.Size() != 1 || cap(m.ring) > 64 {
		t.Errorf("at the end: got a ring of %d, memory for %d", m.Size(), cap(m.ring))
	}
}

// Proves: contact.monitor
func TestNoAllocs(t *testing.T) {
	m := ringOf(t, 100)
	p := m.Peer(40)
	buf := make([]byte, 0, 512)
	members := domain(100, 9, 40)
	gen := p.cookie.peerGen
	if n := testing.AllocsPerRun(200, func() {
		gen++
		buf = (&frame.DomainFields{Gen: gen, AckGen: m.gen, UpMap: uint64(gen), Members: members}).Append(buf[:0])
		m.Receive(p, buf)
		m.Judge(p)
		buf = m.Append(buf[:0], p, 1000)
	}); n != 0 {
		t.Errorf("got %v allocations for a STATE each way, want 0", n)
	}
}
