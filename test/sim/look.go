// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"hash/crc32"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// A look is what a call into an engine did, as far as counters and links show.
type look struct {
	before, after engine.Counters
	was           [maxNodes]*session // the endpoints' sessions before the call
	moved         [maxNodes]uint64   // packets consumed, where the session lasted
	grew          [maxNodes]int      // messages sent or queued, where it lasted
}

func (k *look) in() int       { return int(k.after.MessagesIn - k.before.MessagesIn) }
func (k *look) out() int      { return int(k.after.MessagesOut - k.before.MessagesOut) }
func (k *look) local() int    { return int(k.after.MessagesLocal - k.before.MessagesLocal) }
func (k *look) returned() int { return int(k.after.Returned - k.before.Returned) }
func (k *look) drops(d engine.Drop) int {
	return int(k.after.Drops[d] - k.before.Drops[d])
}

// nothing is for calls after which no message may be anywhere else.
func nothing(l *life, k *look) { l.settle(k, &outcomes{}) }

// call makes a call into the engine, looks at what it did, and has judge compare
// that with what it should have done.
func (l *life) call(judge func(*life, *look), do func()) {
	w := l.n.w
	k := look{before: l.count}
	for i := range l.peers {
		k.was[i] = l.peers[i].cur
	}
	do()
	k.after = l.eng.Counters()
	l.count = k.after
	for p := range l.eng.Neighbours {
		if n := w.byAddr[p.Node]; n != nil && n != l.n {
			l.lookAt(&k, n, p.Link)
		}
	}
	if !w.cfg.Hostile {
		judge(l, &k)
	}
	l.drain(&k)
	l.events()
}

// lookAt brings the contact with a node up to date.
func (l *life) lookAt(k *look, n *node, link *flowctl.Link) {
	c := &l.peers[n.idx]
	if link == nil {
		return
	}
	in := link.Look()
	if c.cur == nil || c.cur.num != in.Session {
		l.closeSession(c)
		c.cur = &session{owner: l, peer: n, num: in.Session}
		c.all = append(c.all, c.cur)
		c.next, c.sent = 1, 0
	} else {
		k.moved[n.idx] = uint64(c.next.Distance(in.RcvNxt))
	}
	if link.IsUp() && !c.cur.up {
		c.cur.up = true
		l.n.w.report.Contacts++
	}
	c.next = in.RcvNxt
	// Messages ever queued, modulo the wrap of numbers: packets, and what is in them
	// beside the first.
	total := int(in.SndNxt) + link.Backlog() + int(link.SentBundled-link.SentBundles)
	if k.was[n.idx] == c.cur {
		k.grew[n.idx] = int(int16(uint16(total) - uint16(c.sent)))
	}
	c.sent = total
}

// drain takes the frames out of the engine and tells to which session each
// belongs: link messages say so, packets are of the session before the call, for
// one that begins has none yet.
func (l *life) drain(k *look) {
	for b := l.eng.NextFrame(0); b != nil; b = l.eng.NextFrame(0) {
		l.out = append(l.out, outgoing{b, l.sessionOf(k, b.Bytes())})
	}
}

func (l *life) sessionOf(k *look, b []byte) *session {
	n := l.n.w.stationOf(b)
	if n == nil || l.n.w.cfg.Hostile {
		return nil
	}
	m, err := frame.Parse(b[frame.EthernetLen:])
	if err != nil || m.User() == frame.UserDiscovery {
		return nil
	}
	c := &l.peers[n.idx]
	if m.User() == frame.UserLink {
		if p, err := frame.ParseLink(m); err == nil {
			for i := len(c.all) - 1; i >= 0; i-- {
				if c.all[i].num == p.Session() {
					return c.all[i]
				}
			}
		}
		return nil
	}
	if k.was[n.idx] != nil {
		return k.was[n.idx]
	}
	return c.cur
}

// stationOf returns the node a frame goes to, or nil.
func (w *world) stationOf(b []byte) *node {
	dst := frame.MAC(b[:6])
	for _, n := range w.nodes {
		if n.mac == dst {
			return n
		}
	}
	return nil
}

// frame hands a received frame to the engine.
func (l *life) frame(a arrival) {
	w := l.n.w
	judge := nothing
	if a.p.rec != nil && !w.cfg.Hostile {
		judge = l.handed(a)
	}
	l.call(judge, func() { l.eng.HandleFrame(w.clock.now, 0, a.buf) })
}

// handed notes what the engine is about to be handed, and returns the judge.
func (l *life) handed(a arrival) func(*life, *look) {
	m, err := frame.Parse(a.buf.Bytes()[frame.EthernetLen:])
	from := a.p.from.n
	c := &l.peers[from.idx]
	if err != nil || c.cur == nil || !c.cur.up || m.NonSeq() {
		return nothing
	}
	if c.cur.from == a.p.rec || c.cur.from == nil {
		if p := placeOf(m.Ack(), c.cur.ackSeen); p > c.cur.ackSeen && p <= uint64(len(c.cur.sent)) {
			c.cur.ackSeen = p
		}
	}
	if m.User() == frame.UserLink {
		return nothing
	}
	c.cur.hand(m.Seq(), a.p.rec, content(m.Bytes()))
	return func(l *life, k *look) { l.consumed(k, from) }
}

// content is a checksum of a packet without its acknowledgements, which change
// when it is sent again.
func content(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:6], castagnoli), castagnoli, b[10:])
}

// events takes the engine's events: all go into the hash, room wakes senders.
func (l *life) events() {
	w := l.n.w
	for ev, ok := l.eng.NextEvent(); ok; ev, ok = l.eng.NextEvent() {
		w.note('e', []byte(ev.Link), uint64(l.serial), uint64(ev.Kind), uint64(ev.Node))
		w.tracef("node %d: %v %v", l.n.idx, ev.Kind, ev.Node)
		switch ev.Kind {
		case engine.PeerLost:
			w.report.LostContacts++
			l.readAgain()
		case engine.Room:
			if !w.mutate(SuppressRoom) {
				l.room(ev.Node)
			}
		}
	}
	l.nameBuf = l.eng.TakeNameEvents(l.nameBuf[:0])
	for _, ev := range l.nameBuf {
		l.nameEvent(ev)
	}
}

func (l *life) nameEvent(ev naming.Event) {
	w := l.n.w
	b := ev.Binding
	withdrawn := uint64(0)
	if ev.Withdrawn {
		withdrawn = 1
	}
	w.note('n', nil, uint64(l.serial), withdrawn, uint64(b.Range.Type), uint64(b.Range.Lower), uint64(b.Range.Upper),
		uint64(b.Socket.Port), uint64(b.Socket.Node), uint64(b.Key))
	w.tracef("node %d: %+v", l.n.idx, ev)
	if ev.Withdrawn && w.mutate(SuppressName) {
		return
	}
	l.checkName(ev)
}
