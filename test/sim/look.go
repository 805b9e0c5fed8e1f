// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"hash/crc32"
	"math"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// A look is what a call into an engine did, as far as counters and links show.
type look struct {
	before, after engine.Counters
	was           [maxNodes][maxNetworks]*session // the endpoints' sessions before the call
	moved         [maxNodes][maxNetworks]uint64   // packets consumed, where the session lasted
	grew          [maxNodes][maxNetworks]int      // messages sent or queued, where it lasted
	kept          [maxNodes][maxNetworks]bool     // one more packet is deferred
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
		for j := range w.nets {
			k.was[i][j] = l.peers[i].ends[j].cur
		}
	}
	do()
	k.after = l.eng.Counters()
	l.count = k.after
	for p, link := range l.links {
		if n := w.byAddr[p.Node]; n != nil && n != l.n {
			l.lookAt(&k, n, p.net, link)
		}
	}
	if !w.cfg.Hostile {
		judge(l, &k)
	}
	l.drain(&k)
	l.events()
}

// lookAt brings the end of a link to a node up to date.
func (l *life) lookAt(k *look, n *node, net int, link *flowctl.Link) {
	w, c := l.n.w, &l.peers[n.idx]
	e, in := &c.ends[net], link.Look()
	if e.cur == nil || e.cur.num != in.Session {
		if e.cur != nil && e.cur.up {
			e.failed = e.cur
		}
		e.close()
		e.cur = &session{owner: l, peer: n, net: net, num: in.Session}
		e.all = append(e.all, e.cur)
		e.next, e.sent = w.first, 0
	} else {
		k.moved[n.idx][net] = uint64(e.next.Distance(in.RcvNxt))
		k.kept[n.idx][net] = in.Deferred > e.deferred
	}
	if link.IsUp() && !e.cur.up {
		e.cur.up = true
		w.report.Links++
		l.linked(c, e)
	}
	e.next, e.deferred = in.RcvNxt, in.Deferred
	// Messages ever queued, modulo the wrap of numbers: packets, and what is in them
	// beside the first.
	total := int(in.SndNxt) + link.Backlog() + int(link.SentBundled-link.SentBundles)
	if k.was[n.idx][net] == e.cur {
		k.grew[n.idx][net] = int(int16(uint16(total) - uint16(e.sent)))
	}
	e.sent = total
}

// linked notes that a link is up. A second one names where the first stands.
func (l *life) linked(c *contact, e *end) {
	if c.epoch == nil {
		return // the first: the event is still to come
	}
	e.cur.epoch = c.epoch
	c.epoch.linked[e.cur.net] = true
	old := &c.ends[1-e.cur.net]
	if old.cur != nil && old.cur.up {
		for p, link := range l.links {
			if p.net == old.cur.net && p.Node == e.cur.peer.addr {
				e.cur.synch = &synch{of: old.cur, point: link.Look().SndNxt + frame.Seq(link.Backlog()) - 1}
			}
		}
	}
}

// met begins a contact.
func (l *life) met(c *contact) {
	l.lose(c)
	c.epoch = &epoch{}
	l.n.w.report.Contacts++
	for i := range c.ends {
		if s := c.ends[i].cur; s != nil && s.up {
			s.epoch = c.epoch
			c.epoch.linked[i] = true
		}
	}
}

// lose ends a contact.
func (l *life) lose(c *contact) {
	if c.epoch != nil {
		if !l.n.w.closing { // then nothing is under way any more
			c.epoch.ended, c.epoch.crashed = true, l.dead
		}
		c.epoch = nil
		l.ended++
	}
}

// drain takes the frames out of the engine and tells to which session each
// belongs: link messages say so, packets are of the session before the call, for
// one that begins has none yet.
func (l *life) drain(k *look) {
	for net := range l.n.w.nets {
		for b := l.eng.NextFrame(net); b != nil; b = l.eng.NextFrame(net) {
			l.out[net] = append(l.out[net], outgoing{b, l.sessionOf(k, net, b.Bytes())})
		}
	}
}

func (l *life) sessionOf(k *look, net int, b []byte) *session {
	n := l.n.w.stationOf(net, b)
	if n == nil || l.n.w.cfg.Hostile {
		return nil
	}
	m, err := frame.Parse(b[frame.EthernetLen:])
	if err != nil || m.User() == frame.UserDiscovery {
		return nil
	}
	e := &l.peers[n.idx].ends[net]
	if m.User() == frame.UserLink {
		if p, err := frame.ParseLink(m); err == nil {
			for i := len(e.all) - 1; i >= 0; i-- {
				if e.all[i].num == p.Session() {
					return e.all[i]
				}
			}
		}
		return nil
	}
	if k.was[n.idx][net] != nil {
		return k.was[n.idx][net]
	}
	return e.cur
}

