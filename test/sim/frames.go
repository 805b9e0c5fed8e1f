// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/lint"
)

// checkFrame is invariant 6, for a frame a device is about to take.
// Complex: a list of invariants, each a condition of its own.
//
//gocyclo:ignore
func (l *life) checkFrame(net int, b []byte, s *session) {
	w := l.n.w
	bad := func(format string, args ...any) {
		line, _ := describe.Message(b[min(len(b), frame.EthernetLen):])
		w.violate(6, "node %d sent %s: "+format, append([]any{l.n.idx, line}, args...)...)
	}
	eth, msg, err := frame.ParseEthernet(b)
	if err != nil {
		bad("%v", err)
		return
	}
	m, err := frame.Parse(msg)
	if err != nil {
		bad("%v", err)
		return
	}
	switch {
	case len(m.Bytes()) != len(msg):
		bad("%d bytes behind the message", len(msg)-len(m.Bytes()))
	case len(msg) > l.n.mtu[net]:
		bad("%d bytes, MTU %d", len(msg), l.n.mtu[net])
	case eth.Src() != l.n.mac[net]:
		bad("from station %v", eth.Src())
	case m.Prev() != l.n.addr:
		bad("in the name of %v", m.Prev())
	}
	for _, f := range lint.Check(msg) {
		if w.first == 1 || f.Rule != "synch-first" && f.Rule != "bcast-init" { // a link begins with 1, says lint
			bad("lint: %v", f)
		}
	}
	for _, f := range w.talk.Frame(w.clock.now, eth.Src(), eth.Dst(), msg) {
		if !needsMemory[f.Rule] || !w.scarce {
			bad("conversation: %v", f)
		}
	}
	rebuilt, err := rebuild(m)
	if err != nil {
		bad("%v", err)
		return
	}
	if !bytes.Equal(rebuilt, m.Bytes()) {
		bad("builds back otherwise\ngot  %x\nwant %x", rebuilt, m.Bytes())
	}
	if m.User() == frame.UserDiscovery {
		l.checkDiscovery(net, eth, m, bad)
		return
	}
	if m.NonSeq() {
		if s != nil || !eth.Dst().IsGroup() {
			bad("on the broadcast link, to station %v", eth.Dst())
		}
		return
	}
	to := w.stationOf(net, b)
	if to == nil || s == nil || s.peer != to {
		bad("to station %v, session %v", eth.Dst(), s)
		return
	}
	if d, ok := m.DestNode(); ok && d != to.addr {
		bad("for node %v at the station of %v", d, to.addr)
	}
	if len(msg) > to.mtu[net] {
		bad("%d bytes, the peer's MTU is %d", len(msg), to.mtu[net])
	}
	if ack := w.placeOf(m.Ack(), s.whole); ack > s.whole {
		bad("acknowledges %d of packets 1 to %d", ack, s.whole)
	}
	if m.User() == frame.UserLink {
		l.checkLink(s, m, bad)
	} else {
		l.checkPacket(s, m, bad)
	}
}

// needsMemory are the rules of a Conversation that only a node can keep that gets
// chunks for STATE messages, and for updates of names ahead of data.
var needsMemory = map[string]bool{"state-first": true, "first-packet": true, "probe-answer": true, "update-seq": true, "withdrawal": true}

// checkDiscovery: to all unless an answer, from here, and not too often.
func (l *life) checkDiscovery(net int, eth frame.Ethernet, m frame.Message, bad func(string, ...any)) {
	now := l.n.w.clock.now
	d, err := frame.ParseDiscovery(m)
	if err != nil {
		bad("%v", err)
		return
	}
	if d.MAC() != l.n.mac[net] || eth.Dst().IsGroup() != (d.Type() == frame.Request) || d.Type() > frame.Response {
		bad("type %v of %v to %v", d.Type(), d.MAC(), eth.Dst())
	}
	l.discs = append(l.discs, now)
	for len(l.discs) > 0 && l.discs[0] <= now-time.Second {
		l.discs = l.discs[1:]
	}
	// Ten a second to each asking node, and the own ones.
	if n := len(l.discs); n > 10*maxNodes*len(l.dev) && now >= l.dev[net].full && l.n.w.faults.Device.Stall == 0 && l.n.w.faults.Pause == 0 {
		bad("number %d within a second", n)
	}
}

