// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// The eight rows of spec 03 §3, all tried with 6.1: "answer" is one RESP, nothing
// means no frame at all.
//
// Proves: contact.discovery
func TestNeighbourTable(t *testing.T) {
	other := frame.MAC{2, 0, 0, 0, 0, 3}
	for _, c := range []struct {
		s, m, u  bool
		answer   bool
		alarm    bool
		stored   bool // the new signature
		accepted bool // the station, with a new link
	}{
		{true, true, true, false, false, true, false},
		{true, true, false, true, false, true, false},
		{true, false, true, false, true, true, false},
		{true, false, false, true, false, true, true},
		{false, true, true, false, false, true, false},
		{false, true, false, true, false, true, false},
		{false, false, true, false, true, false, false},
		{false, false, false, true, false, true, true},
	} {
		p := newScriptedPeer(t)
		if c.u {
			p.up()
		} else {
			p.disc(frame.Request, nil)
		}
		p.drain()
		p.eventList()
		p.now += time.Second // past the limit of answers
		n := p.byAddr[popAddr]
		link, sig, mac := n.links[0], uint32(0x1111|1), popMAC
		p.disc(frame.Request, func(f *frame.DiscoveryFields) {
			f.Capabilities &^= frame.CapNamedBcast
			if !c.s {
				f.Signature = 0x2222
				sig = 0x2222 | 1<<15
			}
			if !c.m {
				f.MAC, mac = other, other
			}
		})
		row := fmt.Sprintf("S=%v M=%v U=%v", c.s, c.m, c.u)
		got := p.drain()
		if c.answer != (len(got) == 1 && strings.HasPrefix(got[0], "disc/response")) || !c.answer && got != nil {
			t.Errorf("%s: sent %q, want an answer %v", row, got, c.answer)
		}
		if ev := p.eventList(); c.alarm != (len(ev) == 1 && ev[0] == "duplicate address 1001002") {
			t.Errorf("%s: events %q, want an alarm %v", row, ev, c.alarm)
		}
		if !c.s {
			if got := n.signature == sig; got != c.stored {
				t.Errorf("%s: signature %#x, want stored %v", row, n.signature, c.stored)
			}
		}
		if got := n.links[0] != link; got != c.accepted || (n.links[0].mac == mac) != (c.accepted || c.m) {
			t.Errorf("%s: new link %v, station %v; want %v", row, got, n.links[0].mac, c.accepted)
		}
		if c.u && (!n.links[0].IsUp() || n.contact != UpUp) {
			t.Errorf("%s: got %v, want the link left up", row, n.links[0].State())
		}
		// New capabilities count whatever the action is, but not while there is contact: a
		// message of discovery names no session. A kernel believes it at once.
		if got, want := n.caps.Has(frame.CapNamedBcast), c.u; got != want {
			t.Errorf("%s: capabilities %v", row, n.caps)
		}
		p.done()
	}
}

// Where a station was accepted anew the link begins again, from RESET.
func TestMovedNodeGetsNewLink(t *testing.T) {
	p := newScriptedPeer(t)
	p.disc(frame.Request, nil)
	p.reset(false)
	if got := p.byAddr[popAddr].links[0].State(); got != flowctl.Establishing {
		t.Fatalf("got %v", got)
	}
	p.now = time.Second
	p.drain()
	p.disc(frame.Request, func(f *frame.DiscoveryFields) { f.MAC = frame.MAC{2, 7} })
	if got := p.byAddr[popAddr].links[0].State(); got != flowctl.Down {
		t.Errorf("got %v, want %v", got, flowctl.Down)
	}
	p.drain()
	p.wait(p.now + 375*time.Millisecond)
	p.done()
}

// A node that comes back under another address, and one whose identity is taken.
func TestKnownIdentityUnderAnotherAddress(t *testing.T) {
	elsewhere := func(f *frame.DiscoveryFields) {
		f.Prev, f.MAC, f.Identity = 0x1001009, frame.MAC{2, 9}, frame.AddrIdentity(popAddr)
	}
	p := newScriptedPeer(t)
	p.disc(frame.Request, nil)
	p.now += newcomerStay
	p.disc(frame.Request, elsewhere)
	if len(p.nodes) != 1 || p.nodes[0].addr != 0x1001009 {
		t.Errorf("while down: got %d nodes, first %v", len(p.nodes), p.nodes[0].addr)
	}
	p = newScriptedPeer(t).up()
	p.disc(frame.Request, elsewhere)
	wantLines(t, "while up", p.eventList(), "duplicate address 1001009")
	if len(p.nodes) != 1 || p.nodes[0].addr != popAddr {
		t.Errorf("while up: got %d nodes, first %v", len(p.nodes), p.nodes[0].addr)
	}
	p.done()
}

