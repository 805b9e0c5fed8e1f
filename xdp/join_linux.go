// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"github.com/utipc/utipc/netdev"
)

// A partial is a frame of several pieces of which some have arrived. It ends with
// the last piece, even when it was given up before.
type partial struct {
	begun bool
	whole *netdev.Buffer // where the pieces are copied to; nil: the frame is given up
}

// drop gives the chunk back.
func (p *partial) drop() {
	if p.whole != nil {
		p.whole.Release()
	}
	*p = partial{}
}

// joinLocked adds the piece b to the socket's frame, lets go of it, and returns
// the frame when it is whole. One that is too long, or finds no chunk, is dropped
// and counted.
func (x *XSK) joinLocked(s *socket, b *netdev.Buffer, last bool) *netdev.Buffer {
	p := &s.partial
	if !p.begun {
		p.begun = true
		p.whole = x.arena.Get(x.longest(), netdev.Control)
	}
	if w := p.whole; w != nil {
		if w.Len()+b.Len() <= x.longest() && b.Len() <= w.Tailroom() {
			copy(w.Extend(b.Len()), b.Bytes())
		} else {
			w.Release()
			p.whole = nil
		}
	}
	b.Release()
	if !last {
		return nil
	}
	whole := p.whole
	*p = partial{}
	if whole == nil {
		x.counts.lostIn++
	}
	return whole
}
