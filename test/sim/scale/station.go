// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A station is a place on the segment, with a node while one lives there.
type station struct {
	idx    int
	addr   frame.NodeAddr
	mac    frame.MAC
	eng    *engine.Engine // nil: dead
	diedAt time.Duration
	peers  int // nodes there is contact with

	at    time.Duration // when it is to be served
	place int           // on the agenda; -1: not there
}

// An agenda is when each station is to be served: a heap, the first in front; of those due at
// one time the one with the lower number.
type agenda struct{ heap []*station }

func (a *agenda) first() time.Duration {
	if len(a.heap) == 0 {
		return flowctl.Never
	}
	return a.heap[0].at
}

func (a *agenda) top() *station { return a.heap[0] }

func before(s, t *station) bool { return s.at < t.at || s.at == t.at && s.idx < t.idx }

// move has a station served at a time, or not at all.
func (a *agenda) move(s *station, at time.Duration) {
	if s.place >= 0 && s.at == at {
		return
	}
	s.at = at
	switch {
	case s.place < 0 && at == flowctl.Never:
		return
	case s.place < 0:
		s.place = len(a.heap)
		a.heap = append(a.heap, s)
	case at == flowctl.Never:
		end := len(a.heap) - 1
		i, last := s.place, a.heap[end]
		a.heap[end] = nil
		a.heap = a.heap[:end]
		s.place = -1
		if i == end {
			return
		}
		a.put(i, last)
		s = last
	}
	a.up(s)
	a.down(s)
}

func (a *agenda) put(i int, s *station) {
	a.heap[i] = s
	s.place = i
}

func (a *agenda) up(s *station) {
	for s.place > 0 {
		p := (s.place - 1) / 2
		o := a.heap[p]
		if !before(s, o) {
			return
		}
		a.put(s.place, o)
		a.put(p, s)
	}
}

func (a *agenda) down(s *station) {
	for {
		k := 2*s.place + 1
		if k >= len(a.heap) {
			return
		}
		if k+1 < len(a.heap) && before(a.heap[k+1], a.heap[k]) {
			k++
		}
		o := a.heap[k]
		if !before(o, s) {
			return
		}
		a.put(s.place, o)
		a.put(k, s)
	}
}
