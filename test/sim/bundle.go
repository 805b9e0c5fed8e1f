// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"

	"github.com/utipc/utipc/frame"
)

// hold decides, at the beginning of a burst, whether its messages wait for each
// other. That stays so until the next burst.
func (l *life) hold() {
	w := l.n.w
	l.holds = w.holds.Float64() < w.faults.Hold
	l.eng.Hold(l.holds)
}

// sent ends a burst: what it held goes out now, or with the node's next turn.
func (l *life) sent() {
	if l.dead || !l.eng.Holding() {
		return
	}
	if l.n.w.holds.IntN(3) == 0 {
		l.wake()
		return
	}
	l.release()
	l.finish()
}

// release sends what is held at the end of a turn.
func (l *life) release() {
	w := l.n.w
	if !l.eng.Holding() {
		return
	}
	l.call(nothing, func() {
		if !w.mutate(ForgetFlush) {
			l.eng.Flush(w.clock.now)
		}
	})
	if l.eng.Holding() {
		w.violate(4, "node %d: messages wait after Flush", l.n.idx)
	}
	for _, n := range w.nodes {
		l.checkReleased(n, -1, "after Flush")
	}
}

// checkReleased: nothing waits for a node but because of the window; net is the link's
// network, or -1 for all.
func (l *life) checkReleased(to *node, net int, when string) {
	for p, link := range l.links {
		if p.Node == to.addr && (net < 0 || net == p.net) && link.Backlog() > 0 && link.Open() {
			l.n.w.violate(4, "node %d to %v, network %d: %d packets wait %s with %d of %d unacknowledged",
				l.n.idx, p.Node, p.net, link.Backlog(), when, link.Unacked(), link.Window())
		}
	}
}

// messages returns what a packet carries, and holds a bundle to what is not a
// matter of the wire: lint.Check has the rest.
func (l *life) messages(s *session, m frame.Message, bad func(string, ...any)) (all []frame.Message) {
	if f, err := frame.ParseFragment(m); err == nil {
		return s.join(f, bad)
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		return []frame.Message{m}
	}
	for in, err := range u.Messages() {
		if err != nil {
			bad("message %d in it: %v", len(all)+1, err)
			return all
		}
		rebuilt, err := rebuild(in)
		if err != nil || !bytes.Equal(rebuilt, in.Bytes()) {
			bad("message %d in it builds back otherwise, %v\ngot  %x\nwant %x", len(all)+1, err, rebuilt, in.Bytes())
		}
		all = append(all, in)
	}
	limit := min(l.n.mtu[s.net], s.peer.mtu[s.net]) - frame.IntLen
	switch n := len(m.Bytes()); {
	case l.n.w.faults.NoBundles:
		bad("by a node that makes no bundles")
	case len(all) < 2:
		bad("%d messages in it", len(all))
	case n > limit:
		bad("%d bytes, limit %d", n, limit)
	}
	return all
}

// spoilBundle makes a deliberate mistake in a bundle that leaves for the first time.
func (l *life) spoilBundle(o outgoing) {
	w := l.n.w
	if w.cfg.Mutation != OmitBundled && w.cfg.Mutation != RepeatBundled && w.cfg.Mutation != SwapBundled || o.rec == nil {
		return
	}
	m, err := frame.Parse(o.buf.Bytes()[frame.EthernetLen:])
	if err != nil {
		return
	}
	u, err := frame.ParseBundle(m)
	if err != nil || w.placeOf(m.Seq(), uint64(len(o.rec.sent)+1)) <= uint64(len(o.rec.sent)) {
		return
	}
	var all [][]byte
	for in := range u.Messages() {
		p, err := frame.ParsePayload(in)
		if err != nil || p.Error() != frame.OK || len(p.Data()) < 4 { // can be told from others
			return
		}
		all = append(all, bytes.Clone(in.Bytes()))
	}
	if len(all) < 3 || !w.mutate(w.cfg.Mutation) {
		return
	}
	switch w.cfg.Mutation {
	case OmitBundled:
		all = all[1:]
	case RepeatBundled:
		all[1] = all[0]
	case SwapBundled:
		all[0], all[1] = all[1], all[0]
	}
	var data []byte
	for _, in := range all {
		data = append(append(data, make([]byte, -len(data)&3)...), in...)
	}
	f := u.Fields()
	f.Count = uint16(len(all))
	b := f.Append(bytes.Clone(o.buf.Bytes()[:frame.EthernetLen]), data)
	if o.buf.Place(o.buf.Offset()-o.buf.Chunk(), len(b)) {
		copy(o.buf.Bytes(), b)
	}
}
