// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// MaxTunnelled is the number of tunnel messages that one failover may have: with more
// its end would lie behind its beginning. Source: docs/spec/02-link.md §12.9.
const MaxTunnelled = 32766

// ErrTunnel means that packets of a failed link cannot go over another one: they are too
// large and the peer takes no pieces, or they are too many to be numbered.
var ErrTunnel = errors.New("flowctl: packets of a failed link are lost")

// SendSynch tells the peer, as the first packet of a second link, after which packet
// of the old one it may be used. Source: docs/spec/02-link.md §10.1.
func (l *Link) SendSynch(now time.Duration, old *Link) {
	if old.transmit.Len()+old.backlog.Len() >= MaxTunnelled {
		l.fail(OwnDecision) // the peer would take the point for one that is past
		return
	}
	f := l.tunnelFields(frame.TunnelSynch, old)
	if l.tunnelsEnhanced() {
		point := old.sndNxt + frame.Seq(old.backlog.Len()) - 1
		f.Count = uint16(point)
		if b := l.tunnel(&f, nil); b != nil {
			l.pass(now, b)
			l.corkUntil(now, old, point)
		} else {
			l.fail(OwnDecision) // the peer would never use it
		}
		return
	}
	old.Flush(now)
	// Old peers are sent all that is on its way on the old link, of which they look
	// at the first header.
	dummy := l.dummy()
	if dummy == nil {
		l.fail(OwnDecision)
		return
	}
	old.sendUnlimited(now, dummy, frame.System)
	first := old.sndNxt
	if old.transmit.Len() > 0 {
		first = old.sndNxt - frame.Seq(old.transmit.Len())
	}
	f.Count = uint16(old.sndNxt + frame.Seq(old.backlog.Len()) - first)
	for b := range old.queued {
		msg := b.Bytes()[frame.EthernetLen:]
		if frame.IntLen+len(msg) > l.MTU() {
			msg = msg[:l.MTU()-frame.IntLen]
		}
		t := l.tunnel(&f, msg)
		if t == nil {
			l.fail(OwnDecision)
			return
		}
		l.pass(now, t)
	}
	l.corkUntil(now, old, first+frame.Seq(f.Count)-1)
}

// corkUntil makes the link wait until the old one has got everything through up to a
// packet, and asks the peer about it.
func (l *Link) corkUntil(now time.Duration, old *Link, upTo frame.Seq) {
	if !l.cfg.AsKernel && !old.Delivered(upTo) {
		l.cork = cork{true, true, upTo}
		old.Probe(now)
	}
}

// queued yields the packets that were sent and not acknowledged, and those that wait.
func (l *Link) queued(yield func(*netdev.Buffer) bool) {
	for i := range l.transmit.Len() {
		if p := l.transmit.At(i); p.waits() && !yield(p.b) {
			return
		}
	}
	for i := range l.backlog.Len() {
		if !yield(l.backlog.At(i).b) {
			return
		}
	}
}

// takeOver sends a packet of a failed link: of one that is a tunnel message itself, and
// spoke of how the links stood before, only the number counts. It is as carry.
func (l *Link) takeOver(now time.Duration, m *moving, b *netdev.Buffer) bool {
	msg := b.Bytes()[frame.EthernetLen:]
	switch {
	case frame.UserOf(msg) == frame.UserTunnel:
	case len(msg) > l.MTU()-frame.IntLen:
		return l.carryPieces(now, m.f, b, &m.sent)
	default:
		return l.carry(now, &m.f, b)
	}
	d := l.dummy()
	if d == nil {
		return false
	}
	inner, _ := frame.Parse(msg)
	frame.StampSeq(d.Bytes()[frame.EthernetLen:], inner.Seq())
	if !l.carry(now, &m.f, d) {
		d.Release()
		return false
	}
	b.Release()
	return true
}

// pass sends a tunnel message. What is sent later must not join a packet that waits
// before it: it would overtake what is in the tunnel.
func (l *Link) pass(now time.Duration, b *netdev.Buffer) {
	l.sendUnlimited(now, b, inTunnel)
	if l.backlog != nil {
		l.backlog.bundler = bundler{}
	}
}

// carry sends one packet of another link whole; it takes over the caller's hold, unless it
// reports false, for want of memory.
func (l *Link) carry(now time.Duration, f *frame.TunnelFields, b *netdev.Buffer) bool {
	msg := b.Bytes()[frame.EthernetLen:]
	if b.Shared() { // a device or a poll still has it
		t := l.tunnel(f, msg)
		if t == nil {
			return false
		}
		b.Release()
		l.pass(now, t)
		return true
	}
	b.Prepend(frame.IntLen)
	f.Put(b.Bytes()[frame.EthernetLen:], len(msg))
	l.pass(now, b)
	return true
}

// carryPieces is carry in pieces. Those that were sent count in *sent, to go on behind them.
func (l *Link) carryPieces(now time.Duration, f frame.TunnelFields, b *netdev.Buffer, sent *int) bool {
	msg, limit := b.Bytes()[frame.EthernetLen:], l.MTU()-frame.IntLen
	n := len(msg)/limit + 1 // the last may be empty: kernels count so
	f.Pieces = uint16(n)
	for ; *sent < n; *sent++ {
		i := *sent
		f.Piece = uint16(i + 1)
		t := l.tunnel(&f, msg[i*limit:min((i+1)*limit, len(msg))])
		if t == nil {
			return false
		}
		l.pass(now, t)
	}
	*sent = 0
	b.Release()
	return true
}

// tunnelsEnhanced reports whether both ends know the newer forms. A kernel goes by what
// its peer announces.
func (l *Link) tunnelsEnhanced() bool {
	return (l.caps & l.cfg.Capabilities).Has(frame.CapTunnelEnhanced)
}

func (l *Link) tunnelFields(t frame.TunnelType, of *Link) frame.TunnelFields {
	f := frame.TunnelFields{
		Common: frame.Common{Prev: l.cfg.Self}, Type: t, Orig: l.cfg.Self, Dest: l.peer,
	}
	if of != nil {
		f.Bearer = of.peerBearer
	}
	return f
}

// tunnel makes a tunnel message, or returns nil for want of memory.
func (l *Link) tunnel(f *frame.TunnelFields, data []byte) *netdev.Buffer {
	n := frame.EthernetLen + frame.IntLen + len(data)
	b := l.cfg.Arena.Get(n, netdev.Control)
	if b == nil {
		l.NoChunk++
		return nil
	}
	msg := b.Extend(n)[frame.EthernetLen:]
	f.Put(msg, len(data))
	copy(msg[frame.IntLen:], data)
	return b
}

// dummy makes a message that every receiver drops: it shows where a link ended. It
// returns nil for want of memory.
func (l *Link) dummy() *netdev.Buffer {
	b := l.cfg.Arena.Get(frame.EthernetLen+frame.BasicLen, netdev.Control)
	if b == nil {
		l.NoChunk++
		return nil
	}
	f := frame.PayloadFields{
		Common: frame.Common{Prev: l.cfg.Self}, Type: frame.DirectMsg, Error: frame.NoPort,
		OrigNode: l.cfg.Self, DestNode: l.peer,
	}
	f.Put(b.Extend(frame.EthernetLen + frame.BasicLen)[frame.EthernetLen:], 0)
	return b
}

// dropOut drops the packets that were not handed on yet: they go through a tunnel.
func (l *Link) dropOut() {
	for l.out.Len() > 0 {
		l.out.Pop().Release()
	}
}
