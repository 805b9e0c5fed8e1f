// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Lent is a message whose data is written where it is sent from, in chunks of the
// node's arena, with room for every header in front. Its owner fills Pieces in and sends
// it with SendLent, or gives it back with Release. A chunk is a packet:
//
//	|<------------------------- chunk -------------------------->|
//	| headroom | Ethernet | fragment | message's header |  data  |     the first
//	| headroom | Ethernet |            fragment         |  data  |     those behind it
type Lent struct {
	chunks []*netdev.Buffer
	size   int // bytes of data
	first  int // of them in the first chunk, at most
	other  int // and in each of the others
}

// Where data begins in a chunk, and the least that a chunk of many takes.
const (
	lentRoom  = frame.EthernetLen + frame.IntLen + frame.McastLen
	lentAt    = netdev.Headroom + lentRoom
	leastLent = 256
)

// Lend takes chunks for a message of n bytes, without data so far. They fit the packets
// of the link that the port's last such message took, or else of any. Errors: as for
// Send, of which ErrMemory passes.
func (p *Port) Lend(now time.Duration, m *Lent, n int) error {
	e := p.e
	if p.closed {
		return ErrClosed
	}
	if n < 0 || n > frame.MaxPayload {
		return &LengthError{n, frame.MaxPayload}
	}
	limit := max(p.lentLimit(), leastLent)
	limit = min(limit, e.cfg.Arena.Largest()-lentRoom)
	*m = Lent{chunks: m.chunks[:0], size: n, first: n}
	count, room := 1, n
	if n > limit-frame.McastLen {
		m.first, m.other = limit-frame.IntLen-frame.McastLen, limit-frame.IntLen
		count = 1 + (n-m.first+m.other-1)/m.other
		room = m.other
	}
	size := lentRoom + room
	if err := e.holds(size, count); err != nil {
		return err
	}
	if !e.mayTake(size, count) {
		return e.starved(now, size, count)
	}
	for range count {
		b := e.cfg.Arena.Get(size, netdev.Data)
		if b == nil {
			m.Release()
			return e.starved(now, size, count)
		}
		m.chunks = append(m.chunks, b)
	}
	return nil
}

// lentLimit is the size of the packets that a message is cut for.
func (p *Port) lentLimit() int {
	if p.lentTo > 0 {
		return p.lentTo
	}
	e, limit := p.e, 0
	for _, b := range e.bearers {
		if k := e.fits(b.MTU) - frame.IntLen - e.cfg.Margin; b.MTU > 0 && !b.removed && (limit == 0 || k < limit) {
			limit = k
		}
	}
	return limit
}

// Len is the number of bytes of data.
func (m *Lent) Len() int { return m.size }

// Pieces appends the memory for the data to dst: slices that are filled in one behind
// the other, Len bytes in all.
func (m *Lent) Pieces(dst [][]byte) [][]byte {
	for i := range m.chunks {
		dst = append(dst, m.piece(i))
	}
	return dst
}

// length is how much data a chunk holds.
func (m *Lent) length(i int) int {
	if i == 0 {
		return min(m.first, m.size)
	}
	return min(m.other, m.size-m.first-(i-1)*m.other)
}

func (m *Lent) piece(i int) []byte { return m.place(i, 0) }

// place makes a chunk's frame its data and n bytes of headers in front of it.
func (m *Lent) place(i, n int) []byte {
	b, k := m.chunks[i], m.length(i)
	if !b.Place(lentAt-n, n+k) {
		panic("engine: a lent message beyond its chunk")
	}
	return b.Bytes()[: n+k : n+k]
}

// Release gives the chunks back.
func (m *Lent) Release() {
	for _, b := range m.chunks {
		b.Release()
	}
	m.forget()
}

// forget leaves the chunks to somebody else.
func (m *Lent) forget() {
	clear(m.chunks)
	*m = Lent{chunks: m.chunks[:0]}
}

// SendLent is Send for a message whose data is in place. With a nil error its chunks are
// the engine's; otherwise nothing has changed.
func (p *Port) SendLent(now time.Duration, to frame.SocketAddr, m *Lent) error {
	if p.closed {
		return ErrClosed
	}
	f := p.template(frame.DirectMsg, to)
	return m.done(p.sendOr(now, &f, nil, m))
}