// checkLink: link messages say the session, and STATE messages have no holes.
func (l *life) checkLink(s *session, m frame.Message, bad func(string, ...any)) {
	p, err := frame.ParseLink(m)
	if err != nil {
		bad("%v", err)
		return
	}
	info := p.Info()
	if info.Session != s.num || info.Orig != l.n.addr || info.Dest != s.peer.addr {
		bad("session %d from %v to %v", info.Session, info.Orig, info.Dest)
	}
	w := l.n.w
	if next := w.placeOf(info.NextSent, uint64(len(s.sent)+1)); next < uint64(len(s.sent)) && p.IsState() && !s.ended {
		bad("announces packet %d after %d packets", next, len(s.sent))
	}
	st, ok := p.State()
	if !ok {
		return
	}
	s.states++
	if st.Seq() != frame.Seq(s.states) {
		bad("STATE number %d where %d was due", st.Seq(), s.states)
	}
	// What a stalled device let wait may leave behind what went through a tunnel.
	if s.states == 1 && (w.placeOf(st.Ack(), 0) != 0 || len(s.sent) > 0 && !s.ended) && l.lastNoChunk() == 0 {
		bad("the first STATE acknowledges %d, after %d packets", st.Ack(), len(s.sent))
	}
	if st.Gap() > 8191 || st.Gap() > 0 && !s.up {
		bad("reports a gap of %d", st.Gap())
	}
}

// lastNoChunk is how often the links of this life had no memory for a message.
func (l *life) lastNoChunk() (n uint64) {
	for _, link := range l.links {
		n += link.NoChunk
	}
	return n
}

// checkPacket: packets leave in order, keep their content, and keep to the window.
func (l *life) checkPacket(s *session, m frame.Message, bad func(string, ...any)) {
	if m.NonSeq() {
		bad("on the broadcast link")
		return
	}
	w := l.n.w
	due := uint64(len(s.sent) + 1)
	at, sum := w.placeOf(m.Seq(), due), content(m.Bytes())
	switch {
	case at > due || at == 0:
		bad("packet %d where %d was due", at, due)
		return
	case at < due:
		stale := s.ended && m.User() == frame.UserTunnel // in the tunnel an empty message had its number
		if s.sent[at-1].sum != sum && !stale {
			bad("packet %d is not what it was", at)
		}
		return
	}
	if n := s.underway(at); n >= uint64(w.window()) {
		bad("packet %d, with %d not acknowledged behind %d, window %d", at, n, s.ackSeen, w.window())
	}
	if at == 1 {
		l.checkFirst(s, m, bad)
	}
	if s.states == 0 && l.lastNoChunk() == 0 {
		bad("before a STATE")
	}
	c := l.contents(s, m, bad)
	c.sum = sum
	s.sent = append(s.sent, c)
}

// checkFirst: the first packet opens the broadcast link, or says where an older link
// stands.
func (l *life) checkFirst(s *session, m frame.Message, bad func(string, ...any)) {
	first := m.User() == frame.UserBroadcast
	if s.synch != nil {
		first = m.User() == frame.UserTunnel
	}
	// A second link without a chunk for that does without it; a first one does not come up.
	if !first && (s.synch == nil || l.arena.Free() > l.n.w.faults.Chunks/4 && l.lastNoChunk() == 0) {
		bad("as the first packet")
	}
}

// contents follows what a packet carries that leaves for the first time.
func (l *life) contents(s *session, m frame.Message, bad func(string, ...any)) (c carried) {
	if t, err := frame.ParseTunnel(m); err == nil {
		c.tunnel = true
		l.tunnelLeaves(s, t, &c, bad)
		return c
	}
	for _, m := range l.messages(s, m, bad) {
		p, err := frame.ParsePayload(m)
		if err != nil || isDummy(p) {
			continue
		}
		if p.Type() == frame.McastMsg {
			c.casts++
			continue
		}
		x := carriedPayload{
			destPort: p.DestPort(), err: p.Error(), dropable: p.DestDroppable(), reroute: p.Reroute(),
			named: p.Type() == frame.NamedMsg, imp: frame.Importance(p.User()), size: len(p.Data()),
		}
		if x.hop = l.leaves(s, p); x.hop != nil && x.imp != x.hop.m.imp {
			bad("importance %v, sent as %v", x.imp, x.hop.m.imp)
		}
		c.payload = append(c.payload, x)
	}
	return c
}

// window is how many packets may be under way.
func (w *world) window() int {
	n := w.faults.Window
	if n == 0 {
		n = flowctl.DefaultWindow
	}
	return max(n, w.faults.MaxWindow)
}
