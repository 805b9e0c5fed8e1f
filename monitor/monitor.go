// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// Numbers of the monitor. Source: docs/spec/03-discovery-and-node.md §8.
const (
	DefaultThreshold = 32   // ring members up to which every node probes every other
	MaxThreshold     = 4095 // the largest that may be set

	lostReports = 4 // reports that end a link
)

// A Monitor watches the neighbours on one bearer.
type Monitor struct {
	threshold int
	gen       frame.Seq // of our own domain
	listGen   frame.Seq // changes with who is supervised how
	ring      []*Peer   // ring[0] is this node; the others by address, its successor first
	own       record    // our own domain
}

// New makes the monitor of a node with no neighbours. threshold is as in SetThreshold.
func New(self frame.NodeAddr, threshold int) *Monitor {
	m := &Monitor{ring: []*Peer{{addr: self, up: true, head: true}}}
	m.SetThreshold(threshold)
	return m
}

// Self is the node's own place in the ring.
func (m *Monitor) Self() *Peer { return m.ring[0] }

// Threshold is the largest ring in which every node probes every other.
func (m *Monitor) Threshold() int { return m.threshold }

// SetThreshold changes it: 1 to MaxThreshold; what is beyond becomes the nearest, and 0
// DefaultThreshold.
func (m *Monitor) SetThreshold(n int) {
	if n == 0 {
		n = DefaultThreshold
	}
	m.threshold = min(max(n, 1), MaxThreshold)
	m.listGen++ // all links ask again
}

// Active reports whether the ring is large enough to be supervised by domains.
func (m *Monitor) Active() bool { return len(m.ring) > m.threshold }

// Size is the number of members of the ring, this node included.
func (m *Monitor) Size() int { return len(m.ring) }

// reach is the number of members a domain has in a ring of this size: its square
// root, rounded up, less the node itself.
func (m *Monitor) reach() int {
	i := 1
	for i*i < len(m.ring) && i < frame.MaxDomain {
		i++
	}
	return i - 1
}

// distance is how far behind this node an address stands in the ring.
func (m *Monitor) distance(a frame.NodeAddr) uint32 { return uint32(a) - uint32(m.ring[0].addr) }

// place is where an address stands in the ring, or belongs.
func (m *Monitor) place(a frame.NodeAddr) (at int, ok bool) {
	return slices.BinarySearchFunc(m.ring, m.distance(a), func(p *Peer, d uint32) int {
		switch o := m.distance(p.addr); {
		case o < d:
			return -1
		case o > d:
			return 1
		}
		return 0
	})
}

// at is the member at a place, counted round the ring.
func (m *Monitor) at(i int) *Peer {
	if n := len(m.ring); i >= n {
		i %= n
	}
	return m.ring[i]
}

// Peer returns a member, nil if there is none.
func (m *Monitor) Peer(a frame.NodeAddr) *Peer {
	if i, ok := m.place(a); ok {
		return m.ring[i]
	}
	return nil
}

// Up notes that the link to a node is up, and begins a session of records with it.
// The address must not be this node's.
func (m *Monitor) Up(a frame.NodeAddr) *Peer {
	i, ok := m.place(a)
	if !ok {
		m.ring = slices.Insert(m.ring, i, &Peer{addr: a})
		m.reapply(i)
	}
	p := m.ring[i]
	p.up = true
	p.cookie = cookie{}
	m.follow(i)
	return p
}

// Down notes that the link to a node is down. Who it covered is looked after.
func (m *Monitor) Down(p *Peer) {
	i, ok := m.place(p.addr)
	if !ok || m.ring[i] != p || i == 0 {
		return
	}
	m.down(i)
	m.follow(i)
}

