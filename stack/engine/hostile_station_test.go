// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// from makes a stranger one that mac announces.
func from(mac frame.MAC, i int) func(*frame.DiscoveryFields) {
	return func(f *frame.DiscoveryFields) {
		stranger(i)(f)
		f.MAC = mac
	}
}

// serve lets time pass until end, deadline by deadline, as wait does, and forgets what
// was sent.
func (p *scriptedPeer) serve(end time.Duration) {
	for p.Deadline() <= end {
		p.now = max(p.now, p.Deadline())
		p.HandleTimeout(p.now)
		p.collect()
		p.sent = nil
	}
	p.now = end
}

// A bucket lets through its size at once, then one in an interval, and is full again
// after a pause.
func TestBucket(t *testing.T) {
	var b bucket
	count := func(from, to, step time.Duration) (n int) {
		for now := from; now < to; now += step {
			if b.take(now, time.Second, 5) {
				n++
			}
		}
		return n
	}
	if got := count(0, time.Second, time.Millisecond); got != 5 {
		t.Errorf("in the first second %d, want 5", got)
	}
	if got := count(time.Second, 11*time.Second, time.Millisecond); got != 10 {
		t.Errorf("in ten seconds %d, want 10", got)
	}
	if got := count(time.Minute, time.Minute+time.Second, time.Millisecond); got != 5 {
		t.Errorf("after a pause %d, want 5", got)
	}
}

// One station that announces nodes without end is given the places of a few, and no
// more answers than those; another that comes meanwhile makes contact.
//
// Proves: hostile.docs, hostile.forged
func TestHostileOneStationFloods(t *testing.T) {
	p := newScriptedPeer(t)
	mallory := frame.MAC{2, 6, 6, 6, 6, 6}
	answers, n := 0, 0
	flood := func() {
		for range 1000 {
			p.now += 10 * time.Microsecond
			p.disc(frame.Request, from(mallory, n))
			n++
			answers += len(p.sent)
			p.sent = nil
		}
	}
	flood()
	if len(p.nodes) != stationNodes || answers != stationNodes {
		t.Errorf("%d nodes, %d answers to one station, want %d", len(p.nodes), answers, stationNodes)
	}
	p.wantDrops("beyond", fmt.Sprintf("%v=%d", DropPeerLimit, n-stationNodes))
	p.disc(frame.Request, nil)
	flood()
	p.again()
	for range 10 { // its share is changed, but grows no more
		p.serve(p.now + newcomerStay/2)
		p.report(nil)
		flood()
	}
	if len(p.nodes) != stationNodes+1 || len(p.stations) != 2 || !p.byAddr[popAddr].up() {
		t.Errorf("%d nodes of %d stations, the honest one up: %v", len(p.nodes), len(p.stations), p.byAddr[popAddr].up())
	}
	if p.byAddr[0x2000000] != nil {
		t.Error("the oldest that a station announced should go after a while")
	}
	p.done()
}

// Requests that fake ever other stations fill the room for strangers and no more; who
// is among them has the time to make contact, and later the oldest go.
//
// Proves: hostile.docs, hostile.forged
func TestHostileStrangersHaveTime(t *testing.T) {
	p := newScriptedPeer(t)
	n := 0
	flood := func(count int) {
		for range count {
			p.disc(frame.Request, stranger(n))
			n++
			p.sent = nil
			if len(p.nodes) > maxStrangers+1 || len(p.byAddr) != len(p.nodes) || len(p.stations) > len(p.nodes) {
				t.Fatalf("stranger %d: %d nodes", n, len(p.nodes))
			}
		}
	}
	p.disc(frame.Request, nil) // the oldest of all
	flood(3 * maxStrangers)
	if p.byAddr[popAddr] == nil || p.byAddr[0x2000000] == nil || p.byAddr[0x2000000+maxStrangers+1] != nil {
		t.Error("who came first should stay for now")
	}
	for range 10 {
		flood(200)
		p.serve(p.now + 30*time.Millisecond)
	}
	p.again()
	flood(maxStrangers)
	p.serve(p.now + newcomerStay)
	p.report(nil)
	first := n
	flood(maxStrangers / 2)
	if !p.byAddr[popAddr].up() || p.byAddr[0x2000000] != nil || p.byAddr[0x2000000+frame.NodeAddr(first)] == nil {
		t.Error("after a while the oldest should go, but none that is up")
	}
	p.done()
}

