// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// putFragments is put for a message that is larger than the link's packets: it is cut
// into fragments, each of which is written once, where it is sent from. All are taken
// by the link or none; what is held back goes out before them.
// Source: docs/spec/01-wire.md §7.
func (e *Engine) putFragments(now time.Duration, l *link, f *frame.PayloadFields, data []byte, imp frame.Importance) error {
	if imp < frame.System && l.Congested(imp) { // before the work
		l.Counters.Congested++
		l.Want(now, imp)
		return flowctl.ErrCongested
	}
	limit := fragmentLimit(l)
	piece := limit - frame.IntLen
	whole := f.Len() + len(data)
	count := (whole + piece - 1) / piece
	size := frame.EthernetLen + limit
	if _, most := e.cfg.Arena.Available(size); count > most {
		return ErrTooLong
	}
	if !e.mayTake(size, count) || !e.takePieces(limit, count, whole-(count-1)*piece) {
		return e.starved(now, size, count)
	}
	e.fillPieces(l, f, data, imp)
	err := l.SendAll(now, e.pieces, imp)
	if err != nil {
		e.releasePieces()
	}
	clear(e.pieces)
	e.pieces = e.pieces[:0]
	e.after(now, l)
	return err
}

// fragmentLimit is the size of a link's fragments. The message's own header has to be
// in the first: where that leaves no room for a tunnel header there is none. So all
// but the last are above the 46 bytes to which an Ethernet pads, which kernels would
// take for data. Source: docs/spec/01-wire.md §1.1.
func fragmentLimit(l *link) int {
	if limit := l.PacketLimit(); limit >= frame.IntLen+frame.McastLen {
		return limit
	}
	return l.MTU()
}

// takePieces takes chunks for fragments of limit bytes, the last of which has so many
// bytes of the message. It reports false, and takes none, when there are not enough.
func (e *Engine) takePieces(limit, count, last int) bool {
	for i := range count {
		b := e.cfg.Arena.Get(frame.EthernetLen+limit, frame.Data)
		if b == nil {
			e.releasePieces()
			return false
		}
		if i == count-1 {
			limit = frame.IntLen + last
		}
		b.Extend(frame.EthernetLen + limit)
		e.pieces = append(e.pieces, b)
	}
	return true
}

func (e *Engine) releasePieces() {
	for _, b := range e.pieces {
		b.Release()
	}
	clear(e.pieces)
	e.pieces = e.pieces[:0]
}

// fillPieces writes a message into the chunks taken for it: its header stands in the
// first, whole.
func (e *Engine) fillPieces(l *link, f *frame.PayloadFields, data []byte, imp frame.Importance) {
	h := frame.FragmentFields{Common: frame.Common{Prev: e.addr}, Importance: imp, Orig: e.addr, Dest: l.n.addr}
	var header [frame.McastLen]byte
	f.Put(header[:], len(data))
	rest := header[:f.Len()]
	for i, b := range e.pieces {
		msg := b.Bytes()[frame.EthernetLen:]
		switch h.Number++; {
		case i == 0:
			h.Type = frame.FirstFragment
		case i == len(e.pieces)-1:
			h.Type = frame.LastFragment
		default:
			h.Type = frame.MiddleFragment
		}
		into := msg[frame.IntLen:]
		h.Put(msg, len(into))
		k := copy(into, rest)
		rest = rest[k:]
		if len(rest) == 0 {
			data = data[copy(into[k:], data):]
		}
	}
}