// Remove takes a node out of the ring: there is no link to it any more.
func (m *Monitor) Remove(p *Peer) {
	i, ok := m.place(p.addr)
	if !ok || m.ring[i] != p || i == 0 {
		return
	}
	m.down(i)
	m.ring = slices.Delete(m.ring, i, i+1)
	if 4*len(m.ring) < cap(m.ring) {
		m.ring = slices.Clip(slices.Clone(m.ring))
	}
	i-- // its predecessor
	m.reapply(i)
	m.follow(i)
	if !m.Active() {
		for _, q := range m.ring[1:] {
			q.record, q.applied = nil, 0
		}
	}
}

// follow brings domain and roles up to a change at a place. Kernels leave a change of
// the domain's size that comes from far behind to a timer of two to three minutes.
func (m *Monitor) follow(at int) {
	h := m.headOf(at)
	if m.reach() != int(m.ring[0].applied) {
		h = 0
	}
	if h == 0 {
		m.updateOwn()
	}
	m.assignRoles(h)
}

// down forgets what a member told.
func (m *Monitor) down(i int) {
	p := m.ring[i]
	if p.head && p.record != nil {
		m.lost(i, p.record.up, int(p.applied), 0, 0)
	}
	m.retract(p, frame.Domain{})
	m.acquit(p)
	*p = Peer{addr: p.addr}
}

// headOf is the place of the head that covers a place: the nearest one there or
// before. This node is always one.
func (m *Monitor) headOf(i int) int {
	for !m.ring[i].head {
		i--
	}
	return i
}

// reapply compares the records of those before a place, and at it, with the ring,
// as far back as any record may reach: who knows more nodes than we has a larger domain.
func (m *Monitor) reapply(at int) {
	for range min(len(m.ring), frame.MaxDomain+1) {
		if p := m.ring[at]; at != 0 {
			m.apply(at, p)
		}
		if at--; at < 0 {
			at = len(m.ring) - 1
		}
	}
}

// apply finds out how many members of a record stand in our ring where it says.
func (m *Monitor) apply(at int, p *Peer) {
	p.applied = 0
	if !p.up || p.record == nil {
		return
	}
	for i, a := range p.record.members {
		if i+1 >= len(m.ring) || m.at(at+1+i).addr != a {
			return
		}
		p.applied++
	}
}

// updateOwn makes our own domain of those behind us. What changed has a new
// generation, and is told to all.
func (m *Monitor) updateOwn() {
	n := m.reach()
	m.ring[0].applied = uint8(n)
	var members [frame.MaxDomain]frame.NodeAddr
	up := uint64(0)
	for i, p := range m.ring[1 : 1+n] {
		members[i] = p.addr
		if p.up {
			up |= 1 << i
		}
	}
	if !m.own.equal(up, members[:n]) {
		m.gen++
		m.own.gen, m.own.up, m.own.members = m.gen, up, append(m.own.members[:0], members[:n]...)
	}
}

// assignRoles decides who is supervised how, from a head on until one that is a
// head already: the first that is up behind a head's domain is the next head.
func (m *Monitor) assignRoles(at int) {
	head, covered := m.ring[at], 0
	for _, q := range m.ring[at+1:] {
		q.local = false
		switch {
		case covered < int(head.applied):
			covered++
			q.head = false
			q.local = head == m.ring[0]
			continue
		case !q.up:
			continue
		case q.head:
			m.listGen++
			return
		}
		q.head = true
		head, covered = q, 0
	}
	m.listGen++
}

// lost looks for members that the record of the member at a place no longer says are
// up: before it had been applied up to had members, and after up to has.
// Source: docs/spec/03-discovery-and-node.md §8.5.
func (m *Monitor) lost(at int, before uint64, had int, after uint64, has int) {
	p := m.ring[at]
	for i := range had {
		q := m.at(at + 1 + i)
		switch {
		case !q.up || before>>i&1 == 0 || q.local || q == m.ring[0]:
		case has <= i: // not covered any more; kernels forget what others reported
			q.look = true
		case after>>i&1 == 0 && p.record.told>>i&1 == 0: // the reporters count, not the reports
			p.record.told |= 1 << i
			q.downs++
		}
	}
}