// Every cell of the contact table of spec 03 §4.1 that one link can reach.
//
// Proves: contact.machines
func TestContactTable(t *testing.T) {
	type row [4]Contact // by event: self established, self lost, peer established, peer lost
	for from, want := range map[Contact]row{
		DownDown:    {UpComing, DownDown, DownDown, DownDown},
		UpUp:        {UpUp, DownLeaving, UpUp, LeavingDown},
		DownLeaving: {DownLeaving, DownLeaving, DownLeaving, DownDown},
		UpComing:    {UpComing, DownDown, UpUp, UpComing},
		LeavingDown: {LeavingDown, DownDown, LeavingDown, LeavingDown},
	} {
		for ev, want := range want {
			if got := from.after(contactEvent(ev)); got != want {
				t.Errorf("%v, event %d: got %v, want %v", from, ev, got, want)
			}
		}
	}
}

// The filter in front of the link, spec 03 §4.3.
//
// Proves: contact.machines
func TestAdmit(t *testing.T) {
	reset := func(nodeUp bool) []byte {
		f := frame.ResetFields{LinkInfo: frame.LinkInfo{RedundantLink: nodeUp}, MaxPacket: 1500}
		return f.Append(nil)
	}
	kinds := map[string][]byte{
		"RESET": reset(false), "RESET, node up": reset(true), "STATE": (&frame.StateFields{}).Append(nil, nil),
	}
	for _, c := range []struct {
		from Contact
		kind string
		up   bool // our link
		pass bool
		to   Contact
	}{
		{DownLeaving, "RESET", false, true, DownDown},
		{DownLeaving, "RESET, node up", false, false, DownLeaving},
		{DownLeaving, "STATE", false, false, DownLeaving},
		{DownDown, "RESET", false, true, DownDown},
		{DownDown, "RESET, node up", false, true, DownDown},
		{DownDown, "STATE", false, true, DownDown},
		{UpComing, "RESET", true, true, UpComing},
		{UpComing, "RESET, node up", true, true, UpComing},
		{UpComing, "STATE", true, true, UpUp},
		{UpComing, "STATE", false, true, UpComing},
		{UpUp, "RESET", true, true, UpUp},
		{UpUp, "STATE", true, true, UpUp},
		{LeavingDown, "RESET", false, false, LeavingDown},
		{LeavingDown, "STATE", false, false, LeavingDown},
	} {
		p := newScriptedPeer(t)
		if c.up {
			p.up()
		} else {
			p.disc(frame.Request, nil)
		}
		n := p.byAddr[popAddr]
		n.contact = c.from
		m, err := frame.Parse(kinds[c.kind])
		if err != nil {
			t.Fatal(err)
		}
		l, err := frame.ParseLink(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.admit(p.now, n.links[0], m, &l); got != c.pass || n.contact != c.to {
			t.Errorf("%v, %s, own link up %v: got %v %v, want %v %v", c.from, c.kind, c.up, got, n.contact, c.pass, c.to)
		}
	}
}

// After contact was lost, nothing but a RESET or ACTIVATE of a peer that has
// noticed opens the way again, and each side says goodbye once.
func TestContactIsLostAndMadeAgain(t *testing.T) {
	p := newScriptedPeer(t).up()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, frame.NameItem{Range: frame.Range{Type: 100, Lower: 1, Upper: 1}, Port: 5, Key: 6}))
	p.wait(p.now + 4*time.Second)
	wantLines(t, "lost", p.eventList(), "link down 1001002", "peer lost 1001002", "room for blocked senders 1001002")
	for b := range p.Bindings {
		if b.Socket.Node == popAddr || b.Range.Type == 2 {
			t.Errorf("left in the table: %v", b)
		}
	}
	p.drops()
	p.report(nil)
	p.wantDrops("STATE of the old session", "of another session=1")
	p.packet(data(1, nil, "x"))
	p.wantDrops("data", "while contact is being lost or made=1")
	p.session++
	p.again()
	if n := p.byAddr[popAddr]; n.contact != UpUp {
		t.Errorf("got %v, want %v", n.contact, UpUp)
	}
	p.done()
}

