// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// Spec 02 §12, the engine's view: link messages that are wrong in one thing are counted
// under a reason, answered by nothing, and leave both links up, their tolerance, priority
// and MTU as they were, and no memory behind.
//
// Proves: hostile.docs
func TestHostileLinkProtocol(t *testing.T) {
	reset := func(change func(*frame.ResetFields)) func(d *scriptedPeer) {
		return func(d *scriptedPeer) { d.links[1].reset(false, change) }
	}
	activate := func(change func(*frame.ResetFields)) func(d *scriptedPeer) {
		return func(d *scriptedPeer) { d.links[1].reset(true, change) }
	}
	state := func(change func(*frame.StateFields)) func(d *scriptedPeer) {
		return func(d *scriptedPeer) { d.links[1].report(change) }
	}
	const session = "of another session=1"
	for _, c := range []struct {
		name string
		do   func(d *scriptedPeer)
		drop string
	}{
		{"RESET of this session", reset(func(f *frame.ResetFields) {}), session},
		{"RESET of the session before", reset(func(f *frame.ResetFields) { f.Session-- }), session},
		{"RESET of a session half way round", reset(func(f *frame.ResetFields) { f.Session += 32769 }), session},
		{"RESET of the other link's session", func(d *scriptedPeer) {
			d.links[1].session = 690 // which is older than either
			d.links[1].reset(false)
			d.links[1].session = 800
		}, session},
		{"RESET, stopping, of the session before", reset(func(f *frame.ResetFields) { f.Session--; f.PeerStopping = true }), session},
		{"RESET from another station, of this session", func(d *scriptedPeer) {
			x := d.links[1]
			was := x.mac
			x.mac = frame.MAC{2, 0x66}
			d.links[1].reset(false, func(f *frame.ResetFields) { f.PeerStopping = true })
			x.mac = was
		}, "source is not the station it claims=1"},
		{"RESET of another node", reset(func(f *frame.ResetFields) { f.Session++; f.Prev = 0x1001009 }), "from a node not known=1"},
		{"RESET for another node", reset(func(f *frame.ResetFields) { f.Session++; f.LinkInfo.Dest = 0x1001009 }), "not for this station or node=1"},
		{"RESET of ourselves", reset(func(f *frame.ResetFields) { f.Session++; f.Prev = ownAddr }), "from a node not known=1"},
		{"ACTIVATE of the session before", activate(func(f *frame.ResetFields) { f.Session--; f.PeerStopping = true }), session},
		{"STATE of a session ahead", state(func(f *frame.StateFields) {
			f.Session++
			f.Priority, f.Tolerance, f.Probe, f.Ack = 31, 50, true, 99
		}), session},
		{"STATE with an old number", func(d *scriptedPeer) {
			d.links[1].state--
			d.links[1].report(func(f *frame.StateFields) { f.Priority, f.Tolerance, f.Probe = 31, 50, true })
		}, session},
	} {
		d := newTwoLinks(t)
		look := func() string {
			s := ""
			for i := range 2 {
				l := d.link(i)
				s += fmt.Sprint(l.State(), l.Tolerance(), l.Priority(), l.MTU(), l.Unacked(), l.PeerBearer(), " ")
			}
			return s
		}
		before := look()
		c.do(d)
		if got := d.drops(); got != c.drop {
			t.Errorf("%s: dropped %q, want %q", c.name, got, c.drop)
		}
		if got := look(); !d.bothUp() || got != before || d.links[0].drain() != nil || d.links[1].drain() != nil {
			t.Errorf("%s: got %v %q, want %q", c.name, d.node().contact, got, before)
		}
		d.settle(c.name)
		d.done(c.name)
	}
	// These are of the session, but say what cannot be: the link counts them, or ignores
	// the field alone.
	for _, c := range []struct {
		name  string
		do    func(d *scriptedPeer)
		count func(l *link) uint64
	}{
		{"acknowledges what was never sent", state(func(f *frame.StateFields) { f.Ack += 1000 }), func(l *link) uint64 { return l.BadAcks }},
		{"acknowledges half way round", state(func(f *frame.StateFields) { f.Ack += 32767 }), func(l *link) uint64 { return l.BadAcks }},
		{"acknowledges what never was broadcast", state(func(f *frame.StateFields) { f.BcastAck = 1000 }), func(l *link) uint64 { return l.RecvStates }},
		{"misses broadcasts that never were", state(func(f *frame.StateFields) { f.BcastGap = 1023 }), func(l *link) uint64 { return l.RecvStates }},
		{"gap of 8191", state(func(f *frame.StateFields) { f.Gap = 8191 }), func(l *link) uint64 { return l.RecvNacks }},
		{"tolerance 49", state(func(f *frame.StateFields) { f.Tolerance = 49 }), func(l *link) uint64 { return l.RecvStates }},
		{"tolerance 65535", state(func(f *frame.StateFields) { f.Tolerance = 65535 }), func(l *link) uint64 { return l.RecvStates }},
		{"bearer and plane 7", state(func(f *frame.StateFields) { f.Bearer, f.Plane = 7, 7 }), func(l *link) uint64 { return l.RecvStates }},
	} {
		d := newTwoLinks(t)
		l := d.link(1)
		before, tol, acked := c.count(l), l.Tolerance(), l.Unacked()
		c.do(d)
		if got := c.count(l); got != before+1 || !d.bothUp() || l.Tolerance() != tol || l.Unacked() != acked {
			t.Errorf("%s: counted %d, up %v, %v, %d unacknowledged", c.name, got-before, d.bothUp(), l.Tolerance(), l.Unacked())
		}
		d.settle(c.name)
		d.done(c.name)
	}
}

