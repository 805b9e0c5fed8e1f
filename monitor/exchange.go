// SPDX-License-Identifier: Apache-2.0

package monitor

import "github.com/utipc/utipc/frame"

// recordHead is the length of a record without members, in bytes.
const recordHead = 16

// RecordLen is the length of what Append adds, in bytes: 0 while the monitor is not
// active. room is what there is at most; what does not fit is left out.
func (m *Monitor) RecordLen(p *Peer, room int) int {
	n := recordHead
	switch {
	case !m.Active() || room < n:
		return 0
	case p.cookie.ackedGen == m.gen || room < n+4*m.own.count():
		return n
	}
	return n + 4*m.own.count()
}

// Append adds the record for a neighbour to b, RecordLen bytes: our own domain,
// or one without members when the neighbour has that already. It does not allocate
// where b has the room. Source: docs/spec/03-discovery-and-node.md §8.2.
func (m *Monitor) Append(b []byte, p *Peer, room int) []byte {
	n := m.RecordLen(p, room)
	if n == 0 {
		return b
	}
	f := frame.DomainFields{Gen: m.gen, AckGen: p.cookie.peerGen}
	if n > recordHead {
		f.UpMap, f.Members = m.own.up, m.own.members
	}
	return f.Append(b)
}

// Receive takes what stood behind the gap-ack record in a STATE of a neighbour. What
// is no record, or does not agree with itself, is ignored; ok says that it was one.
// Source: docs/spec/03-discovery-and-node.md §8.3.
func (m *Monitor) Receive(p *Peer, data []byte) (ok bool) {
	c := &p.cookie
	probed := c.probing
	c.probing, c.reset = false, false
	d, err := frame.ParseDomain(data)
	if err != nil {
		return false
	}
	if !c.synched {
		c.peerGen, c.ackedGen, c.synched = d.Gen()-1, d.AckGen(), true
	}
	if d.AckGen().After(c.ackedGen) {
		c.ackedGen = d.AckGen()
	}
	newer := d.Gen().After(c.peerGen)
	if !newer && !probed || !p.up {
		return true
	}
	m.acquit(p)
	if !newer {
		return true
	}
	at, found := m.place(p.addr)
	if !found || m.ring[at] != p {
		return true
	}
	c.peerGen = d.Gen()
	before, had := uint64(0), int(p.applied)
	if p.record == nil {
		p.record = new(record)
	} else {
		before = p.record.up
		m.retract(p, d)
	}
	p.record.take(d)
	m.apply(at, p)
	m.lost(at, before, had, p.record.up, int(p.applied))
	m.assignRoles(m.headOf(at))
	return true
}

// A Duty is what the timer of a link is to do.
type Duty struct {
	Count bool // silence: the neighbour is ours to supervise
	Probe bool // now, and at every interval until it answers
	Reset bool // four others say it is lost, and it did not answer: the end, if nothing else came
}

// Judge says what the timer of the link to a neighbour is to do. It is called once an
// interval. Unlike kernels, which end a link at the fourth report, whoever reports, it
// takes four reporters and a probe without answer.
// Source: docs/spec/03-discovery-and-node.md §8.6.
func (m *Monitor) Judge(p *Peer) Duty {
	c := &p.cookie
	if !m.Active() {
		c.probing, c.monitoring = false, true
		return Duty{Count: true}
	}
	if unanswered := c.probing; unanswered || c.listGen != m.listGen || c.ackedGen != m.gen {
		c.listGen = m.listGen
		c.probing = c.ackedGen != m.gen || p.downs > 0 || p.look
		c.reset = unanswered && p.downs >= lostReports
		c.monitoring = p.local || p.head
	}
	return Duty{Count: c.monitoring, Probe: c.probing, Reset: c.reset}
}
