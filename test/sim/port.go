// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// recordCost is what the engine counts for a waiting message beside its data.
const recordCost = 64

// A port is a socket, who reads from it and who sends through it.
type port struct {
	l      *life
	e      *engine.Port
	cfg    engine.PortConfig
	closed bool
	binds  []bind

	queue []entry                     // what waits in it
	last  map[frame.SocketAddr]uint32 // the latest message of each sender that was read
	bytes int                         // what that counts

	readEvery time.Duration // 0: at once
	readBatch int

	job     *job
	waiting *engine.Blocked
}

type bind struct {
	r     frame.Range
	scope frame.Scope
}

// An entry is a message that waits in a port.
type entry struct {
	m        *message
	returned bool
	n        int
}

// A fresh entry is one the engine put into a port and the simulation has not
// followed there yet.
type fresh struct {
	data     []byte
	from     frame.SocketAddr
	imp      frame.Importance
	returned bool
}

func (l *life) port(number uint32) *port {
	for _, p := range l.ports {
		if p.e.Addr().Port == number {
			return p
		}
	}
	return nil
}

func (p *port) fits(n int, imp frame.Importance) bool {
	p.fresh() // multicasts that came before count
	limit := p.cfg.ReceiveLimit
	if limit == 0 {
		limit = engine.DefaultReceiveLimit
	}
	return p.bytes+n+recordCost <= limit<<imp
}

// fresh returns the first message in the port that is not in the queue, or nil.
// Multicasts before it are followed.
func (p *port) fresh() *fresh {
	var f *fresh
	for f == nil {
		if p.e.Pending() <= len(p.queue) {
			return nil
		}
		p.e.Waiting(len(p.queue), func(r engine.Received, data []byte) bool {
			if m := p.l.n.w.castOf(data, r.From); m != nil && r.Error == frame.OK {
				p.takeCast(m, len(data))
				return false
			}
			f = &fresh{append([]byte(nil), data...), r.From, r.Importance, r.Error != frame.OK}
			return false
		})
	}
	if len(f.data) > 8 && p.l.n.w.mutate(ChangePayload) {
		f.data[8] ^= 1
	}
	return f
}

func (p *port) admit(m *message, returned bool, n int) {
	p.queue = append(p.queue, entry{m, returned, n})
	p.bytes += n + recordCost
}

// skip makes the queue as long as the port's, after a violation.
func (p *port) skip() {
	for p.e.Pending() > len(p.queue) {
		p.queue = append(p.queue, entry{})
	}
}

// read reads up to n messages.
func (p *port) read(n int) {
	w := p.l.n.w
	buf := &w.scratch
	for ; n > 0 && p.e.Pending() > 0 && !p.closed; n-- {
		k, r, ok := p.e.Read(buf[:])
		if !ok {
			break
		}
		w.note('r', buf[:k], uint64(p.e.Addr().Port), uint64(r.From.Port), uint64(r.From.Node), uint64(r.Error))
		if w.cfg.Hostile {
			w.report.Read++
			continue
		}
		if len(p.queue) == 0 {
			w.violate(1, "port %v was read more than it was given", p.e.Addr())
			return
		}
		e := p.queue[0]
		p.queue = p.queue[1:]
		p.bytes -= e.n + recordCost
		if e.m != nil && e.m.cast != nil {
			w.report.CastsRead++
			if !e.m.is(buf[:k], false) || r.From != e.m.from || r.Name != e.m.cast.r {
				w.violate(1, "multicast %d was read otherwise: %d bytes from %v to %v", e.m.id, k, r.From, r.Name)
			}
		} else if e.m != nil {
			p.l.took(e, buf[:k], r)
			if len(p.queue) > 0 && p.queue[0].m != nil && p.queue[0].m.cast == nil && p.queue[0].m.from == e.m.from && w.mutate(ReadSwapped) {
				p.inOrder(p.queue[0])
			}
			p.inOrder(e)
		}
	}
}

// took checks a message that was read.
func (l *life) took(e entry, data []byte, r engine.Received) {
	w, m := l.n.w, e.m
	if m.reads++; m.reads > 1 {
		w.report.Doubled++
		w.violate(3, "message %d was read twice", m.id)
	}
	if !m.is(data, e.returned) || e.returned != (r.Error != frame.OK) {
		w.violate(1, "message %d was read with other bytes", m.id)
	}
	m.at = finished
	if e.returned {
		w.report.Returned++
	} else {
		w.report.Read++
		w.stray = m
	}
}

// inOrder: what one socket sends to another is read in the order in which it was
// accepted, whichever links it took. Only what was looked up again on its way may come
// later.
func (p *port) inOrder(e entry) {
	m, w := e.m, p.l.n.w
	if e.returned || m.sentOn {
		return
	}
	if p.last == nil {
		p.last = map[frame.SocketAddr]uint32{}
	}
	if last := p.last[m.from]; last > m.id {
		w.report.Reordered++
		w.violate(1, "port %v read message %d of %v behind message %d", p.e.Addr(), m.id, m.from, last)
	}
	p.last[m.from] = m.id
}

// readAgain is a mistake: after contact was lost a message is read once more.
func (l *life) readAgain() {
	w := l.n.w
	if w.stray == nil || !w.mutate(ReadAgain) {
		return
	}
	b := make([]byte, w.stray.size)
	w.stray.fill(b)
	l.took(entry{m: w.stray, n: len(b)}, b, engine.Received{})
}

// readSoon has a slow reader come back after its time.
func (p *port) readSoon() {
	if p.readEvery == 0 {
		return
	}
	p.l.n.w.clock.after(p.readEvery, func() {
		if p.closed || p.l.dead {
			return
		}
		n := p.readBatch
		if p.l.n.w.calm {
			n = 1 << 30
		}
		p.read(n)
		if !p.l.n.w.calm || len(p.queue) > 0 {
			p.readSoon()
		}
	})
}

// close closes the socket: what is unread goes back, as far as it is wanted.
func (p *port) close() {
	l, w := p.l, p.l.n.w
	if p.closed || l.dead {
		return
	}
	p.closed = true
	p.job, p.waiting = nil, nil
	unread := p.queue
	for i := range l.ports {
		if l.ports[i] == p {
			l.ports = append(l.ports[:i:i], l.ports[i+1:]...)
			break
		}
	}
	l.call(func(l *life, k *look) {
		o := &outcomes{}
		for _, e := range unread {
			switch m := e.m; {
			case m == nil:
			case e.returned || !m.returnable:
				m.at = finished
				w.report.Discarded++
			case m.from.Node == l.n.addr:
				l.returnHere(k, o, m)
			default:
				o.back = append(o.back, back{m, w.byAddr[m.from.Node], false})
			}
		}
		l.settleClose(k, o)
	}, func() { p.e.Close(w.clock.now) })
	l.release()
	l.finish()
}

// settleClose is settle for what a closed port returns: messages that returned
// within the node count as returned too.
func (l *life) settleClose(k *look, o *outcomes) {
	k.after.Returned -= uint64(o.local)
	o.local = 0
	l.settle(k, o)
}

// returnHere has a message go back to a port of the own node.
func (l *life) returnHere(k *look, o *outcomes, m *message) {
	p := l.port(m.from.Port)
	switch {
	case p == nil:
		o.noPort++
		m.at = finished
	case !p.fits(min(m.size, frame.MaxReturned), frame.System):
		o.over++
		m.at = finished
	default:
		l.enter(p, m, true, 1)
		o.local++ // counted as returned
	}
}