// Spec 02 §12.2: a RESET that announces an MTU of 0 to 99 does not move the link on, and
// an up link stays so, whatever session it claims.
//
// Proves: hostile.docs
func TestHostileMTU(t *testing.T) {
	d := newTwoLinks(t)
	for mtu := 0; mtu < 100; mtu += 4 { // the field counts in 4
		for _, s := range []frame.Seq{800, 801, 900} {
			for _, activate := range []bool{false, true} {
				d.links[1].reset(activate, func(f *frame.ResetFields) { f.MaxPacket, f.Session, f.PeerStopping = mtu, s, mtu&4 != 0 })
				if !d.bothUp() || d.link(1).MTU() != 1500 {
					t.Fatalf("MTU %d, session %d: got up %v, MTU %d", mtu, s, d.bothUp(), d.link(1).MTU())
				}
			}
		}
	}
	d.settle("up")
	d.done("up")
	p := newScriptedPeer(t) // and one that is not up
	p.disc(frame.Request, nil)
	for mtu := 0; mtu < 100; mtu += 4 {
		f := frame.ResetFields{Common: frame.Common{Prev: popAddr}, LinkInfo: p.info(), MaxPacket: mtu}
		p.hear(f.Append(nil))
	}
	if l := p.byAddr[popAddr].links[0]; l.State() != flowctl.Down || l.MTU() != 1500 {
		t.Errorf("got %v, MTU %d", l.State(), l.MTU())
	}
	p.done()
}

// Spec 02 §12.6, 12.13: whatever a flood of STATE messages asks for, on two links, there
// is at most one STATE for each, and each packet is repeated once in a hold-off.
//
// Proves: hostile.docs
func TestHostileStateFlood(t *testing.T) {
	d := newTwoLinks(t)
	port := d.OpenPort(PortConfig{})
	for i := range 20 {
		if err := port.Send(d.now, frame.SocketAddr{Port: 77, Node: popAddr}, make([]byte, 100)); err != nil {
			t.Fatal(i, err)
		}
	}
	d.collect()
	l := d.link(int(port.number & 1))
	id := int(l.bearer.id)
	acked, again := d.links[id].ack-20, l.Retransmits
	const n, each = 5000, time.Microsecond
	for i := range n {
		d.now += each
		x := i % 8
		d.sent = nil
		d.links[id].report(func(f *frame.StateFields) {
			f.Ack, f.Gap = acked, 8191
			f.Probe, f.Keepalive = x&1 != 0, x&2 != 0
			if x&4 != 0 {
				f.NextSent += 8000
			}
			f.LastBcast = frame.Seq(x * 20)
		})
		states := 0
		for _, f := range d.sent {
			if frame.UserOf(f.bytes[frame.EthernetLen:]) == frame.UserLink {
				states++
			}
		}
		if states > 1 {
			t.Fatalf("STATE %d: %d in answer", i, states)
		}
	}
	const most = 20 * (1 + n*each/(200*time.Microsecond))
	if got := l.Retransmits - again; got < 20 || got > uint64(most) || !d.bothUp() {
		t.Errorf("20 packets were repeated %d times in %v, want at most %d; up %v", got, n*each, most, d.bothUp())
	}
	d.settle("")
	d.done("")
}