// A crowd that never makes contact is forgotten soon, so that nothing is sent to it for
// long; a few are remembered.
//
// Proves: hostile.docs
func TestHostileStrangersAreForgotten(t *testing.T) {
	p := newScriptedPeer(t)
	for i := range 500 {
		p.disc(frame.Request, stranger(i))
	}
	p.sent = nil
	p.serve(p.now + strangersStay + slowTick)
	if len(p.nodes) != fewStrangers {
		t.Errorf("%d strangers are left, want %d", len(p.nodes), fewStrangers)
	}
	p.done()
}

// When there are as many nodes as there may be, one that has lost contact makes room;
// with none that has, nobody does.
func TestMaxNodes(t *testing.T) {
	const most = 50
	p := newScriptedPeer(t, func(c *Config) { c.MaxNodes = most })
	p.up()
	for i := range most + 10 {
		p.disc(frame.Request, stranger(i))
		if n := p.byAddr[0x2000000+frame.NodeAddr(i)]; n != nil { // as if it were up
			p.strike(n)
			n.everUp = true
		}
		p.sent = nil
	}
	if len(p.nodes) != most {
		t.Errorf("got %d nodes, want %d", len(p.nodes), most)
	}
	p.wantDrops("beyond", fmt.Sprintf("%v=11", DropPeerLimit))
	p.serve(p.now + 5*time.Second)
	p.disc(frame.Request, stranger(1000))
	if len(p.nodes) != most || p.byAddr[popAddr] != nil || p.byAddr[0x2000000+1000] == nil {
		t.Errorf("%d nodes: who lost contact should make room", len(p.nodes))
	}
}

// Who says that it is a node that makes contact, under another address, is not
// believed; one that is up stays as well, and the alarm is told.
//
// Proves: hostile.docs
func TestHostileIdentityThief(t *testing.T) {
	thief := func(f *frame.DiscoveryFields) {
		f.Prev, f.MAC, f.Identity = 0x1001009, frame.MAC{2, 9}, frame.AddrIdentity(popAddr)
	}
	p := newScriptedPeer(t)
	p.disc(frame.Request, nil)
	for range 100 {
		p.disc(frame.Request, thief)
	}
	p.wantDrops("while it makes contact", fmt.Sprintf("%v=100", DropPeerLimit))
	p.again()
	p.disc(frame.Request, thief)
	wantLines(t, "while up", p.eventList(), "duplicate address 1001009")
	if n := p.byAddr[popAddr]; len(p.nodes) != 1 || !n.up() {
		t.Errorf("%d nodes", len(p.nodes))
	}
	p.done()
}

// Nothing that another station sends in the name of a node that is up has an effect:
// not on the session, its links' properties, what is delivered, or what it can do.
//
// Proves: hostile.docs
func TestHostileStation(t *testing.T) {
	p := newScriptedPeer(t).up()
	l := p.byAddr[popAddr].links[0]
	port := p.bound(t, PortConfig{}, 18888, 17)
	look := func() string {
		return fmt.Sprint(l.State(), l.Tolerance(), l.Priority(), l.MTU(), l.Expected(), l.BadAcks, l.RecvStates, p.byAddr[popAddr].caps)
	}
	before := look()
	reset := frame.ResetFields{Common: frame.Common{Seq: 0x8000, Prev: popAddr}, LinkInfo: p.info(), DestSession: p.dest, DestSessionValid: true, MaxPacket: 1500}
	reset.Session++
	stop := reset
	stop.PeerStopping = true
	state := frame.StateFields{Common: frame.Common{Seq: p.state, Ack: p.ack, Prev: popAddr}, LinkInfo: p.info(), Probe: true}
	state.Priority, state.Tolerance = 31, 50
	packet := data(port.number, nil, "forged")
	frame.StampSeq(packet, p.seq)
	frame.StampAcks(packet, p.ack, 0)
	for _, msg := range [][]byte{reset.Append(nil), stop.Append(nil), state.Append(nil, nil), packet} {
		p.raw(ether(ownMAC, frame.MAC{2, 9}, msg))
	}
	p.wantDrops("of another station", fmt.Sprintf("%v=4", DropSpoofed))
	p.disc(frame.Request, func(f *frame.DiscoveryFields) { f.MAC, f.Capabilities = frame.MAC{2, 9}, 0 })
	if got := look(); got != before || p.drain() != nil || port.Pending() != 0 {
		t.Errorf("got %s, want %s; %d messages", got, before, port.Pending())
	}
	p.packet(data(port.number, nil, "true"))
	wantLines(t, "of the node", read(port), "<1001002:77> true")
	p.done()
}

