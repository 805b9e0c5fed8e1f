// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A moving is what a link that survives another one has still to send of that one's packets.
// Where there is no chunk for the next of them, all that is left is owed: it is tried again
// every movePause, and what is sent meanwhile waits behind it.
//
//	backlog:  before │ in the tunnel │ ◄── what is left comes in here │ sent meanwhile
//	          └──────── ahead ───────┘                                └── waits: the cork is on
type moving struct {
	f     frame.TunnelFields
	left  Queue[*netdev.Buffer] // numbered; the packets themselves
	sent  int                   // pieces of the first of them that were sent
	end   frame.Seq             // the number of the empty message that shows where the link ended
	acks  bool                  // that says what was received as well:
	ack   frame.Seq
	bcast frame.Seq
	ahead int // packets of the backlog that need not wait
}

// movePause is the time between two tries.
const movePause = 5 * time.Millisecond

// SendFailover sends everything that a failed link has not got through, and takes it out of
// that link's queues; what there is no memory for now comes later. Errors: ErrTunnel, with
// nothing sent or taken; then this link must be given up, too: the peer would wait for what is
// missing. Source: docs/spec/02-link.md §10.2.
func (l *Link) SendFailover(now time.Duration, failed *Link) error {
	count, limit := 1, l.MTU()-frame.IntLen
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
	if l.transmit.Len()+l.backlog.Len()+count > MaxTunnelled || l.Moving() > 0 {
		return ErrTunnel
	}
	m := &moving{f: l.tunnelFields(frame.TunnelFailover, failed)}
	m.f.Count = uint16(count)
	if failed.backlog.Len() == 0 && failed.Open() { // as if sent (capture 19, frame 102)
		m.acks, m.ack, m.bcast = true, failed.rcvNxt-1, failed.bcast.Ack()
	}
	failed.dropOut()
	l.inherit(failed)
	for failed.transmit.Len() > 0 {
		if p := failed.transmit.Pop(); p.waits() {
			m.left.Push(p.b)
		} else if p.b != nil {
			l.undelivered.inherited = append(l.undelivered.inherited, p.b)
		}
	}
	for failed.backlog.Len() > 0 {
		b := failed.backlog.Pop().b
		frame.StampSeq(b.Bytes()[frame.EthernetLen:], failed.sndNxt)
		failed.sndNxt++
		m.left.Push(b)
	}
	m.end = failed.sndNxt
	if !l.cork.waits { // else what waits was sent after all of this
		m.ahead = l.backlog.Len()
	}
	l.cork.waits = false
	l.needBacklog().moving = m
	l.move(now)
	return nil
}

// SendHalfFailover answers a failover of a link that has nothing to move: one packet
// with nothing in it. Errors: ErrTunnel, where too much waits already: a peer can ask for any
// number of them.
func (l *Link) SendHalfFailover(now time.Duration, bearer uint8) error {
	if l.waits(inTunnel) >= l.Limit(frame.System) || l.Moving() > 0 {
		return ErrTunnel
	}
	m := &moving{f: l.tunnelFields(frame.TunnelFailover, nil), ahead: l.backlog.Len()}
	m.f.Bearer, m.f.Count = bearer, 1
	l.needBacklog().moving = m
	l.move(now)
	return nil
}

// Moving is the number of packets of a failed link that have still to be sent.
func (l *Link) Moving() int {
	if l.backlog == nil || l.backlog.moving == nil {
		return 0
	}
	return l.backlog.moving.left.Len() + 1
}

// setCork has the link send, or not.
func (l *Link) setCork() {
	l.cork.on = l.cork.waits || l.Moving() > 0 && l.backlog.moving.ahead == 0
}

// move sends what is left of a failed link, as far as there is memory.
func (l *Link) move(now time.Duration) {
	q := l.backlog
	m := q.moving
	var later Queue[waiting] // what was sent after all of this
	later, q.Queue = q.Queue, later
	for range m.ahead {
		q.Push(later.Pop())
	}
	l.cork.on = l.cork.waits
	all := l.moveNext(now, m)
	m.ahead = q.Len()
	for later.Len() > 0 {
		q.Push(later.Pop())
	}
	if all {
		q.moving = nil
	} else {
		l.lookBy(now + movePause)
	}
	l.setCork()
	l.Flush(now)
}

// moveNext sends what is left, and then the empty message. It reports false for want of memory.
func (l *Link) moveNext(now time.Duration, m *moving) bool {
	for ; m.left.Len() > 0; m.left.Drop() {
		if !l.takeOver(now, m, *m.left.At(0)) {
			return false
		}
	}
	d := l.dummy()
	if d == nil {
		return false
	}
	frame.StampSeq(d.Bytes()[frame.EthernetLen:], m.end)
	if m.acks {
		frame.StampAcks(d.Bytes()[frame.EthernetLen:], m.ack, m.bcast)
	}
	if !l.carry(now, &m.f, d) {
		d.Release()
		return false
	}
	return true
}

// drop lets go of what is left.
func (m *moving) drop() {
	for m != nil && m.left.Len() > 0 {
		m.left.Pop().Release()
	}
}
