// SPDX-License-Identifier: Apache-2.0

package monitor

import "github.com/utipc/utipc/frame"

// acquit forgets all reports of a member that has answered, or that is down. Those who
// reported it may do so again.
func (m *Monitor) acquit(q *Peer) {
	q.look = false
	if q.downs == 0 {
		return
	}
	q.downs = 0
	for _, p := range m.ring {
		if p.record == nil || p.record.told == 0 {
			continue
		}
		for i, a := range p.record.members {
			if a == q.addr {
				p.record.told &^= 1 << i
			}
		}
	}
}

// retract takes back a member's reports of those that do not stand in its new record
// where they stood: so nobody counts twice. They are probed.
func (m *Monitor) retract(p *Peer, d frame.Domain) {
	r := p.record
	if r == nil || r.told == 0 {
		return
	}
	for i, a := range r.members {
		if r.told>>i&1 == 0 || i < d.Len() && d.Member(i) == a {
			continue
		}
		r.told &^= 1 << i
		if q := m.Peer(a); q != nil && q.downs > 0 {
			q.downs--
			q.look = true
		}
	}
}