// First on the wire a STATE, then the broadcast opening, then all names; capture
// 01, frames 12, 13, 15.
//
// Proves: contact.machines, names.distribution
func TestLinkUpTranscript(t *testing.T) {
	p := newScriptedPeer(t)
	p.disc(frame.Request, nil)
	p.wait(375 * time.Millisecond)
	p.drain()
	p.reset(true)
	s := p.dest
	wantLines(t, "sent", p.drain(),
		fmt.Sprintf("link/state next=1 session=%d bcast-invalid seq=1 ack=0", s),
		"bcast/init last=0 seq=1 ack=0",
		"name/publish bulk last update=1 0:16781313-16781313=0/16781313 seq=2 ack=0")
	wantLines(t, "events", p.eventList(), "address settled 1001001", "link up 1001002", "peer up 1001002")
	p.done()
}

// The bulk is cut to the link's packets; only the last part says so.
//
// Proves: names.distribution
func TestBulkInParts(t *testing.T) {
	p := newScriptedPeer(t)
	port := p.OpenPort(PortConfig{})
	for i := range uint32(150) {
		port.Bind(0, frame.Range{Type: 100, Lower: i, Upper: i}, frame.ClusterScope)
	}
	port.Bind(0, frame.Range{Type: 100, Lower: 999, Upper: 999}, frame.NodeScope)
	p.disc(frame.Request, nil)
	p.wait(375 * time.Millisecond)
	p.drain()
	p.reset(true)
	p.collect()
	var got []string
	for _, f := range p.sent {
		b := f.bytes
		m, _ := frame.Parse(b[frame.EthernetLen:])
		if n, err := frame.ParseNames(m); err == nil {
			got = append(got, fmt.Sprint(n.Len(), n.Bulk(), n.LastBulk(), n.NonLegacy(), n.UpdateSeq()))
			if b[frame.EthernetLen+22] != 0x40 {
				t.Errorf("broadcast acknowledge not marked invalid")
			}
		}
	}
	wantLines(t, "bulk", got, "71 true false true 0", "71 true false true 0", "9 true true true 151")
	p.done()
}

// As many names as a node may have reach a new peer, in parts: the bulk is never refused
// for congestion (spec 05 §3), and no turn sends all of it. It fails where payNow does not ask
// what the turn may still do.
//
// Proves: names.distribution
func TestLargestBulk(t *testing.T) {
	p := scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 2048}))
	port := p.OpenPort(PortConfig{})
	for i := range uint32(65534) {
		p.pub.Publish(frame.NameItem{Range: frame.Range{Type: 100, Lower: i, Upper: i}, Port: port.number, Key: i})
	}
	work, most := 0, 0
	p.cfg.Did = func(_ Work, k int) {
		work += k
		most = max(most, work)
	}
	p.disc(frame.Request, nil)
	p.wait(375 * time.Millisecond)
	p.drain()
	p.seq, p.state, p.bcast = 1, 1, 1
	p.reset(true)
	for range 60 {
		work = 0
		p.HandleTimeout(p.now)
		p.report(func(f *frame.StateFields) { f.BcastAckInvalid = true })
	}
	if n := p.byAddr[popAddr]; !n.links[0].IsUp() || !n.links[0].Idle() {
		t.Errorf("got %v, %d packets waiting, want up and none", n.links[0].State(), n.links[0].Backlog())
	}
	items := 0
	for _, f := range p.sent {
		b := f.bytes
		m, _ := frame.Parse(b[frame.EthernetLen:])
		if n, err := frame.ParseNames(m); err == nil {
			items += n.Len()
		}
	}
	if items != 65535 || most > 4*turnWork {
		t.Errorf("told of %d names, want 65535; %d in one turn", items, most)
	}
	p.done()
}

func stranger(i int) func(*frame.DiscoveryFields) {
	return func(f *frame.DiscoveryFields) {
		f.Prev, f.MAC = 0x2000000+frame.NodeAddr(i), frame.MAC{2, 1, byte(i >> 16), byte(i >> 8), byte(i), 1}
		f.Identity = frame.AddrIdentity(f.Prev)
	}
}