// Spec 03 §9.10: a peer, or a forger, that resets one of two links again and again does
// not take contact away, nor the other link; the one that flaps is left down for longer
// and longer, and what wants it up is counted.
//
// Proves: hostile.docs
func TestHostileFlapping(t *testing.T) {
	d := newTwoLinks(t)
	flaps := 0
	for end := d.now + 30*time.Second; d.now < end; {
		x := d.links[1]
		if d.link(1).IsUp() {
			flaps++
			x.session++
			d.links[1].reset(false)
			d.links[0].packet(d.tunnel(nil, inside(x.seq, data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, ""))))
			x.seq, x.ack, x.state = 1, 0, 1
		} else {
			x.session++
			d.links[1].reset(false)
			d.links[1].reset(true)
			if d.link(1).IsUp() {
				d.links[1].report(func(f *frame.StateFields) { f.Ack = 0 })
				d.links[1].packet(d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, uint16(d.links[0].seq-1) }, nil))
			}
		}
		next := d.now + 100*time.Millisecond
		for d.Deadline() <= next {
			d.now = d.Deadline()
			d.HandleTimeout(d.now)
			d.collect()
		}
		d.now = next
		d.links[0].report(nil)
		d.sent = nil
		if n := d.node(); !n.up() || !n.links[0].IsUp() {
			t.Fatalf("after %d resets: %v, %v", flaps, n.contact, n.links[0].State())
		}
	}
	if flaps < 3 || flaps > 8 || d.count.Drops[DropFlapping] < 50 {
		t.Errorf("the link came up and went %d times in 30 s, %d attempts refused; want 3 to 8, many", flaps, d.count.Drops[DropFlapping])
	}
	for ev, ok := d.NextEvent(); ok; ev, ok = d.NextEvent() {
		if ev.Kind == PeerLost {
			t.Error("contact was lost")
		}
	}
	d.done("")
}

// Spec 02 §12.8, 12.9: what comes early through a tunnel waits within the bounds of a
// link, mostly not in the arena, and goes when the failover ends.
//
// Proves: hostile.docs
func TestHostileTunnelDeferred(t *testing.T) {
	d := newTwoLinks(t)
	free := d.arena.Free()
	next := d.links[1].seq
	for i := range frame.Seq(9000) {
		b := d.tunnel(func(f *frame.TunnelFields) { f.Count = 32766 }, inside(next+2*i+1, data(4711, nil, strings.Repeat("x", 1000))))
		d.links[0].packet(b)
		if i%8 == 0 {
			d.links[0].report(nil)
		}
		d.sent = nil
		if used := free - d.arena.Free(); used > 80 {
			t.Fatalf("packet %d: %d chunks are kept", i, used)
		}
	}
	h := d.link(0).failoverReceiver
	if h == nil || !d.link(0).IsUp() {
		t.Fatalf("got %v, %v", d.node().contact, d.link(0).State())
	}
	if got, want := d.count.Drops[DropOrder], uint64(9000-(flowctl.MaxWindow+1)/2); got != want {
		t.Errorf("%d were dropped, want %d: those beyond the window", got, want)
	}
	d.done("")
}

// Spec 01 §8.5: what was joined of a message is forgotten with its link, in both
// directions of a failover too.
//
// Proves: hostile.docs
func TestHostileFragmentsEndWithTheLink(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.bound(t, PortConfig{}, 18888, 17)
	long := data(port.number, nil, strings.Repeat("x", 3000))
	p.packet(frag(frame.FirstFragment, long[:1460]))
	p.session++
	p.reset(false)
	p.drain()
	p.wait(p.now + 375*time.Millisecond)
	p.again()
	p.packet(frag(frame.FirstFragment, long[:1460])) // a second first, had the other been kept
	p.packet(frag(frame.MiddleFragment, long[1460:2920]))
	p.packet(frag(frame.LastFragment, long[2920:]))
	wantLines(t, "after a reset", read(port), "<1001002:77> 3000 bytes")
	p.done()
}

// Spec 03 §9.1: a discovery message cut anywhere, and one that is shorter than its own
// flags want, is no neighbour.
//
// Proves: hostile.docs
func TestHostileDiscoverySize(t *testing.T) {
	p := newScriptedPeer(t)
	f := frame.DiscoveryFields{
		Type: frame.Request, Capabilities: popCaps, Signature: 1, Prev: popAddr, NetID: frame.DefaultNetID,
		MAC: popMAC, Identity: frame.AddrIdentity(popAddr),
	}
	whole := f.Append(nil)
	for n := range len(whole) {
		p.raw(ether(frame.BroadcastMAC, popMAC, whole[:n])) // shorter than it says
		b := bytes.Clone(whole[:n])
		if n >= 4 {
			b[2], b[3] = 0, byte(n) // and as short as it says
		}
		p.raw(ether(frame.BroadcastMAC, popMAC, b))
	}
	if got := p.drain(); got != nil || len(p.nodes) != 0 {
		t.Errorf("got %q, %d nodes", got, len(p.nodes))
	}
	if d := p.Counters().Drops; d[DropTruncated]+d[DropMalformed] != uint64(2*len(whole)) {
		t.Errorf("%d frames, dropped %v", 2*len(whole), d)
	}
	p.done()
}

