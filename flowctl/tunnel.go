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

// ErrTunnel means that packets of a failed link could not go over another one: there
// is no memory for them, they are too large and the peer takes no pieces, or they are
// too many to be numbered.
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
		if frame.IntLen+len(msg) > l.mtu {
			msg = msg[:l.mtu-frame.IntLen]
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
		l.cork = cork{true, upTo}
		old.Probe(now)
	}
}

// queued yields the packets that were sent and not acknowledged, and those that wait.
func (l *Link) queued(yield func(*netdev.Buffer) bool) {
	for i := range l.transmit.Len() {
		if b := l.transmit.At(i).b; b != nil && !yield(b) {
			return
		}
	}
	for i := range l.backlog.Len() {
		if !yield(l.backlog.At(i).b) {
			return
		}
	}
}

// SendFailover sends everything that a failed link has not got through, and takes it
// out of that link's queues. Errors: ErrTunnel, after which this link must be given
// up, too: the peer would wait for what is missing.
// Source: docs/spec/02-link.md §10.2.
func (l *Link) SendFailover(now time.Duration, failed *Link) error {
	if !l.cork.on {
		return l.sendFailover(now, failed)
	}
	var later Queue[waiting] // what waits under the cork was sent after all of this
	if q := l.backlog; q != nil {
		later, q.Queue = q.Queue, later
	}
	l.cork.on = false
	err := l.sendFailover(now, failed)
	for later.Len() > 0 {
		l.backlog.Push(later.Pop())
	}
	if err == nil {
		l.Flush(now)
	}
	return err
}

func (l *Link) sendFailover(now time.Duration, failed *Link) error {
	failed.dropOut()
	dummy := l.dummy()
	if dummy == nil {
		return ErrTunnel
	}
	if failed.backlog.Len() == 0 && failed.Open() { // as if sent (capture 19, frame 102)
		frame.StampAcks(dummy.Bytes()[frame.EthernetLen:], failed.rcvNxt-1, failed.bcast.Ack())
	}
	failed.needBacklog().Push(waiting{dummy, frame.System})
	for i := range failed.backlog.Len() {
		msg := failed.backlog.At(i).b.Bytes()[frame.EthernetLen:]
		frame.StampSeq(msg, failed.sndNxt)
		failed.sndNxt++
	}
	f := l.tunnelFields(frame.TunnelFailover, failed)
	limit := l.mtu - frame.IntLen
	count := 0
	for b := range failed.queued {
		n := b.Len() - frame.EthernetLen
		count++
		if n > limit && frame.UserOf(b.Bytes()[frame.EthernetLen:]) != frame.UserTunnel {
			if !l.tunnelsEnhanced() {
				return ErrTunnel
			}
			count += n / limit
		}
	}
	if l.transmit.Len()+l.backlog.Len()+count > MaxTunnelled {
		return ErrTunnel
	}
	f.Count = uint16(count)
	for failed.transmit.Len() > 0 { // what cannot be moved stays
		if b := failed.transmit.At(0).b; b != nil && !l.takeOver(now, &f, b) {
			return ErrTunnel
		}
		failed.transmit.Pop()
	}
	for failed.backlog.Len() > 0 {
		if !l.takeOver(now, &f, failed.backlog.At(0).b) {
			return ErrTunnel
		}
		failed.backlog.Pop()
	}
	return nil
}

// takeOver sends a packet of a failed link: of one that is a tunnel message itself, and
// spoke of how the links stood before, only the number counts. It is as carry.
func (l *Link) takeOver(now time.Duration, f *frame.TunnelFields, b *netdev.Buffer) bool {
	if frame.UserOf(b.Bytes()[frame.EthernetLen:]) != frame.UserTunnel {
		return l.carry(now, f, b)
	}
	d := l.dummy()
	if d == nil {
		return false
	}
	m, _ := frame.Parse(b.Bytes()[frame.EthernetLen:])
	frame.StampSeq(d.Bytes()[frame.EthernetLen:], m.Seq())
	if !l.carry(now, f, d) {
		d.Release()
		return false
	}
	b.Release()
	return true
}

// SendHalfFailover answers a failover of a link that has nothing to move: one packet
// with nothing in it. Errors: ErrTunnel, also where too much waits already: a peer can
// ask for any number of them.
func (l *Link) SendHalfFailover(now time.Duration, bearer uint8) error {
	if l.waits(inTunnel) >= l.Limit(frame.System) {
		return ErrTunnel
	}
	f := l.tunnelFields(frame.TunnelFailover, nil)
	f.Bearer, f.Count = bearer, 1
	d := l.dummy()
	if d == nil {
		return ErrTunnel
	}
	if !l.carry(now, &f, d) {
		d.Release()
		return ErrTunnel
	}
	return nil
}

// pass sends a tunnel message. What is sent later must not join a packet that waits
// before it: it would overtake what is in the tunnel.
func (l *Link) pass(now time.Duration, b *netdev.Buffer) {
	l.sendUnlimited(now, b, inTunnel)
	if l.backlog != nil {
		l.backlog.bundler = bundler{}
	}
}

// carry sends one packet of another link, whole or in pieces; it takes over the
// caller's hold, unless it reports false, for want of memory.
func (l *Link) carry(now time.Duration, f *frame.TunnelFields, b *netdev.Buffer) bool {
	msg := b.Bytes()[frame.EthernetLen:]
	limit := l.mtu - frame.IntLen
	if len(msg) > limit {
		if !l.carryPieces(now, *f, msg) {
			return false
		}
		b.Release()
		return true
	}
	if b.Shared() { // a device or a lap still has it
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

func (l *Link) carryPieces(now time.Duration, f frame.TunnelFields, msg []byte) bool {
	limit := l.mtu - frame.IntLen
	n := len(msg)/limit + 1 // the last may be empty: kernels count so
	f.Pieces = uint16(n)
	for i := range n {
		f.Piece = uint16(i + 1)
		t := l.tunnel(&f, msg[i*limit:min((i+1)*limit, len(msg))])
		if t == nil {
			return false
		}
		l.pass(now, t)
	}
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
