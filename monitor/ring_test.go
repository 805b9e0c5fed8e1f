// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"math/rand/v2"
	"testing"

	"github.com/utipc/utipc/frame"
)

// manyMonitors is nodes 1 to n in one segment, each with a monitor, and tells each of all.
func manyMonitors(n, threshold int) []*Monitor {
	all := make([]*Monitor, n)
	for i := range all {
		all[i] = New(frame.NodeAddr(i+1), threshold)
	}
	for i, m := range all {
		for k := range all {
			if k != i {
				m.Up(frame.NodeAddr(k + 1))
			}
		}
	}
	return all
}

// exchange lets all that are up tell each other their records, until nobody has more
// to say, and reports how many rounds it took.
func exchange(t *testing.T, all []*Monitor, up func(int) bool) {
	t.Helper()
	var buf [512]byte
	for range 20 {
		quiet := true
		for i, m := range all {
			for k, o := range all {
				if i == k || !up(i) || !up(k) {
					continue
				}
				p, q := m.Peer(o.Self().addr), o.Peer(m.Self().addr)
				if p == nil || q == nil || !p.up || !q.up {
					continue
				}
				if m.Judge(p).Probe {
					quiet = false
				}
				b := m.Append(buf[:0], p, 1000)
				if !o.Receive(q, b) && m.Active() {
					t.Fatalf("%v refused the record %x of %v", o.Self().addr, b, m.Self().addr)
				}
			}
		}
		if quiet {
			return
		}
	}
	for i, m := range all {
		for _, p := range m.ring[1:] {
			if k := int(p.addr) - 1; up(i) && up(k) && p.up && m.Judge(p).Probe {
				t.Fatalf("after 20 rounds %v still probes %v: own generation %d, %+v", m.Self().addr, p.addr, m.gen, *p)
			}
		}
	}
	t.Fatal("after 20 rounds there is still something to tell")
}

func everybody(int) bool { return true }

// Proves: contact.monitor
func TestReach(t *testing.T) {
	for _, c := range []struct{ size, want int }{
		{1, 0}, {2, 1}, {4, 1}, {5, 2}, {9, 2}, {10, 3}, {33, 5}, {1000, 31}, {3969, 62}, {3970, 63}, {4097, 63},
	} {
		m := &Monitor{ring: make([]*Peer, c.size)}
		if got := m.reach(); got != c.want {
			t.Errorf("ring of %d: got a domain of %d, want %d", c.size, got, c.want)
		}
	}
}

// TestEverybodyIsWatched asks of rings of many sizes: each node that is up is
// supervised directly or stands in the applied domain of a head, the supervised are
// about twice the square root, and every node is supervised by its domain's owners.
//
// Proves: contact.monitor
func TestEverybodyIsWatched(t *testing.T) {
	for _, n := range []int{33, 34, 50, 100, 200} {
		all := manyMonitors(n, DefaultThreshold)
		exchange(t, all, everybody)
		watchers := make([]int, n+1)
		for _, m := range all {
			direct, covered := 0, 0
			for _, p := range m.ring[1:] {
				switch {
				case p.local || p.head:
					direct++
					watchers[p.addr]++
				case covered == 0:
					t.Fatalf("ring of %d: %v watches %v neither itself nor by a head", n, m.Self().addr, p.addr)
				}
				if covered--; p.head {
					covered = int(p.applied)
				}
			}
			if want := 2*(m.reach()+1) + 1; direct > want {
				t.Errorf("ring of %d: %v watches %d itself, want at most %d", n, m.Self().addr, direct, want)
			}
		}
		for a := 1; a <= n; a++ {
			if watchers[a] < all[0].reach() {
				t.Errorf("ring of %d: node %d is watched by %d, want at least its %d predecessors", n, a, watchers[a], all[0].reach())
			}
		}
	}
}

