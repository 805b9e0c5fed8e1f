// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// mutate reports whether the deliberate mistake m is to be made now: once, after
// a number of occasions; some are made at every one.
func (w *world) mutate(m Mutation) bool {
	if w.cfg.Mutation != m {
		return false
	}
	w.occasions++
	if m >= OmitBundled {
		return w.occasions == 20
	}
	return w.occasions == 300 || m == SuppressRoom || m == KeepBinding && w.occasions == 1 ||
		(m == SuppressName || m == ReadAgain) && w.occasions == 5
}

// twice hands a packet's payload to the engine again, under the next number.
func (l *life) twice(p *packet) {
	m, err := frame.Parse(p.bytes[frame.EthernetLen:])
	if err != nil || !m.User().IsPayload() && m.User() != frame.UserBundler || !l.n.w.mutate(DeliverTwice) {
		return
	}
	s := l.peers[p.from.n.idx].cur
	b := l.arena.Get(len(p.bytes), frame.Control)
	if s == nil || !s.up || b == nil {
		return
	}
	copy(b.Extend(len(p.bytes)), p.bytes)
	frame.StampSeq(b.Bytes()[frame.EthernetLen:], frame.Seq(s.consumed+1))
	l.frame(arrival{b, p})
	b.Release()
}