// stationOf returns the node a frame goes to, or nil.
func (w *world) stationOf(net int, b []byte) *node {
	dst := frame.MAC(b[:6])
	for _, n := range w.nodes {
		if n.mac[net] == dst {
			return n
		}
	}
	return nil
}

// frame hands a received frame to the engine.
func (l *life) frame(net int, a arrival) {
	w := l.n.w
	judge := nothing
	if a.p.from != nil && !w.cfg.Hostile {
		judge = l.handed(net, a)
	}
	l.watchdog.did(engine.WorkFrames, 1)
	l.call(judge, func() { l.eng.HandleFrame(w.clock.now, net, a.buf) })
}

// handed notes what the engine is about to be handed, and returns the judge.
func (l *life) handed(net int, a arrival) func(*life, *look) {
	w := l.n.w
	m, err := frame.Parse(a.buf.Bytes()[frame.EthernetLen:])
	from := a.p.from.n
	s := l.peers[from.idx].ends[net].cur
	if err == nil && m.NonSeq() {
		return func(l *life, k *look) { l.settle(k, &outcomes{casts: math.MaxInt}) }
	}
	if err != nil || s == nil || !s.up && !isSynch(m) {
		return nothing
	}
	if s.from == a.p.rec || s.from == nil {
		if p := w.placeOf(m.Ack(), s.ackSeen); p > s.ackSeen && p <= uint64(len(s.sent)) {
			s.acked(p)
		}
		s.blocks(m)
	}
	if m.User() == frame.UserLink {
		return nothing
	}
	at := w.placeOf(m.Seq(), s.consumed+1)
	first := s.hand(at, a.p.rec, content(m.Bytes()))
	return func(l *life, k *look) {
		l.consumed(k, from, net)
		if x := s.seen[at]; first && at > s.consumed && !k.kept[from.idx][net] {
			x.gone = true
			s.seen[at] = x
		}
	}
}

// blocks notes what the gap-ack blocks of a STATE acknowledge: all between the gaps.
func (s *session) blocks(m frame.Message) {
	p, err := frame.ParseLink(m)
	if err != nil {
		return
	}
	st, ok := p.State()
	if !ok || st.Gap() == 0 {
		return
	}
	w := s.owner.n.w
	g, _, err := st.GapAcks(len(st.Data()) > 0)
	if err != nil || !g.Unicast().Monotonic(st.Ack(), int(st.Gap())) {
		return
	}
	at := w.placeOf(st.Ack(), s.ackSeen) + uint64(st.Gap())
	for b := range g.Unicast().All() {
		to := w.placeOf(b.Ack, s.ackSeen)
		for at++; at <= to && at <= uint64(len(s.sent)); at++ {
			if at > s.ackSeen {
				if s.got == nil {
					s.got = map[uint64]bool{}
				}
				s.got[at] = true
			}
		}
		at = to + uint64(b.Gap)
	}
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
		case engine.LinkDown:
			w.report.Resets++
			if w.closing {
				w.report.Left++
			}
		case engine.PeerUp:
			l.met(l.contact(ev.Node))
			if w.mutate(LoseContact) {
				w.clock.after(5*time.Second, l.unplugAll)
			}
		case engine.PeerLost:
			if !w.closing {
				w.report.LostContacts++
			}
			l.checkLost(ev)
			l.lose(l.contact(ev.Node))
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

// contact returns what a life has with the node of an address; a node that does not
// exist, in hostile mode, is like the own one.
func (l *life) contact(a frame.NodeAddr) *contact {
	if n := l.n.w.byAddr[a]; n != nil {
		return &l.peers[n.idx]
	}
	return &l.peers[l.n.idx]
}

// checkLost: contact is not lost while one of its links is in a network that never
// does harm.
func (l *life) checkLost(ev engine.Event) {
	w, e := l.n.w, l.contact(ev.Node).epoch
	if e == nil || w.closing {
		return
	}
	for i := range w.nets {
		if w.unharmed[i] && e.linked[i] {
			w.violate(2, "node %d lost contact with %v (%v), though network %d is unharmed", l.n.idx, ev.Node, ev.Cause, i)
			return
		}
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
