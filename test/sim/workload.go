// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// maxPorts is how many sockets a node has open at most.
const maxPorts = 8

// begin has a life work: sockets come and go, names too, messages flow.
func (l *life) begin() {
	w := l.n.w
	w.clock.after(time.Duration(w.work.Int64N(int64(40*time.Millisecond))), l.act)
}

// act does one thing and comes back for the next.
func (l *life) act() {
	w := l.n.w
	if l.dead || w.calm {
		return
	}
	w.clock.after(time.Duration(float64(w.work.Int64N(int64(60*time.Millisecond)))/w.faults.Load), l.act)
	if w.clock.now < l.n.paused {
		return
	}
	var p *port
	if len(l.ports) > 0 {
		p = l.ports[w.work.IntN(len(l.ports))]
	}
	switch x := w.work.IntN(100); {
	case len(l.ports) < 3 || x < 5 && len(l.ports) < maxPorts:
		l.open()
	case x < 8:
		p.close()
	case x < 18:
		r := w.someRange()
		scope := frame.ClusterScope
		if w.work.IntN(5) == 0 {
			scope = frame.NodeScope
		}
		if len(p.binds) < 6 {
			p.bind(r, scope)
		}
	case x < 24 && len(p.binds) > 0:
		p.unbind(w.work.IntN(len(p.binds)))
	default:
		if p.job == nil {
			p.begin()
		}
	}
}

func (w *world) someRange() frame.Range {
	lower := uint32(w.work.IntN(10))
	return frame.Range{Type: 1000 + uint32(w.work.IntN(3)), Lower: lower, Upper: lower + uint32(w.work.IntN(4))}
}

// open opens a socket; most are bound at once.
func (l *life) open() {
	w := l.n.w
	c := engine.PortConfig{Importance: frame.Importance(w.work.IntN(4)), Returnable: w.work.IntN(2) == 0, SrcDroppable: w.work.IntN(4) == 0}
	p := &port{l: l, readBatch: 1}
	if !w.faults.SmallReceive {
		c.ReceiveLimit = 1 << 28 // more than comes, as multicasts are not to be lost
	} else if w.work.IntN(2) == 0 {
		c.ReceiveLimit = 2000 + w.work.IntN(30000)
	}
	if w.faults.SlowReaders && w.work.IntN(3) > 0 {
		p.readEvery = time.Duration(1+w.work.IntN(100)) * time.Millisecond
		p.readBatch = 1 + w.work.IntN(20)
	}
	p.cfg = c
	l.do(func() {
		if p.e = l.eng.OpenPort(c); p.e != nil {
			l.ports = append(l.ports, p)
		}
	})
	if p.e == nil {
		return
	}
	w.note('o', nil, uint64(p.e.Addr().Port))
	w.tracef("node %d: opens %v %+v", l.n.idx, p.e.Addr(), c)
	p.readSoon()
	if w.work.IntN(4) > 0 {
		p.bind(w.someRange(), frame.ClusterScope)
	}
}

func (p *port) bind(r frame.Range, scope frame.Scope) {
	w := p.l.n.w
	p.l.do(func() {
		if err := p.e.Bind(w.clock.now, r, scope); err != nil {
			w.violate(0, "bind %v: %v", r, err)
		}
	})
	if !w.mutate(KeepBinding) {
		p.binds = append(p.binds, bind{r, scope})
	}
}

func (p *port) unbind(i int) {
	w, b := p.l.n.w, p.binds[i]
	p.binds = append(p.binds[:i:i], p.binds[i+1:]...)
	p.l.do(func() {
		if err := p.e.Unbind(w.clock.now, b.r, b.scope); err != nil {
			w.violate(0, "unbind %v: %v", b.r, err)
		}
	})
}

// begin begins a burst of messages.
func (p *port) begin() {
	l, w := p.l, p.l.n.w
	j := &job{left: 1 + w.work.IntN(20), size: []int{16, 64, 200, 1400}[w.work.IntN(4)]}
	if w.work.IntN(16) == 0 {
		j.left *= 25 // more than a link takes at once
	}
	if w.work.Float64() < w.faults.Long {
		j.left = 1 + w.work.IntN(4)
		j.size = []int{4000, 20_000, frame.MaxPayload}[w.work.IntN(3)]
	}
	x := w.work.IntN(20)
	if !w.faults.SmallReceive && w.work.IntN(4) == 0 {
		x = 30
	}
	switch {
	case x == 30:
		j.ranges = &[2]frame.Range{w.someRange(), w.someRange()}
		if w.work.IntN(2) == 0 {
			j.ranges[0].Upper = 20 // hardly one node alone
		}
	case x < 10:
		r := w.someRange()
		j.service = &frame.Service{Type: r.Type, Instance: r.Lower}
		if w.work.IntN(10) == 0 {
			j.service.Node = w.nodes[w.work.IntN(len(w.nodes))].addr
		}
	case x < 19:
		n := w.nodes[w.work.IntN(len(w.nodes))]
		if n.life == nil || len(n.life.ports) == 0 {
			return
		}
		j.to = n.life.ports[w.work.IntN(len(n.life.ports))].e.Addr()
	default: // a socket that is not there
		j.to = frame.SocketAddr{Node: w.nodes[w.work.IntN(len(w.nodes))].addr, Port: w.work.Uint32()}
	}
	w.tracef("node %d: %v begins %+v", l.n.idx, p.e.Addr(), *j)
	p.job = j
	p.send()
}
