// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A Mutation is something wrong with the segment, to see the checks find it, or the
// nodes bear it.
type Mutation uint8

const (
	None    Mutation = iota
	AllUp            // records say that all their members are up: the dead are not reported
	AllDown          // records say that all are down; those that live answer, and stay
	Mute             // what the first station sends is lost for ten seconds, though it lives
)

const (
	muteFrom  = 5 * time.Second // after the last start
	muteUntil = 15 * time.Second
)

// mutate changes a frame on its way, and reports whether it is lost.
func (c *cluster) mutate(from *station, b []byte) (lost bool) {
	switch c.Mutation {
	case Mute:
		return from.idx == 0 && c.now > c.started+muteFrom && c.now < c.started+muteUntil
	case AllUp:
		setUpMap(b, 0xff)
	case AllDown:
		setUpMap(b, 0)
	}
	return false
}

// setUpMap sets all bytes of the up map of a frame that has a record.
func setUpMap(b []byte, to byte) {
	m, err := frame.Parse(b[frame.EthernetLen:])
	if err != nil || m.User() != frame.UserLink {
		return
	}
	l, err := frame.ParseLink(m)
	if err != nil {
		return
	}
	s, ok := l.State()
	if !ok {
		return
	}
	d, ok, err := s.Domain(true)
	if !ok || err != nil || d.Len() == 0 {
		return
	}
	at := len(b) - 4*d.Len() - 8
	for i := range 8 {
		b[at+i] = to
	}
}
