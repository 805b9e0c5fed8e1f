// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A job is a burst of messages from one port to one destination.
type job struct {
	left    int
	size    int
	service *frame.Service // nil: to a socket
	to      frame.SocketAddr
	tries   int
	ranges  *[2]frame.Range // to multicast to, in turns; nil: it is no multicast
}

// send sends what is left of the port's job, until it is done or turned away.
func (p *port) send() {
	l, w := p.l, p.l.n.w
	l.hold()
	defer l.sent()
	if p.job != nil && p.job.ranges != nil {
		p.castOn()
		return
	}
	for turn := 32; p.job != nil && p.waiting == nil && !p.closed && !l.dead; turn-- {
		if turn == 0 {
			p.sendLater(time.Duration(w.work.Int64N(int64(time.Millisecond))))
			return
		}
		j := p.job
		n := 1 + w.work.IntN(j.size)
		if j.service != nil {
			n = max(n, 4) // so that messages looked up again can be told apart
		}
		err := p.sendOne(j, n)
		var b *engine.Blocked
		switch {
		case err == nil:
			if j.left--; j.left == 0 {
				p.job = nil
			}
		case errors.As(err, &b):
			if !errors.Is(err, flowctl.ErrCongested) {
				w.violate(4, "an error that unwraps to Blocked and not to ErrCongested: %v", err)
			}
			w.report.Blocked++
			p.waiting = b
		case errors.Is(err, engine.ErrMemory):
			w.report.NoMemory++
			if j.tries++; j.tries > 20 {
				p.job = nil
			}
			p.sendLater(20 * time.Millisecond)
			return
		default: // unreachable, too long for that link
			p.job = nil
		}
	}
}

func (p *port) sendLater(d time.Duration) {
	p.l.n.w.clock.after(d, p.send)
}

// sendOne sends one message of n bytes and follows it.
func (p *port) sendOne(j *job, n int) (err error) {
	l, w := p.l, p.l.n.w
	m := &message{
		id: uint32(len(w.messages) + 1), size: n, from: p.e.Addr(), returnable: p.cfg.Returnable, imp: p.cfg.Importance,
	}
	data := make([]byte, n)
	m.fill(data)
	if j.service == nil && j.to.Node != l.n.addr && w.mutate(DropAccepted) {
		if e := l.peers[w.byAddr[j.to.Node].idx].epoch; e != nil {
			m.hop = &hop{m: m, epoch: e, net: -1, imp: m.imp}
			e.expect = append(e.expect, m.hop)
			w.messages = append(w.messages, m)
			return nil
		}
		w.occasions--
	}
	l.call(func(l *life, k *look) {
		if err != nil {
			nothing(l, k)
			return
		}
		w.messages = append(w.messages, m)
		w.report.Messages++
		if k.out() == 1 {
			l.sentAway(k, m)
		} else {
			l.sentHere(k, p, m, j)
		}
	}, func() {
		if j.service != nil {
			err = p.e.SendService(w.clock.now, *j.service, data)
		} else {
			err = p.e.Send(w.clock.now, j.to, data)
		}
	})
	if w.cfg.Hostile && err == nil {
		w.report.Messages++
	}
	l.finish()
	return err
}

// sentAway follows a message onto a link.
func (l *life) sentAway(k *look, m *message) {
	var to *node
	for _, n := range l.n.w.nodes {
		for i := range l.dev {
			if was := k.was[n.idx][i]; was != nil && (k.grew[n.idx][i] > 0 || was != l.peers[n.idx].ends[i].cur) {
				to = n
			}
		}
	}
	if to == nil {
		l.n.w.violate(2, "message %d was accepted and is on no link", m.id)
		return
	}
	l.queue(k, m, to, false, false)
	if !l.holds && m.hop != nil && m.hop.net >= 0 {
		l.checkReleased(to, m.hop.net, "behind a message that was sent at once")
	}
	nothing(l, k)
}

// sentHere follows a message to a port of the own node.
func (l *life) sentHere(k *look, from *port, m *message, j *job) {
	o := &outcomes{}
	var to *port
	for _, p := range l.ports {
		if f := p.fresh(); f != nil && !f.returned {
			to = p
		}
	}
	switch {
	case to != nil:
		if j.service == nil && (j.to != to.e.Addr() || !to.fits(m.size, m.imp)) {
			l.n.w.violate(1, "message %d to %v came to %v", m.id, j.to, to.e.Addr())
		}
		o.local = 1
		l.enter(to, m, false, 1)
	case from.fresh() != nil:
		if !m.returnable {
			l.n.w.violate(2, "message %d came back and was not to", m.id)
		}
		l.enter(from, m, true, 1)
		k.after.Returned--
	case k.drops(engine.DropNoPort) == 1:
		o.noPort = 1
		m.at = finished
	default:
		o.over = 1
		m.at = finished
	}
	if j.service == nil && to == nil {
		if p := l.port(j.to.Port); p != nil && p.fits(m.size, m.imp) {
			l.n.w.violate(2, "message %d did not enter port %v, which has room for it", m.id, j.to)
		}
	}
	l.settle(k, o)
}

// room wakes the senders that wait for a node.
func (l *life) room(n frame.NodeAddr) {
	w := l.n.w
	for _, p := range l.ports {
		if p.waiting != nil && p.waiting.Node == n {
			p.waiting = nil
			w.report.Woken++
			p.sendLater(time.Duration(1 + w.work.Int64N(int64(100*time.Microsecond))))
		}
	}
}