// TestThreshold: up to it nothing is sent and everybody counts silence; beyond, not.
//
// Proves: contact.monitor
func TestThreshold(t *testing.T) {
	all := manyMonitors(33, 33)
	m := all[0]
	p := m.ring[20]
	if m.Active() || m.RecordLen(p, 1000) != 0 || m.Judge(p) != (Duty{Count: true}) {
		t.Errorf("33 nodes, threshold 33: got active %v, %d bytes, %+v", m.Active(), m.RecordLen(p, 1000), m.Judge(p))
	}
	m.SetThreshold(32)
	if !m.Active() || m.RecordLen(p, 1000) != recordHead+4*5 || !m.Judge(p).Probe {
		t.Errorf("threshold 32: got active %v, %d bytes, %+v", m.Active(), m.RecordLen(p, 1000), m.Judge(p))
	}
	for _, c := range [][2]int{{0, DefaultThreshold}, {-1, 1}, {1, 1}, {4095, 4095}, {4096, 4095}} {
		if m.SetThreshold(c[0]); m.Threshold() != c[1] {
			t.Errorf("SetThreshold(%d): got %d, want %d", c[0], m.Threshold(), c[1])
		}
	}
}

// TestSmallRoomHasDummies: a record that does not fit is sent without its members, and
// none where not even that fits.
//
// Proves: contact.monitor
func TestSmallRoomHasDummies(t *testing.T) {
	m := manyMonitors(40, 32)[0]
	p := m.ring[1]
	full := recordHead + 4*6
	for _, c := range [][2]int{{1000, full}, {full, full}, {full - 1, recordHead}, {recordHead, recordHead}, {recordHead - 1, 0}, {-5, 0}} {
		if got := len(m.Append(nil, p, c[0])); got != c[1] || got != m.RecordLen(p, c[0]) {
			t.Errorf("room for %d: got %d bytes, announced %d, want %d", c[0], got, m.RecordLen(p, c[0]), c[1])
		}
	}
}

// TestExample is the specification's: four nodes, threshold 2.
// Source: docs/spec/03-discovery-and-node.md §8.2.
//
// Proves: contact.monitor
func TestExample(t *testing.T) {
	m := New(0x01001001, 2)
	for _, a := range []frame.NodeAddr{0x01001002, 0x01001003, 0x01001004} {
		m.Up(a)
	}
	m.gen, m.own.gen = 1, 1 // a kernel's bearer came up when all was there
	p := m.Peer(0x01001002)
	d, err := frame.ParseDomain(m.Append(nil, p, 1000))
	if err != nil || d.Gen() != 1 || d.AckGen() != 0 || d.Len() != 1 || d.UpMap() != 1 || d.Member(0) != 0x01001002 {
		t.Fatalf("got %x, %v", m.Append(nil, p, 1000), err)
	}
	answer := (&frame.DomainFields{Gen: 2, AckGen: 1, UpMap: 1, Members: []frame.NodeAddr{0x01001003}}).Append(nil)
	if !m.Receive(p, answer) {
		t.Fatal("the answer was refused")
	}
	want := (&frame.DomainFields{Gen: 1, AckGen: 2}).Append(nil)
	if got := m.Append(nil, p, 1000); string(got) != string(want) {
		t.Errorf("behind the acknowledgement: got %x, want %x", got, want)
	}
}

// TestLeaveAndReturn: nodes go and come at random; in the end all see the same ring.
//
// Proves: contact.monitor
func TestLeaveAndReturn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := manyMonitors(60, 32)
	up := make([]bool, len(all))
	for i := range up {
		up[i] = true
	}
	isUp := func(i int) bool { return up[i] }
	exchange(t, all, isUp)
	for range 40 {
		i := r.IntN(len(all))
		up[i] = !up[i]
		for k, m := range all {
			a := frame.NodeAddr(i + 1)
			switch {
			case k == i && up[i]: // starts again
				all[i] = New(a, 32)
				for o := range all {
					if o != i && up[o] {
						all[i].Up(frame.NodeAddr(o + 1))
					}
				}
			case k == i || !up[k]:
			case up[i]:
				m.Up(a)
			case r.IntN(2) == 0:
				m.Down(m.Peer(a))
			default:
				m.Remove(m.Peer(a))
			}
		}
		exchange(t, all, isUp)
		for k, m := range all {
			if !up[k] {
				continue
			}
			for _, p := range m.ring[1:] {
				if p.up != up[p.addr-1] || p.up && (p.downs > 0 || m.Judge(p).Reset) {
					t.Fatalf("%v sees %v: up %v, %d reports, %+v", m.Self().addr, p.addr, p.up, p.downs, m.Judge(p))
				}
			}
		}
	}
}
