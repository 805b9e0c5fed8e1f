// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"github.com/utipc/utipc/frame"
)

// An echo is what a stranger who repeats has heard.
type echo struct {
	bearer int
	b      []byte
}

const memoryOfStranger = 2000 // frames

// addStranger puts a node that does not belong onto the segments.
func (c *cluster) addStranger() {
	if c.stranger != keyless && c.stranger != wrong {
		return
	}
	s := &station{idx: len(c.stations), addr: firstAddr + 0x60, alien: true}
	c.stations = append(c.stations, s)
	c.byAddr[s.addr] = s
}

// arm gives the stranger the key that it has.
func (c *cluster) arm(s *station) {
	switch {
	case c.Mutation == Insider:
		s.alien = false
		s.own = c.members[0].own
		c.giveAll(s)
		s.alien = true
	case c.stranger == wrong:
		s.own = c.newKey(frame.ClusterKey)
		c.giveAll(s)
	}
}

// overhear lets a stranger who repeats remember a frame.
func (c *cluster) overhear(bearer int, b []byte) {
	if c.stranger != repeater || c.r.IntN(8) > 0 {
		return
	}
	e := echo{bearer, append([]byte(nil), b...)}
	if len(c.echoes) < memoryOfStranger {
		c.echoes = append(c.echoes, e)
	} else {
		c.echoes[c.r.IntN(len(c.echoes))] = e
	}
}

// meddle repeats some of what was heard, one in three cut or changed.
func (c *cluster) meddle() {
	for range min(len(c.echoes), c.r.IntN(6)) {
		e := c.echoes[c.r.IntN(len(c.echoes))]
		b := append([]byte(nil), e.b...)
		if msg := b[frame.EthernetLen:]; msg[0]>>5 == 7 {
			switch c.r.IntN(6) {
			case 0:
				msg[c.r.IntN(len(msg))] ^= 1 << c.r.IntN(8)
			case 1:
				b = b[:frame.EthernetLen+c.r.IntN(len(msg))]
			}
		}
		c.report.Meddled++
		c.spread(nil, e.bearer, b, nil)
	}
}