// SendLentService is SendService likewise.
func (p *Port) SendLentService(now time.Duration, a frame.Service, m *Lent) error {
	_, err := p.sendService(now, a, nil, m)
	return m.done(err)
}

// SendLentRange is SendRange likewise. The data is copied: there may be many receivers.
func (p *Port) SendLentRange(now time.Duration, r frame.Range, m *Lent) error {
	return m.done(p.SendRange(now, r, p.e.joined(m)))
}

// sizeOf is how much is sent: data, or else m.
func sizeOf(data []byte, m *Lent) int {
	if m != nil {
		return m.size
	}
	return len(data)
}

// done gives back what was sent and no link has taken over: copies went.
func (m *Lent) done(err error) error {
	if err == nil {
		m.Release()
	}
	return err
}

// joined returns the data in one piece: the only one, or a copy that is good until the
// next call.
func (e *Engine) joined(m *Lent) []byte {
	if len(m.chunks) == 1 {
		return m.piece(0)
	}
	e.whole = e.whole[:0]
	for i := range m.chunks {
		e.whole = append(e.whole, m.piece(i)...)
	}
	return e.whole
}

// putLent is put for a lent message. Where the link's packets are smaller than it was
// made for the data is copied.
func (e *Engine) putLent(now time.Duration, l *link, p *Port, f *frame.PayloadFields, m *Lent) (joined bool, err error) {
	imp, hlen := importance(f), f.Len()
	p.lentTo = l.PacketLimit()
	switch {
	case len(m.chunks) == 1 && hlen+m.size <= l.PacketLimit():
		msg := m.place(0, frame.EthernetLen+hlen)[frame.EthernetLen:]
		f.Put(msg, m.size)
		b := m.chunks[0]
		b.Hold() // transmit takes a hold over in any case
		err = e.transmit(now, l, b, imp)
	case len(m.chunks) > 1 && frame.IntLen+max(hlen+m.first, m.other) <= fragmentLimit(l):
		e.frameLent(l, f, m)
		if err = l.SendAll(now, m.chunks, imp); err == nil {
			m.forget()
		}
	default:
		return e.put(now, l, f, e.joined(m), netdev.Data)
	}
	e.after(now, l)
	return false, err
}

// frameLent writes the headers of a message in fragments in front of its data.
// Source: docs/spec/01-wire.md §7.
func (e *Engine) frameLent(l *link, f *frame.PayloadFields, m *Lent) {
	h := frame.FragmentFields{Common: frame.Common{Prev: e.addr}, Importance: importance(f), Orig: e.addr, Dest: l.n.addr}
	hlen := f.Len()
	for i := range m.chunks {
		h.Number++
		h.Type = frame.MiddleFragment
		own := 0 // header of the message
		switch i {
		case 0:
			h.Type, own = frame.FirstFragment, hlen
		case len(m.chunks) - 1:
			h.Type = frame.LastFragment
		}
		msg := m.place(i, frame.EthernetLen+frame.IntLen+own)[frame.EthernetLen:]
		h.Put(msg, len(msg)-frame.IntLen)
		if own > 0 {
			f.Put(msg[frame.IntLen:], m.size)
		}
	}
}

// Lend is that of Port, for WriteLent.
func (c *Conn) Lend(now time.Duration, m *Lent, n int) error { return c.port.Lend(now, m, n) }

// WriteLent is Write for a message whose data is in place. With a nil error its chunks are
// the engine's; otherwise nothing has changed. Of a stream a short one may be collected
// with others, and is copied then.
func (c *Conn) WriteLent(now time.Duration, m *Lent) error { return m.done(c.writeOr(now, nil, m)) }

// Large reports whether the first message that waits lies in memory that Take hands out.
func (c *Conn) Large() bool { return c.port.queue.Len() > 0 && c.port.queue.At(0).data != nil }

// Take is that of Port. Of a stream it is the rest of the first message.
func (c *Conn) Take(now time.Duration, buf []byte) (data []byte, hold *netdev.Buffer, ok bool) {
	data, hold, r, ok := c.port.take(buf, c.taken)
	if ok {
		c.taken = 0
		c.consumed(now, r.Len)
	}
	return data, hold, ok
}
