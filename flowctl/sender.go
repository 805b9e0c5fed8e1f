// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Limits of a sender. Source: docs/spec/02-link.md §1.3.
const (
	MaxWindow     = 8191 // packets a receiver accepts ahead of what it expects
	DefaultWindow = 50   // the kernel's minimum
)

// ErrCongested means the backlog of the message's importance is full. The
// message was not taken; event Room tells when to try again.
var ErrCongested = errors.New("flowctl: link congested")

// ErrTooLong means the message does not fit into a packet of the link.
var ErrTooLong = errors.New("flowctl: message larger than the link's packets")

// A sender is the sending half of a Link.
//
//	Send ──► backlog, by importance limited ──► transmit ──► released by acks
//	                                 window ───────┘ ▲ └─► out
//	                                                 └──── gaps
type sender struct {
	congestion
	sndNxt      frame.Seq // the next packet's number
	sndNxtState frame.Seq
	transmit    Queue[sent]  // from the oldest packet that is not acknowledged to sndNxt
	unacked     int32        // packets in it that are not acknowledged, at most MaxWindow
	flight      int32        // their bytes
	backlog     *backlog     // nil: nothing waits
	undelivered *undelivered // nil: none as yet
}

type sent struct {
	b           *netdev.Buffer // nil, on a broadcast link: all have it, though not all older ones
	at          time.Duration  // when it was sent last
	first       time.Duration  // when it was first repeated
	retransmits int32
	owing       int32 // members of a broadcast link that have not acknowledged it, or hasLater
}

// hasLater, in owing, is of a packet that is kept, though it is acknowledged.
const hasLater = -1

// waits reports whether a packet is to be acknowledged yet.
func (p *sent) waits() bool { return p.b != nil && p.owing != hasLater }

func (s *sender) clear(first frame.Seq) {
	for s.transmit.Len() > 0 {
		if b := s.transmit.Pop().b; b != nil {
			b.Release()
		}
	}
	for s.backlog.Len() > 0 {
		s.backlog.Pop().b.Release()
	}
	if s.backlog != nil {
		s.backlog.moving.drop()
	}
	s.backlog = nil
	s.undelivered.drop()
	s.undelivered = nil
	s.sndNxt, s.sndNxtState = first, 1
	s.unacked, s.flight = 0, 0
}

// Backlog is the number of packets that wait for the window, all importances.
func (l *Link) Backlog() int { return l.backlog.Len() }

// Unacked is the number of packets sent and not acknowledged.
func (l *Link) Unacked() int { return int(l.unacked) }

// Idle reports whether everything sent was acknowledged.
func (l *Link) Idle() bool { return l.unacked == 0 && l.backlog.Len() == 0 && l.Moving() == 0 }

// Unsettled yields every packet that the peer has not delivered, in order: those sent, and
// those that it has, though not all before them; then those that wait; of a
// failed link's packets those that are left at the end. Before all of them come those of a failed
// link that the peer has, but not all before them, and the first packet of a message that the peer
// has in part.
func (l *Link) Unsettled(yield func(*netdev.Buffer) bool) {
	for b := range l.undelivered.all {
		if !yield(b) {
			return
		}
	}
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
	for i := range l.Moving() - 1 {
		if !yield(*l.backlog.moving.left.At(i)) {
			return
		}
	}
}

// Send queues one message: b holds room for the Ethernet header and then the
// whole message, complete but for its sequence number and acknowledgements. Where
// the window is full it may share a packet that waits. With a nil error the link
// has taken over the caller's hold, otherwise nothing happened. Errors:
// ErrCongested, ErrTooLong.
func (l *Link) Send(now time.Duration, b *netdev.Buffer, imp frame.Importance) error {
	if err := l.admit(b, imp); err != nil {
		l.blockedAt(now)
		return err
	}
	if l.backlog.Len() == 0 && l.Open() {
		copy(b.Bytes(), l.header[:])
		l.launch(now, b)
		return nil
	}
	l.wait(b, imp)
	l.Flush(now) // what was held goes with it
	return nil
}

