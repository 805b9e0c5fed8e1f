// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

type stateOptions struct {
	probe     bool
	keepalive bool // a probe or the answer to one
	gap       int
}

func (l *Link) info() frame.LinkInfo {
	return frame.LinkInfo{
		LastBcast:       l.cfg.Broadcast.Last(),
		NextSent:        l.sndNxt,
		Session:         l.session,
		BcastAckInvalid: !l.bcast.Up(),
		RedundantLink:   l.bcast.Up(),
		Bearer:          l.cfg.Bearer,
		Plane:           l.plane,
		Orig:            l.cfg.Self, Dest: l.peer,
	}
}

// sendState queues a STATE. Every STATE acknowledges.
// Source: docs/spec/02-link.md §4.1.
func (l *Link) sendState(now time.Duration, o stateOptions) {
	if !l.IsUp() || l.cast != nil { // what is told of a broadcast link is told on the links to its members
		return
	}
	f := frame.StateFields{
		Common: frame.Common{
			Seq: l.sndNxt + 32767, Ack: l.rcvNxt - 1,
			BcastAck: l.bcast.Ack(), Prev: l.cfg.Self,
		},
		LinkInfo: l.info(), Probe: o.probe, Keepalive: o.keepalive, Gap: o.gap,
		BcastGap: l.bcast.Gap(),
	}
	if f.Gap == 0 && o.keepalive {
		f.Gap = l.missing()
	}
	if l.pendTol {
		f.Tolerance = uint16(l.sup.tolerance / time.Millisecond)
	}
	if l.pendPrio {
		f.Priority = l.priority
	}
	switch {
	case !l.withGapAck():
		l.writeState(now, &f, nil)
	case f.Gap == 0 && len(l.bcast.deferred()) == 0:
		l.writeState(now, &f, emptyGapAck)
	default:
		l.writeBlocks(now, &f)
	}
}

// writeState queues a STATE with its Gap ACK record, and that of the monitor.
func (l *Link) writeState(now time.Duration, f *frame.StateFields, record []byte) {
	domain, room := l.watched(len(record))
	size := frame.IntLen + len(record) + domain
	b := l.cfg.Arena.Get(frame.EthernetLen+size, netdev.Control)
	if b == nil {
		l.NoChunk++
		return
	}
	if l.caps.Has(frame.CapLinkProtoSeqno) {
		f.Seq = l.sndNxtState
		l.sndNxtState++
	}
	copy(b.Extend(frame.EthernetLen), l.header[:])
	space := b.Extend(size)
	if domain > 0 { // both records stand where they belong before the header is written
		copy(space[frame.IntLen:], record)
		l.cfg.Watch.AppendRecord(space[:frame.IntLen+len(record)], l.peer, room)
		record = space[frame.IntLen:]
	}
	f.Append(space[:0], record)
	l.out.Push(b)
	l.pendTol, l.pendPrio = false, false
	l.rcvUnacked = 0
	l.SentStates++
	if f.Probe {
		l.SentProbes++
		l.askProbe(now)
	}
	if f.Gap > 0 {
		l.SentNacks++
		l.askMissing(now)
		l.moved = now
	}
	if f.BcastGap > 0 {
		l.bcast.moved = now
	}
}

// sendReset queues a RESET, or an ACTIVATE when the peer is known to be ready.
// last marks the one message sent at the moment the link goes down.
func (l *Link) sendReset(last bool) {
	f := frame.ResetFields{
		Common:   frame.Common{Seq: l.sndNxt + 32767, Ack: l.rcvNxt - 1, BcastAck: l.bcast.Ack(), Prev: l.cfg.Self},
		LinkInfo: l.info(), Activate: l.state == Establishing,
		MaxPacket: l.usableMTU() &^ 3,
	}
	if f.Activate {
		f.DestSession, f.DestSessionValid = l.peerSession, true
	}
	f.PeerStopping = last && !f.Activate
	copy(f.IfName[:frame.IfNameLen-1], l.cfg.IfName)
	b := l.cfg.Arena.Get(frame.EthernetLen+frame.IntLen+frame.IfNameLen, netdev.Control)
	if b == nil {
		l.NoChunk++
		return
	}
	copy(b.Extend(frame.EthernetLen), l.header[:])
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
			(l.IsUp() || m.Ack() == l.first()-1) &&
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
	if l.cfg.Self > l.peer {
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
	if r.MaxPacket() < frame.MinMTU || l.fits(r.MaxPacket()) < frame.MinMTU {
		return
	}
	l.peerIf = r.IfName()
	if t := time.Duration(info.Tolerance) * time.Millisecond; t >= MinTolerance && t <= MaxTolerance {
		l.adoptTolerance(now, t)
	}
	if info.Priority > l.priority {
		l.priority = info.Priority
	}
	if info.PeerStopping {
		l.fail(PeerStopping)
		return
	}
	if d, ok := r.DestSession(); ok && d != l.session {
		if l.session.Before(d) && !l.IsUp() {
			l.session = d + 1
		}
		return
	}
	if r.IsReset() || !l.IsUp() {
		switch l.state {
		case Down:
			l.state = Establishing
		case Established, Synching:
			l.state, l.cause = PeerReset, PeerRestarted
			l.events |= WentDown
		}
	}
	if r.IsActivate() && l.state == Establishing {
		l.events |= WantUp
	}
	l.peerSession, l.inSession = info.Session, true
	l.peerBearer = info.Bearer
	l.mtu = min(l.mtu, l.fits(r.MaxPacket()))
}

// handleState follows docs/spec/02-link.md §4.5.
func (l *Link) handleState(now time.Duration, s frame.State) {
	info := s.Info()
	l.RecvStates++
	l.rcvNxtState = s.Seq() + 1
	if t := time.Duration(info.Tolerance) * time.Millisecond; t >= MinTolerance && t <= MaxTolerance {
		l.adoptTolerance(now, t)
	}
	if info.Priority != 0 {
		l.wanted = l.wanted&heldBit | info.Priority
	}
	switch p := l.AskedPriority(); {
	case p == l.priority:
		l.wanted = 0
	case p != 0 && l.wanted&heldBit == 0:
		l.priority, l.wanted = p, 0
		l.fail(PriorityChange)
	}
	l.sup.HandlePacket()
	if !l.IsUp() {
		if l.state == Establishing {
			l.events |= WantUp
		}
		return
	}
	record, rest, _ := s.GapAcks(l.withGapAck()) // Accept has looked that it is whole
	if l.cfg.Watch != nil {
		l.cfg.Watch.Receive(l.peer, rest)
	}
	var reply stateOptions
	switch {
	case s.Probe():
		l.RecvProbes++
		reply.keepalive = true
	case s.Keepalive():
		l.answerProbe(now)
		if l.draining.answered(info.NextSent) {
			l.events |= Drained
		}
	}
	if (s.Probe() || s.Keepalive()) && len(l.deferred()) == 0 && info.NextSent.After(l.rcvNxt) {
		reply.gap = min(l.rcvNxt.Distance(info.NextSent), MaxWindow)
	}
	if s.Gap() > 0 {
		l.RecvNacks++
	}
	if reply.keepalive || reply.gap > 0 {
		l.sendState(now, reply)
	}
	l.handleAck(now, s.Ack(), s.Gap(), record.Unicast())
}

// Report sends a STATE because of what happened on the broadcast link.
func (l *Link) Report(now time.Duration) { l.sendState(now, stateOptions{}) }