// A node is forgotten 300 s after it was lost (spec 03 §3); its memory comes back.
func TestForget(t *testing.T) {
	p := newScriptedPeer(t).up()
	p.wait(p.now + 3*time.Second)
	lost := p.byAddr[popAddr].downSince
	p.wait(lost + forgetAfter - time.Second)
	if p.byAddr[popAddr] == nil {
		t.Fatal("forgotten early")
	}
	p.wait(lost + forgetAfter + slowTick)
	if len(p.nodes) != 0 || len(p.byAddr) != 0 {
		t.Errorf("got %d nodes, want none", len(p.nodes))
	}
	if p.slow != flowctl.Never {
		t.Errorf("still looking, at %v", p.slow)
	}
	if p.arena.Free() != p.arena.Total() {
		t.Errorf("free chunks: got %v, want %v", p.arena.Free(), p.arena.Total())
	}
	p.disc(frame.Request, nil)
	if len(p.nodes) != 1 {
		t.Error("not found again")
	}
}

// What is announced is exactly what is built.
//
// Proves: contact.capabilities
func TestCapabilities(t *testing.T) {
	for _, c := range []struct {
		bit       frame.Capabilities
		announced bool
		why       string
	}{
		{frame.CapSynBit, true, "our datagrams never carry SYN: a listening peer does not take them for connection requests"},
		{frame.CapBcastSynch, true, "the broadcast opening is sent, and read"},
		{frame.CapBcastStateNack, true, "gaps travel in STATE; the old message is neither sent nor needed"},
		{frame.CapBlockFlowctl, true, "connections count blocks, at both ends and in acknowledgements"},
		{frame.CapBcastRcast, true, "replicated multicast is delivered like any other"},
		{frame.CapNodeID128, true, "the identity is sent and read"},
		{frame.CapLinkProtoSeqno, true, "STATE has its own numbers, stale ones are dropped"},
		{frame.CapMcastRbctl, true, "a change between broadcast and copies is marked, and waited for"},
		{frame.CapGapAckBlock, true, "reports tell of every gap, of links and of broadcast links, and are read"},
		{frame.CapTunnelEnhanced, true, "a second link begins with the synchronisation point, and large packets fail over in pieces"},
		{frame.CapNagle, true, "a stream's short messages are collected, and answers given at once"},
		{frame.CapNamedBcast, true, "numbered updates are put in order, whichever way they come"},
		{1 << 12, false, "no meaning yet"},
	} {
		if got := Capabilities.Has(c.bit); got != c.announced {
			t.Errorf("%v: announced %v, want %v: %s", c.bit, got, c.announced, c.why)
		}
	}
	if got, want := Capabilities, frame.Capabilities(0xfff); got != want {
		t.Errorf("got %#x, want %#x", uint16(got), uint16(want))
	}
}

func TestConfig(t *testing.T) {
	good := func() Config {
		return Config{Address: ownAddr, Arena: newArena(t, netdev.ArenaConfig{Small: 8}), Chance: NewSeeded(1, 1)}
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"network id", func(c *Config) { c.NetID = 10000 }},
		{"tolerance low", func(c *Config) { c.Tolerance = flowctl.MinTolerance - 1 }},
		{"tolerance high", func(c *Config) { c.Tolerance = flowctl.MaxTolerance + 1 }},
		{"window", func(c *Config) { c.Window = flowctl.MaxWindow + 1 }},
		{"negative window", func(c *Config) { c.Window = -1 }},
		{"priority", func(c *Config) { c.Priority = 32 }},
	} {
		cfg := good()
		c.change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	for _, c := range []struct {
		name string
		cfg  BearerConfig
	}{
		{"MTU", BearerConfig{Name: "eth0", MAC: ownMAC, MTU: 99}},
		{"no station", BearerConfig{Name: "eth0", MAC: frame.MAC{}, MTU: 1500}},
		{"group", BearerConfig{Name: "eth0", MAC: frame.BroadcastMAC, MTU: 1500}},
		{"name", BearerConfig{Name: "0123456789abcdef", MAC: ownMAC, MTU: 1500}},
	} {
		e, err := New(good())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.AddBearer(0, c.cfg); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