// SendAll is Send for the packets of one message, its fragments: they are taken all
// or not at all, also where there is room for the first alone, and follow each other
// on the link.
func (l *Link) SendAll(now time.Duration, bufs []*netdev.Buffer, imp frame.Importance) error {
	for _, b := range bufs {
		if err := l.admit(b, imp); err != nil {
			l.blockedAt(now)
			return err
		}
	}
	for _, b := range bufs {
		l.sendUnlimited(now, b, imp)
	}
	l.Flush(now) // what was held goes first
	l.SentFragmented++
	l.SentFragments += uint64(len(bufs))
	return nil
}

// sendUnlimited queues a packet that shares with no other, whatever waits already.
func (l *Link) sendUnlimited(now time.Duration, b *netdev.Buffer, imp frame.Importance) {
	copy(b.Bytes(), l.header[:])
	if l.backlog.Len() == 0 && l.Open() {
		l.launch(now, b)
		return
	}
	l.queue(b, imp).open[imp] = nil
	l.lookBy(now + fullWait)
}

// Hold is Send for a message that waits in any case, for more to share its packet,
// until Flush.
func (l *Link) Hold(b *netdev.Buffer, imp frame.Importance) error {
	if err := l.admit(b, imp); err != nil {
		return err
	}
	l.wait(b, imp)
	return nil
}

// admit reports why a message may not be sent now.
func (l *Link) admit(b *netdev.Buffer, imp frame.Importance) error {
	if b.Len()-frame.EthernetLen > l.MTU() {
		return ErrTooLong
	}
	if !l.Congested(imp) {
		return nil
	}
	l.Counters.Congested++
	l.backlog.turnAway(imp)
	if imp == frame.System {
		l.events |= Stuck
	}
	return ErrCongested
}

// wait puts a message into the last packet that waits, or behind it.
func (l *Link) wait(b *netdev.Buffer, imp frame.Importance) {
	msg := b.Bytes()[frame.EthernetLen:]
	if bundleable(frame.UserOf(msg)) {
		if room := l.Room(len(msg), imp); room != nil {
			copy(room, msg)
			b.Release()
			return
		}
	}
	copy(b.Bytes(), l.header[:])
	q := l.queue(b, imp)
	if !l.cfg.Alone {
		q.enter(b, imp)
	}
}

// queue puts a packet at the end of the backlog.
func (l *Link) queue(b *netdev.Buffer, imp frame.Importance) *backlog {
	q := l.needBacklog()
	q.Push(waiting{b, imp})
	q.waiting[imp]++
	return q
}

// Flush sends what waits, as far as the window allows, and tells who was turned
// away before.
func (l *Link) Flush(now time.Duration) {
	if l.backlog != nil {
		l.flush(now, 0)
	}
}

// FlushFull is Flush but for the last packet, which more may still share.
func (l *Link) FlushFull(now time.Duration) {
	if l.backlog != nil {
		l.flush(now, 1)
	}
}

func (l *Link) flush(now time.Duration, keep int) {
	q := l.backlog
	for q.Len() > keep {
		if !l.Open() {
			l.lookBy(now + fullWait)
			break
		}
		w := q.Pop()
		if q.moving != nil {
			q.moving.ahead--
			l.setCork()
		}
		q.waiting[w.imp]--
		q.leave(w.b, w.imp)
		l.launch(now, w.b)
	}
	if q.turnedAway != 0 {
		l.invite(now)
	}
}

// launch gives a packet its number and sends it for the first time.
func (l *Link) launch(now time.Duration, b *netdev.Buffer) {
	msg, members := b.Bytes()[frame.EthernetLen:], 0
	if l.cast == nil {
		frame.StampSeq(msg, l.sndNxt)
		frame.StampAcks(msg, l.rcvNxt-1, l.bcast.Ack())
	} else if members = l.cast.stamp(now, msg); members == 0 {
		b.Release()
		return
	}
	l.sndNxt++
	p := l.transmit.Extend()
	p.owing = int32(members)
	p.b, p.at = b, now
	l.unacked++
	l.flight += int32(b.Len())
	b.Hold()
	l.out.Push(b)
	l.rcvUnacked = 0
	l.SentPackets++
	l.lookBy(now + quietWait)
}
