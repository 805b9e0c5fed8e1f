// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Probe finds out whether a socket is there, without its noticing.
//
//	          CONN_PROBE to the socket    ──►  not there: comes back, "no port"
//	a number
//	of its own                                 there: ignored, it is of no connection
//	          CONN_PROBE to the marker    ──►  comes back, "no port"
//
// The marker is a number that no socket has. Both go on one link, and so do both
// answers, as the numbers are both even or both odd: so when the marker's comes first
// there is no other. A marker that there is a socket for after all (a node has 4096 times
// as many numbers as sockets at most) is not answered: Again tries another.
//
// A kernel's sockets ignore it alike, listening, connected and connectionless ones
// (test/interop shows it). A node that is short of memory may drop the first answer and
// send the second. Source: docs/spec/07-sockets.md §4.5.
type Probe struct {
	Owner any // the owner's own word for it

	port   Port         // its number
	names  *Publication // that it is of, or nil
	to     frame.SocketAddr
	marker uint32
	node   *node // of the socket
	began  time.Duration
	took   time.Duration
	alive  bool
	ended  bool
	err    error
}

// probes are the probes under way, and those that ended and nobody has heard of it.
type probes struct {
	asking, ended []*Probe
	names         []*Publication // under way
}

// Probe begins to ask whether a socket is there. Of one of this node it is known at
// once. TakeProbes tells when the answer is there; Close ends it, which has to be done
// in any case. Errors: ErrUnreachable, ErrSockets; ErrMemory when nothing was sent, and
// Again is to be called.
func (e *Engine) Probe(now time.Duration, to frame.SocketAddr, owner any) (*Probe, error) {
	if to.Node == 0 {
		to.Node = e.addr
	}
	q := &Probe{Owner: owner, to: to, began: now}
	n := e.home(to.Node)
	switch {
	case n == nil || e.addr == 0:
		return nil, e.noRoute(to.Node)
	case n == e.self:
		p := e.ports[to.Port]
		q.ended, q.alive = true, p != nil && (p.conn == nil || p.conn.state != ConnClosed)
		return q, nil
	case to.Port == 0:
		q.ended = true
		return q, nil
	case len(e.ports) >= maxPorts:
		return nil, ErrSockets
	}
	q.node = n
	q.port = Port{PortConfig: PortConfig{Returnable: true}, e: e, probe: q}
	e.number(&q.port)
	e.probes.asking = append(e.probes.asking, q)
	return q, q.Again(now)
}

// Again asks once more, with another marker. Errors: ErrMemory.
func (q *Probe) Again(now time.Duration) error {
	if q.ended {
		return nil
	}
	e := q.port.e
	q.marker = e.cfg.Chance.Port()
	for q.marker ^= (q.marker ^ q.to.Port) & 1; q.marker == 0 || q.marker == q.to.Port; {
		q.marker += 2
	}
	q.began = now
	for _, port := range [2]uint32{q.to.Port, q.marker} {
		f := frame.ConnFields{Type: frame.ConnProbe, OrigPort: q.port.number, Orig: e.addr, DestPort: port, Dest: q.to.Node}
		if !e.sendManager(now, &f) {
			if q.ended { // contact was lost in the call
				return nil
			}
			return ErrMemory
		}
	}
	return nil
}

// handle takes what comes back.
func (q *Probe) handle(now time.Duration, n *node, f *frame.ConnFields) {
	e := q.port.e
	if q.names != nil && !q.ended {
		q.names.handle(now, n, f)
		return
	}
	if q.ended || n != q.node || f.Orig != n.addr || f.Error == frame.OK || f.OrigPort != q.to.Port && f.OrigPort != q.marker {
		e.drop(DropConn)
		return
	}
	q.alive, q.took = f.OrigPort == q.marker, now-q.began
	q.end(nil)
}

func (q *Probe) end(err error) {
	s := &q.port.e.probes
	q.ended, q.err = true, err
	s.asking = slices.DeleteFunc(s.asking, func(x *Probe) bool { return x == q })
	s.ended = append(s.ended, q)
}

// loseProbes ends the probes of the sockets of a node with which contact is lost.
func (e *Engine) loseProbes(n *node) {
	for _, q := range slices.Clone(e.probes.asking) {
		if q.node == n {
			q.end(ErrNoLink)
		}
	}
}

// EndProbes ends all probes, with ErrClosed.
func (e *Engine) EndProbes() {
	for _, q := range slices.Clone(e.probes.asking) {
		q.end(ErrClosed)
	}
	for _, p := range slices.Clone(e.probes.names) {
		p.end(ErrClosed)
	}
}

// TakeProbes appends to dst the probes that have ended since the last call.
func (e *Engine) TakeProbes(dst []*Probe) []*Probe {
	s := &e.probes
	if len(s.ended) == 0 {
		return dst
	}
	dst = append(dst, s.ended...)
	clear(s.ended)
	s.ended = s.ended[:0]
	return dst
}

// Result is whether the socket is there, and how long the answer took; ok is false
// while it has not come. Errors: ErrUnreachable,
// ErrClosed.
func (q *Probe) Result() (alive bool, took time.Duration, ok bool, err error) {
	return q.alive, q.took, q.ended, q.err
}

// Close ends the probe. Closing twice is harmless.
func (q *Probe) Close(now time.Duration) {
	e := q.port.e
	if e == nil || q.port.closed {
		return
	}
	q.port.retire(now)
	if !q.ended {
		q.end(ErrClosed)
	}
	e.probes.ended = slices.DeleteFunc(e.probes.ended, func(x *Probe) bool { return x == q })
}
