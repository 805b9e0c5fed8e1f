// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// An FailoverReceiver is the receiving half of a link that failed while another to the same
// node works: what the failed link had not received yet comes through the other one,
// in tunnel messages, and has its turn by the failed link's numbers. The zero value
// waits for nothing. Source: docs/spec/02-link.md §10.2.
type FailoverReceiver struct {
	next frame.Seq // the packet expected
	pool *Pool
	deferral
}

// Begin takes over what a link expects, and what it has deferred.
func (h *FailoverReceiver) Begin(l *Link) {
	h.next, h.pool = l.rcvNxt, l.cfg.Pool
	h.deferral, l.deferral = l.deferral, deferral{}
}

// BeginEmpty expects a link's first packet; what is deferred counts in pool.
func (h *FailoverReceiver) BeginEmpty(first frame.Seq, pool *Pool) { h.next, h.pool = first, pool }

// HandlePacket takes a packet out of the tunnel. The caller keeps its hold of b,
// which is nil where the packet lies in memory of its own.
func (h *FailoverReceiver) HandlePacket(m frame.Message, b *netdev.Buffer) Verdict {
	switch {
	case m.Seq().Before(h.next) || h.next.Distance(m.Seq()) > MaxWindow:
		return Dropped
	case m.Seq() == h.next:
		h.next++
		return Deliver
	case h.add(m, b, h.pool) != deferredNow:
		return Dropped
	}
	return Deferred
}

// Deferring reports whether packets wait for their turn.
func (h *FailoverReceiver) Deferring() bool { return len(h.deferred()) > 0 }

// Next returns the next deferred packet that has its turn.
func (h *FailoverReceiver) Next() (Packet, bool) {
	p, ok := h.take(h.next)
	if ok {
		h.next++
	}
	return p, ok
}

// Clear drops what is deferred.
func (h *FailoverReceiver) Clear() { h.deferral.clear() }

// Buffers yields every Buffer that is held, once for each hold.
func (h *FailoverReceiver) Buffers(yield func(*netdev.Buffer) bool) { h.deferral.buffers(yield) }

// Pieces joins the pieces of a tunnelled packet that was too large for the link the
// tunnel is on; they come one behind the other. Its memory is at most one packet.
// The zero value is ready. Source: docs/spec/02-link.md §10.2.
type Pieces struct {
	buf  []byte
	next int // the piece expected, from 1; 0 between packets
}

// Add takes the next piece, and with the last one returns the packet; an empty
// Message before. Errors: frame.ErrMalformed, after which the pieces are forgotten.
func (p *Pieces) Add(t frame.Tunnel) (frame.Message, error) {
	no, of, _ := t.Piece()
	if no == 1 {
		*p = Pieces{next: 1}
	}
	if no != p.next || p.next == 0 || len(p.buf)+len(t.Data()) > frame.MaxMessage {
		*p = Pieces{}
		return frame.Message{}, frame.ErrMalformed
	}
	p.buf = append(p.buf, t.Data()...)
	if p.next++; no < of {
		return frame.Message{}, nil
	}
	buf := p.buf
	*p = Pieces{}
	return frame.ParseTunnelled(buf)
}
