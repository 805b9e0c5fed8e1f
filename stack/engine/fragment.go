// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
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
	count, limit := packets(l, f.Len()+len(data))
	size := frame.EthernetLen + limit
	if err := e.holds(size, count); err != nil {
		return err
	}
	if !e.mayTake(size, count) || !e.cut(l, f, data) {
		e.releasePieces()
		return e.starved(now, size, count)
	}
	err := l.SendAll(now, e.pieces, imp)
	if err != nil {
		e.releasePieces()
	}
	e.forgetPieces()
	e.after(now, l)
	return err
}

// packets is the number of packets that a message of so many bytes, its header
// included, takes on a link, and the size of the largest.
func packets(l *link, whole int) (count, limit int) {
	if whole <= l.PacketLimit() {
		return 1, whole
	}
	limit = fragmentLimit(l)
	piece := limit - frame.IntLen
	return (whole + piece - 1) / piece, limit
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

// cut makes the packets of a message for a link, behind those in e.pieces. It reports
// false when there are not enough chunks; those that it took are among e.pieces.
func (e *Engine) cut(l *link, f *frame.PayloadFields, data []byte) bool {
	whole := f.Len() + len(data)
	count, limit := packets(l, whole)
	had := len(e.pieces)
	last := whole - (count-1)*(limit-frame.IntLen) + frame.IntLen
	if count == 1 {
		last = whole
	}
	for i := range count {
		if i == count-1 {
			limit = last
		}
		b := e.message(limit, netdev.Data)
		if b == nil {
			return false
		}
		e.pieces = append(e.pieces, b)
	}
	if count > 1 {
		e.fillPieces(l, e.pieces[had:], f, data)
		return true
	}
	msg := e.pieces[had].Bytes()[frame.EthernetLen:]
	f.Put(msg, len(data))
	copy(msg[f.Len():], data)
	return true
}

// releasePieces gives the packets that were made back.
func (e *Engine) releasePieces() {
	for _, b := range e.pieces {
		b.Release()
	}
	e.forgetPieces()
}

func (e *Engine) forgetPieces() {
	clear(e.pieces)
	e.pieces = e.pieces[:0]
}

// fillPieces writes a message into the chunks taken for it: its header stands in the
// first, whole.
func (e *Engine) fillPieces(l *link, pieces []*netdev.Buffer, f *frame.PayloadFields, data []byte) {
	h := frame.FragmentFields{Common: frame.Common{Prev: e.addr}, Importance: importance(f), Orig: e.addr, Dest: l.n.addr}
	var header [frame.McastLen]byte
	f.Put(header[:], len(data))
	rest := header[:f.Len()]
	for i, b := range pieces {
		msg := b.Bytes()[frame.EthernetLen:]
		switch h.Number++; {
		case i == 0:
			h.Type = frame.FirstFragment
		case i == len(pieces)-1:
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