// Who tries addresses that are taken is told so, but not at any rate.
//
// Proves: hostile.docs
func TestHostileTrials(t *testing.T) {
	p := newScriptedPeer(t).up()
	answers := 0
	for i := range 10_000 {
		p.now += 100 * time.Microsecond
		p.disc(frame.Trial, func(f *frame.DiscoveryFields) {
			f.Prev, f.MAC = popAddr, frame.MAC{2, 7, 0, 0, byte(i >> 8), byte(i)}
			f.Identity = frame.Identity{1, byte(i >> 8), byte(i)}
		})
		answers += len(p.sent)
		p.sent = nil
	}
	if want := objections + int(time.Second/objectionGap); answers > want || answers < want-1 {
		t.Errorf("%d answers in a second, want %d", answers, want)
	}
	if len(p.nodes) != 1 {
		t.Errorf("%d nodes", len(p.nodes))
	}
	p.done()
}

// A peer that begins contact and ends it, again and again, as fast as it can, is let
// begin only so often: each beginning sends it all names.
//
// Proves: hostile.docs
func TestHostileContactsAreLimited(t *testing.T) {
	p := newScriptedPeer(t)
	p.disc(frame.Request, nil)
	p.serve(375 * time.Millisecond)
	began := 0
	const tries = 10_000
	for range tries {
		p.now += time.Millisecond
		p.session++
		p.reset(false)
		p.session++
		p.reset(true)
		p.reset(true)
		for _, e := range p.eventList() {
			if e == "peer up 1001002" {
				began++
			}
		}
		p.sent = nil
	}
	if most := contacts + int(tries*time.Millisecond/contactGap) + 1; began > most || began < most/2 {
		t.Errorf("contact began %d times in 10 s, want at most %d", began, most)
	}
	if got := p.count.Drops[DropFlapping]; got < tries/2 {
		t.Errorf("%d refused", got)
	}
	p.done()
}

// A device that takes nothing does not gather answers to requests without end.
//
// Proves: hostile.docs
func TestHostileRequestsOnStalledDevice(t *testing.T) {
	p := newScriptedPeer(t)
	raw := func(i int) {
		f := frame.DiscoveryFields{Type: frame.Request, Capabilities: popCaps, NetID: frame.DefaultNetID}
		stranger(i)(&f)
		msg := ether(frame.BroadcastMAC, f.MAC, f.Append(nil))
		b := p.arena.Get(len(msg), netdev.Control)
		if b == nil {
			t.Fatal("no chunk is left")
		}
		copy(b.Extend(len(msg)), msg)
		p.HandleFrame(p.now, 0, b) // and nothing is taken
		b.Release()
	}
	for i := range 100_000 {
		p.now += 100 * time.Microsecond
		raw(i)
	}
	if got := p.bearers[0].out.Len(); got > maxAnswers {
		t.Errorf("%d frames wait", got)
	}
	if free := p.arena.Free(); free < p.arena.Total()/2 {
		t.Errorf("%d of %d chunks are free", free, p.arena.Total())
	}
	p.collect()
	p.sent = nil
	p.done()
}
