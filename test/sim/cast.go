// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// Multicasts among the messages of a world. They are not followed from link to link: a
// copy is known by its bytes when it stands in a port. No port gets one twice, and every
// port gets one that was bound to an overlapping range all the time, as the sender's node
// knew, unless contact was lost. Their order is held to the rules in a Cluster.

// A spread message is one that was multicast.
type spread struct {
	r    frame.Range
	want []reader
	got  map[*port]bool
}

// A reader is a port that a multicast must come to.
type reader struct {
	p     *port
	epoch *epoch // of the contact with its node; nil: the own one
	key   uint32 // of the binding
}

// castOf returns the multicast that data is a copy of, or nil.
func (w *world) castOf(data []byte, from frame.SocketAddr) *message {
	if len(data) < 4 {
		return nil
	}
	id := binary.LittleEndian.Uint32(data)
	if id == 0 || int(id) > len(w.messages) {
		return nil
	}
	m := w.messages[id-1]
	if m.cast == nil || m.from != from || !m.is(data, false) {
		return nil
	}
	return m
}

// takeCast follows a multicast that the engine put into a port.
func (p *port) takeCast(m *message, n int) {
	l := p.l
	if m.cast.got[p] {
		l.n.w.report.Doubled++
		l.n.w.violate(3, "port %v was given multicast %d of %v twice", p.e.Addr(), m.id, m.from)
	}
	m.cast.got[p] = true
	p.admit(m, false, n)
	if m.from.Node == l.n.addr {
		l.castsLocal++
	} else {
		l.castsIn++
	}
}

// sendRange sends one multicast of n bytes.
func (p *port) sendRange(r frame.Range, n int) (err error) {
	l, w := p.l, p.l.n.w
	m := &message{id: uint32(len(w.messages) + 1), size: n, from: p.e.Addr(), imp: p.cfg.Importance, at: finished}
	m.cast = &spread{r, l.readers(r), map[*port]bool{}}
	data := make([]byte, n)
	m.fill(data)
	w.messages = append(w.messages, m) // before it is known whether it was taken: it may be here already
	l.call(nothing, func() { err = p.e.SendRange(w.clock.now, r, data) })
	if err != nil {
		if len(m.cast.got) > 0 {
			w.violate(2, "multicast %d was not taken, and came to %d ports", m.id, len(m.cast.got))
		}
		m.cast.want = nil
	} else {
		w.report.Casts++
		w.tracef("node %d: multicast %d from %v to %v, %d bytes, for %d", l.n.idx, m.id, m.from, r, n, len(m.cast.want))
	}
	l.finish()
	return err
}

// readers returns the ports that must get what is multicast now.
func (l *life) readers(r frame.Range) (all []reader) {
	for _, n := range l.n.w.nodes {
		e := l.peers[n.idx].epoch
		if n.life == nil || n != l.n && e == nil {
			continue
		}
		for _, p := range n.life.ports {
			for _, b := range p.e.Bindings() {
				if b.Range.Overlaps(r) && l.told[b] {
					all = append(all, reader{p, e, b.Key})
					break
				}
			}
		}
	}
	return all
}

// judgeCasts looks, when nothing is on its way any more, whether every multicast came to
// all it had to come to.
func (w *world) judgeCasts() {
	for _, m := range w.messages {
		if m.cast != nil {
			w.judgeCast(m)
		}
	}
}

func (w *world) judgeCast(m *message) {
	for _, x := range m.cast.want {
		if x.p.closed || x.p.l.dead || x.epoch != nil && x.epoch.ended || !x.p.has(x.key) || x.epoch == nil && x.p.l.n.addr != m.from.Node {
			continue
		}
		w.report.CastsJudged++
		if !m.cast.got[x.p] {
			w.report.Lost++
			w.violate(2, "multicast %d of %v to %v did not come to %v, and there was contact all the time", m.id, m.from, m.cast.r, x.p.e.Addr())
		}
	}
}

// has reports whether a port is bound still as it was under a key.
func (p *port) has(key uint32) bool {
	for _, b := range p.e.Bindings() {
		if b.Key == key {
			return true
		}
	}
	return false
}

// castOn sends what is left of the port's job to ranges; one turned away is tried again.
func (p *port) castOn() {
	w, j := p.l.n.w, p.job
	for turn := 0; p.job == j && j.left > 0 && !p.closed && !p.l.dead; turn++ {
		if turn == 16 {
			p.sendLater(time.Duration(w.work.Int64N(int64(time.Millisecond))))
			return
		}
		err := p.sendRange(j.ranges[w.work.IntN(2)], max(4, 1+w.work.IntN(j.size)))
		var b *engine.Blocked
		if errors.As(err, &b) || errors.Is(err, engine.ErrMemory) {
			if j.tries++; j.tries < 200 && !w.calm {
				p.sendLater(time.Duration(1 + w.work.Int64N(int64(20*time.Millisecond))))
				return
			}
			break
		}
		j.left--
	}
	if p.job == j {
		p.job = nil
	}
}
