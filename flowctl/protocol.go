// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

type stateOptions struct {
	probe     bool
	keepalive bool // a probe or the answer to one
	gap       int
}

func (l *Link) info() frame.LinkInfo {
	return frame.LinkInfo{
		NextSent:        l.sndNxt,
		Session:         l.session,
		BcastAckInvalid: !l.cfg.Broadcast.Up(),
		RedundantLink:   l.cfg.Broadcast.Up(),
		Bearer:          l.cfg.Bearer,
		Plane:           l.plane,
		Orig:            l.cfg.Self, Dest: l.cfg.Peer,
	}
}

// sendState queues a STATE. Every STATE acknowledges.
// Source: docs/spec/02-link.md §4.1.
func (l *Link) sendState(now time.Duration, o stateOptions) {
	if !l.IsUp() {
		return
	}
	f := frame.StateFields{
		Common: frame.Common{Seq: l.sndNxt + 32767, Ack: l.rcvNxt - 1,
			BcastAck: l.cfg.Broadcast.Ack(), Prev: l.cfg.Self},
		LinkInfo: l.info(), Probe: o.probe, Keepalive: o.keepalive, Gap: o.gap,
		BcastGap: l.cfg.Broadcast.Gap(),
	}
	if f.Gap == 0 && o.keepalive && len(l.deferred) > 0 {
		f.Gap = l.rcvNxt.Distance(l.deferred[0].seq)
	}
	if l.pendTol {
		f.Tolerance = uint16(l.sup.tolerance / time.Millisecond)
	}
	if l.pendPrio {
		f.Priority = l.cfg.Priority
	}
	record := l.gapAckRecord()
	b := l.cfg.Arena.Get(frame.EthernetLen+frame.IntLen+len(record), frame.Control)
	if b == nil {
		l.NoChunk++
		return
	}
	if l.caps.Has(frame.CapLinkProtoSeqno) {
		f.Seq = l.sndNxtState
		l.sndNxtState++
	}
	copy(b.Extend(frame.EthernetLen), l.cfg.Header[:])
	f.Append(b.Extend(frame.IntLen + len(record))[:0], record)
	l.out.Push(b)
	l.pendTol, l.pendPrio = false, false
	l.rcvUnacked = 0
	l.SentStates++
	if o.probe {
		l.SentProbes++
	}
	if f.Gap > 0 {
		l.SentNacks++
	}
}

// emptyGapAck is a Gap ACK record without a block: its length, and two counts.
var emptyGapAck = []byte{0, 4, 0, 0}

// withGapAck reports whether STATE messages of this link begin their data with a
// Gap ACK record: where both ends announce so, and then always.
// Source: docs/spec/02-link.md §5.
func (l *Link) withGapAck() bool {
	return l.cfg.Capabilities&l.caps&frame.CapGapAckBlock != 0
}

// holdsRecord reports whether the data of a STATE begin with a whole record where
// one must be. What the record tells is not used. Source: docs/spec/02-link.md §4.5.
func (l *Link) holdsRecord(data []byte) bool {
	return !l.withGapAck() || len(data) >= len(emptyGapAck) && int(data[0])<<8|int(data[1]) <= len(data)
}

// gapAckRecord returns the record of the next STATE, which tells of no block.
func (l *Link) gapAckRecord() []byte {
	if !l.withGapAck() {
		return nil
	}
	return emptyGapAck
}

// sendReset queues a RESET, or an ACTIVATE when the peer is known to be ready.
// last marks the one message sent at the moment the link goes down.
func (l *Link) sendReset(last bool) {
	f := frame.ResetFields{
		Common:   frame.Common{Seq: l.sndNxt + 32767, Ack: l.rcvNxt - 1, BcastAck: l.cfg.Broadcast.Ack(), Prev: l.cfg.Self},
		LinkInfo: l.info(), Activate: l.state == Establishing,
		MaxPacket: l.cfg.MTU &^ 3,
	}
	if f.Activate {
		f.DestSession, f.DestSessionValid = l.peerSession, true
	}
	f.PeerStopping = last && !f.Activate
	copy(f.IfName[:frame.IfNameLen-1], l.cfg.IfName)
	b := l.cfg.Arena.Get(frame.EthernetLen+frame.IntLen+frame.IfNameLen, frame.Control)
	if b == nil {
		l.NoChunk++
		return
	}
	copy(b.Extend(frame.EthernetLen), l.cfg.Header[:])
	f.Append(b.Extend(frame.IntLen + frame.IfNameLen)[:0])
	l.out.Push(b)
}

