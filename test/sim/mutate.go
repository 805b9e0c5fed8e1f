// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// mutate reports whether the deliberate mistake m is to be made now: once, after
// a number of occasions; some are made at every one.
func (w *world) mutate(m Mutation) bool {
	if w.cfg.Mutation != m {
		return false
	}
	w.occasions++
	switch m {
	case SuppressRoom, EarlySynch:
		return true
	case KeepBinding, MoveSynch, OmitTunnelled, SpoilTunnelled:
		return w.occasions == 1
	case SuppressName, ReadAgain, LoseContact, ReadSwapped:
		return w.occasions == 5
	case OmitBundled, RepeatBundled, SwapBundled, ForgetFlush, SpoilFragment:
		return w.occasions == 20
	}
	return w.occasions == 300
}

// twice hands a packet's payload to the engine again, under the next number.
func (l *life) twice(net int, p *packet) {
	w := l.n.w
	if w.cfg.Mutation != DeliverTwice {
		return
	}
	m, err := frame.Parse(p.bytes[frame.EthernetLen:])
	if err != nil || !m.User().IsPayload() && m.User() != frame.UserBundler || !w.mutate(DeliverTwice) {
		return
	}
	s := l.peers[p.from.n.idx].ends[net].cur
	b := l.arena.Get(len(p.bytes), netdev.Control)
	if s == nil || !s.up || b == nil {
		return
	}
	copy(b.Extend(len(p.bytes)), p.bytes)
	frame.StampSeq(b.Bytes()[frame.EthernetLen:], w.seq(s.consumed+1))
	l.frame(net, arrival{b, p})
	b.Release()
}

// spoilFrame makes a deliberate mistake in a frame that a device is about to take.
func (l *life) spoilFrame(s *session, b []byte) {
	w := l.n.w
	if s == nil || w.cfg.Mutation == NoMutation {
		return
	}
	msg := b[frame.EthernetLen:]
	switch w.cfg.Mutation {
	case AckTooMuch:
		if len(b) > 60 && s.up && w.mutate(AckTooMuch) {
			frame.StampAcks(msg, w.seq(s.whole+3), 0)
		}
	case BreakFrame:
		if w.mutate(BreakFrame) {
			msg[1] |= 0x01 // bit 16 of word 0 makes it longer than it is
		}
	case SpoilFragment, MoveSynch, EarlySynch, OmitTunnelled, SpoilTunnelled:
		l.spoilPacket(s, msg)
	}
}

// spoilPacket makes a mistake in a packet that leaves for the first time.
func (l *life) spoilPacket(s *session, msg []byte) {
	w := l.n.w
	m, err := frame.Parse(msg)
	if err != nil || m.User() == frame.UserLink || w.placeOf(m.Seq(), uint64(len(s.sent)+1)) <= uint64(len(s.sent)) {
		return
	}
	if _, err := frame.ParseFragment(m); err == nil && w.mutate(SpoilFragment) {
		msg[len(msg)-1] ^= 1
	}
	t, err := frame.ParseTunnel(m)
	switch {
	case err != nil:
	case t.IsSynchPoint():
		point := msg[36:]
		if w.mutate(MoveSynch) {
			binary.BigEndian.PutUint16(point, binary.BigEndian.Uint16(point)-1)
		}
		if w.mutate(EarlySynch) {
			binary.BigEndian.PutUint16(point, binary.BigEndian.Uint16(point)-300)
		}
	case t.Count() > 2 && len(t.Data()) > frame.BasicLen:
		in, err := t.Inner()
		if err != nil || !in.User().IsPayload() {
			return
		}
		if w.mutate(OmitTunnelled) { // another one has its number
			frame.StampSeq(msg[frame.IntLen:], in.Seq()+1)
		}
		if w.mutate(SpoilTunnelled) {
			msg[len(msg)-1] ^= 1
		}
	}
}