// Spec 03 §9.3: a flood of requests of nodes that are none: their number, and what is
// sent for them, is limited, and contact with a node that is one stays.
//
// Proves: hostile.docs
func TestHostileRequestFlood(t *testing.T) {
	p := newScriptedPeer(t).up()
	for i := range 5000 {
		p.now += 10 * time.Microsecond
		p.disc(frame.Request, func(f *frame.DiscoveryFields) {
			f.Prev, f.MAC = frame.NodeAddr(0x2000000+i), frame.MAC{2, 5, 0, 0, byte(i >> 8), byte(i)}
			f.Identity = frame.AddrIdentity(f.Prev)
		})
		if len(p.sent) > 1 {
			t.Fatalf("request %d: %d frames in answer", i, len(p.sent))
		}
		p.sent = nil
	}
	if n := p.byAddr[popAddr]; len(p.nodes) > maxStrangers+1 || n == nil || !n.links[0].IsUp() {
		t.Errorf("got %d nodes", len(p.nodes))
	}
	frames := 0
	for end := p.now + 375*time.Millisecond; p.Deadline() <= end; {
		p.now = p.Deadline()
		p.HandleTimeout(p.now)
		p.collect()
		frames += len(p.sent)
		p.sent = nil
	}
	if frames > 2*maxStrangers {
		t.Errorf("%d frames in an interval", frames)
	}
	p.report(nil)
	p.done()
}

// Spec 03 §9.5: who claims an address that is taken is told of at most once a second; here two do.
//
// Proves: hostile.docs
func TestHostileAlarmsAreLimited(t *testing.T) {
	p := newScriptedPeer(t).up()
	p.now += time.Second
	alarms := 0
	for i := range 1000 {
		p.now += 5 * time.Millisecond
		p.disc(frame.Request, func(f *frame.DiscoveryFields) {
			if f.MAC = (frame.MAC{2, 9}); i%2 == 0 {
				f.Prev = ownAddr
			}
		})
		for _, e := range p.eventList() {
			if strings.HasPrefix(e, "duplicate address") {
				alarms++
			}
		}
		if i%50 == 0 {
			p.report(nil)
		}
	}
	if n := p.byAddr[popAddr]; alarms != 10 || !n.links[0].IsUp() {
		t.Errorf("got %d alarms in 5 s, want 10; link %v", alarms, n.links[0].State())
	}
	p.report(nil)
	p.done()
}

// Spec 03 §9.8: whatever lies where the monitor's record would be is no record, and has
// no effect; at most its sender is heard.
//
// Proves: hostile.docs
func TestHostileDomainRecord(t *testing.T) {
	p := newScriptedPeer(t).up()
	l := p.byAddr[popAddr].links[0]
	for n := range 400 { // the record is all of the data where no Gap ACK record is
		domain := bytes.Repeat([]byte{0xff, byte(n), 0x7f, byte(n * 7)}, (n+3)/4)[:n]
		f := frame.StateFields{Common: frame.Common{Seq: p.state, Ack: p.ack, Prev: popAddr}, LinkInfo: p.info()}
		p.state++
		p.hear(f.Append(nil, domain))
	}
	if got := p.drain(); got != nil || !l.IsUp() || l.RecvStates < 400 || len(p.nodes) != 1 {
		t.Errorf("got %q, %v, %d STATE messages, %d nodes", got, l.State(), l.RecvStates, len(p.nodes))
	}
	p.done()
}

// Spec 03 §9.11: what still comes for a bearer that was removed, or was never there for
// this peer, finds nothing; the other link works on.
//
// Proves: hostile.docs
func TestHostileRemovedBearer(t *testing.T) {
	d := newTwoLinks(t)
	d.RemoveBearer(d.now, 1)
	d.collect()
	d.sent = nil
	d.drops()
	d.links[1].packet(data(1, nil, "late"))
	d.links[1].report(nil)
	d.links[1].reset(false, func(f *frame.ResetFields) { f.Session++ })
	d.links[1].disc(frame.Request, nil)
	if got := d.drops(); got != "from a bearer whose interface is down=4" {
		t.Errorf("dropped %q", got)
	}
	if n := d.node(); !n.up() || !n.links[0].IsUp() || n.links[1] != nil || d.links[1].drain() != nil {
		t.Errorf("got %v, %v", n.contact, n.links[0].State())
	}
	d.links[0].report(nil)
	d.RemoveBearer(d.now, 1) // twice does no harm
	d.RemoveBearer(d.now, 0)
	if n := d.node(); n.up() {
		t.Errorf("got %v with no bearer left", n.contact)
	}
	d.done("")
}