// Accept reports whether a message of the link protocol belongs to the present
// session; one that does not has no effect at all.
// Source: docs/spec/02-link.md §4.3.
func (l *Link) Accept(m frame.LinkMessage) bool {
	s := m.Session()
	ok := !l.blocked()
	switch {
	case m.IsReset():
		ok = ok && (!l.inSession || s.After(l.peerSession))
	case m.IsActivate():
		ok = ok && (!l.inSession || !s.Before(l.peerSession))
	default:
		ok = ok && l.inSession && s == l.peerSession &&
			(l.IsUp() || m.Ack() == 0) &&
			!(l.caps.Has(frame.CapLinkProtoSeqno) && m.Seq().Before(l.rcvNxtState)) &&
			l.holdsRecord(m.Data())
	}
	if !ok {
		l.Rejected++
	}
	return ok
}

// HandleLink takes a message that Accept has let pass.
func (l *Link) HandleLink(now time.Duration, m frame.LinkMessage) {
	if l.cfg.Self > l.cfg.Peer {
		l.plane = m.Info().Plane
	}
	if r, ok := m.Reset(); ok {
		l.handleReset(now, r)
	} else if s, ok := m.State(); ok {
		l.handleState(now, s)
	}
}

// handleReset follows docs/spec/02-link.md §4.4, step by step.
func (l *Link) handleReset(now time.Duration, r frame.Reset) {
	info := r.Info()
	if r.MaxPacket() < frame.MinMTU {
		return
	}
	l.peerIf = r.IfName()
	if t := time.Duration(info.Tolerance) * time.Millisecond; t >= MinTolerance && t <= MaxTolerance {
		l.adoptTolerance(now, t)
	}
	if info.Priority > l.cfg.Priority {
		l.cfg.Priority = info.Priority
	}
	if info.PeerStopping {
		l.fail(PeerStopping)
		return
	}
	if d, ok := r.DestSession(); ok && d != l.session {
		if l.session.Before(d) {
			l.session = d + 1
		}
		return
	}
	if r.IsReset() || !l.IsUp() {
		switch l.state {
		case Down:
			l.state = Establishing
		case Established:
			l.state, l.cause = PeerReset, PeerRestarted
			l.events |= WentDown
		}
	}
	if r.IsActivate() && l.state == Establishing {
		l.events |= WantUp
	}
	l.peerSession, l.inSession = info.Session, true
	l.peerBearer = info.Bearer
	l.mtu = min(l.mtu, r.MaxPacket())
}

// handleState follows docs/spec/02-link.md §4.5.
func (l *Link) handleState(now time.Duration, s frame.State) {
	info := s.Info()
	l.RecvStates++
	l.rcvNxtState = s.Seq() + 1
	if t := time.Duration(info.Tolerance) * time.Millisecond; t >= MinTolerance && t <= MaxTolerance {
		l.adoptTolerance(now, t)
	}
	if info.Priority != 0 && info.Priority != l.cfg.Priority {
		l.cfg.Priority = info.Priority
		l.fail(PriorityChange)
	}
	l.sup.HandlePacket()
	if !l.IsUp() {
		if l.state == Establishing {
			l.events |= WantUp
		}
		return
	}
	var reply stateOptions
	if s.Probe() {
		l.RecvProbes++
		reply.keepalive = true
	}
	if (s.Probe() || s.Keepalive()) && len(l.deferred) == 0 && info.NextSent.After(l.rcvNxt) {
		reply.gap = min(l.rcvNxt.Distance(info.NextSent), MaxWindow)
	}
	if s.Gap() > 0 {
		l.RecvNacks++
	}
	if reply.keepalive || reply.gap > 0 {
		l.sendState(now, reply)
	}
	l.handleAck(now, s.Ack(), s.Gap())
}

// Report sends a STATE because of what happened on the broadcast link.
func (l *Link) Report(now time.Duration) { l.sendState(now, stateOptions{}) }
