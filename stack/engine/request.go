// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// How long the engine waits before it asks again after a socket that has withdrawn a name,
// and before it believes that nobody else has the request of one that is gone.
const (
	askAgain     = time.Second
	rerouteGrace = time.Second
)

// An openRequest is what a socket with PortConfig.Requests has sent last, while no answer has come.
// It ends when there will be none:
//
//	sent ──(a withdrawal of a name of the callee)──► suspected ──(no longer there)──► ended
//	  │                                                │    ▲
//	  │                                  CONN_PROBE to the callee, each askAgain
//	  ├──(contact with the callee's node lost)─────────────────────────────────────► ended
//	  └──(a message from it, or of a request to a name from anybody)──► none
//
// A withdrawal alone is no end: a program may take its name back before it answers what it
// has taken, and the broadcast link that tells of it overtakes answers. Whoever has no such
// socket returns a CONN_PROBE, on the link that the answer would have come on, and behind
// it; a socket that is there ignores it: docs/spec/07-sockets.md §4.5. Of a socket of this
// node the engine knows.
//
// A request to a name may have met a socket that was about to close, and be with another
// that is bound to the name: docs/spec/07-sockets.md §6.3. So as long as there is another it
// ends rerouteGrace later.
//
// What ended is a message from the callee with the error "no port", or "no node", and
// without data: what comes back has some.
//
// A socket that sends costs a comparison and a copy; all else is done where names go.
type openRequest struct {
	to        frame.SocketAddr // of the callee; Node 0: none is under way. Port 0: whom the node chooses
	named     bool             // any message is the answer
	suspected bool
	asked     time.Duration // when it was last asked after
	gone      time.Duration // since when there is no callee; 0: not known
	place     int           // of the socket, in requests.ports
}

// requests are the sockets that send requests.
type requests struct {
	e         *Engine
	ports     []*Port
	underWay  map[frame.SocketAddr]int      // requests, by callee; none is 0
	withdrawn map[frame.SocketAddr]struct{} // that withdrew a name or closed, not looked at yet
	look      alarm
}

// requested notes a request that is sent now.
func (p *Port) requested(f *frame.PayloadFields) {
	s, r := &p.e.requests, p.request
	s.over(r) // the last, if it was not answered
	*r = openRequest{to: frame.SocketAddr{Port: f.DestPort, Node: f.DestNode}, named: f.Type == frame.NamedMsg, place: r.place}
	s.underWay[r.to]++
}

// over notes that a request is under way no more, if it was.
func (s *requests) over(r *openRequest) {
	if r.to.Node == 0 {
		return
	}
	if k := s.underWay[r.to]; k > 1 {
		s.underWay[r.to] = k - 1
	} else {
		delete(s.underWay, r.to)
	}
	r.to.Node = 0
}

// Callee is the socket that has the request which the port sent last, while that is under way.
func (p *Port) Callee() frame.SocketAddr {
	if r := p.request; r != nil && r.to.Node != 0 {
		return r.to
	}
	return frame.SocketAddr{}
}

// answered notes that a message has come.
func (p *Port) answered(from frame.SocketAddr) {
	if r := p.request; r.named || from.Port == r.to.Port && from.Node == r.to.Node {
		p.e.requests.over(r)
	}
}

// enter takes a socket in.
func (s *requests) enter(p *Port) {
	if s.underWay == nil {
		s.underWay = map[frame.SocketAddr]int{}
	}
	p.request = &openRequest{place: len(s.ports)}
	s.ports = append(s.ports, p)
}

// leave forgets one.
func (s *requests) leave(p *Port) {
	s.over(p.request)
	last := len(s.ports) - 1
	s.ports[p.request.place] = s.ports[last]
	s.ports[p.request.place].request.place = p.request.place
	s.ports[last] = nil
	s.ports = s.ports[:last]
}

// suspect has the requests to a socket looked after, which has withdrawn a name, or closed.
func (e *Engine) suspect(now time.Duration, of frame.SocketAddr) {
	s := &e.requests
	if len(s.ports) == 0 || of.Port == 0 {
		return
	}
	if s.withdrawn == nil {
		s.withdrawn = map[frame.SocketAddr]struct{}{}
		s.e, s.look.owner = e, s
	}
	s.withdrawn[of] = struct{}{}
	e.alarms.set(&s.look, now)
}

// ring looks after the requests whose callee may be gone.
func (s *requests) ring(now time.Duration, _ *alarm) {
	e := s.e
	e.did(WorkBindings, len(s.ports))
	again := time.Duration(-1)
	for _, p := range s.ports {
		r := p.request
		if r.to.Node == 0 {
			continue
		}
		if _, ok := s.withdrawn[r.to]; ok && !r.suspected {
			r.suspected, r.asked = true, now-askAgain
		}
		if !r.suspected {
			continue
		}
		if at := e.lookAfter(now, p); at >= 0 && (again < 0 || at < again) {
			again = at
		}
	}
	clear(s.withdrawn)
	if again >= 0 {
		e.alarms.set(&s.look, again)
	}
}

// lookAfter ends a request if its callee is gone, or asks. It returns when to look again;
// negative: not.
func (e *Engine) lookAfter(now time.Duration, p *Port) time.Duration {
	r := p.request
	local := r.to.Node == e.addr
	if local && r.gone == 0 && e.ports[r.to.Port] == nil {
		r.gone = now
	}
	switch {
	case r.gone != 0:
		if now < r.gone+rerouteGrace && r.named && e.boundElse(p.memo.Service(), r.to) {
			return r.gone + rerouteGrace
		}
		p.endRequest(frame.NoPort)
		return -1
	case local:
		return -1 // its close is told
	}
	if now >= r.asked+askAgain {
		r.asked = now
		e.sendManager(now, &frame.ConnFields{Type: frame.ConnProbe, OrigPort: p.number, Orig: e.addr, DestPort: r.to.Port, Dest: r.to.Node})
	}
	return r.asked + askAgain
}

// boundElse reports whether a socket other than one that is gone has a name.
func (e *Engine) boundElse(a frame.Service, gone frame.SocketAddr) bool {
	to, ok := e.table.Choose(a)
	return ok && to.Socket() != gone
}

// noCallee takes a CONN_PROBE that came back.
func (p *Port) noCallee(now time.Duration, n *node, f *frame.ConnFields) bool {
	r := p.request
	if !p.Requests || !r.suspected || r.to.Node != n.addr || f.Orig != n.addr || f.OrigPort != r.to.Port || f.Error != frame.NoPort {
		return false
	}
	if r.gone == 0 {
		r.gone = now
		p.e.alarms.set(&p.e.requests.look, now)
	}
	return true
}

// endRequest gives a socket the end of its request to read.
func (p *Port) endRequest(why frame.ErrorCode) {
	to := p.request.to
	p.e.requests.over(p.request)
	p.pushLocal(Received{From: to, Error: why}, nil, nil)
}

// loseRequests ends the requests to a node with which contact is lost.
func (e *Engine) loseRequests(n *node) {
	for _, p := range e.requests.ports {
		if p.request.to.Node == n.addr {
			p.endRequest(frame.NoNode)
		}
	}
}
