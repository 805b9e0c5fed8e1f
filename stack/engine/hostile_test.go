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
	"github.com/utipc/utipc/netdev"
)

// Spec 01 §8, items 1, 2, 3, 8, 12, and §1.4: each frame is counted under its
// reason and has no other effect.
//
// Proves: link.hostile, hostile.docs
func TestHostileFrames(t *testing.T) {
	ok := data(1, nil, "hello")
	with := func(b []byte, change func([]byte)) []byte {
		b = bytes.Clone(b)
		change(b)
		return b
	}
	word := func(b []byte, i int, w uint32) {
		copy(b[4*i:], []byte{byte(w >> 24), byte(w >> 16), byte(w >> 8), byte(w)})
	}
	link := (&frame.StateFields{Common: frame.Common{Seq: 9, Prev: popAddr}, LinkInfo: frame.LinkInfo{Session: 700, Orig: popAddr, Dest: ownAddr}}).Append(nil, nil)
	init := (&frame.BcastInitFields{Common: frame.Common{Prev: popAddr}, Orig: popAddr, Dest: ownAddr}).Append(nil)
	for _, c := range []struct {
		name string
		b    []byte
		drop string
	}{
		{"empty", nil, "truncated=1"},
		{"23 bytes", ok[:23], "truncated=1"},
		{"shorter than it says", ok[:len(ok)-1], "truncated=1"},
		{"version 1", with(ok, func(b []byte) { b[0] = b[0]&0x1f | 1<<5 }), "version=1"},
		{"encrypted", with(ok, func(b []byte) { b[0] = b[0]&0x1f | 7<<5 }), "encrypted=1"},
		{"header of 20", with(ok, func(b []byte) { b[0], b[1] = b[0]&^1, b[1]&0x1f|5<<5 }), "malformed=1"},
		{"size below the header", with(ok, func(b []byte) { b[3] = 31 }), "malformed=1"},
		{"size 0", with(ok, func(b []byte) { b[2], b[3] = 0, 0 }), "malformed=1"},
		{"previous node 0", with(ok, func(b []byte) { word(b, 3, 0) }), "from a node not known=1"},
		{"previous node ours", with(ok, func(b []byte) { word(b, 3, uint32(ownAddr)) }), "from a node not known=1"},
		{"unknown node", with(ok, func(b []byte) { word(b, 3, 0x1001009) }), "from a node not known=1"},
		{"to another node", with(ok, func(b []byte) { word(b, 7, 0x1001009) }), "not for this station or node=1"},
		{"to node 0", with(ok, func(b []byte) { word(b, 7, 0) }), "not for this station or node=1"},
		{"link message of type 3", with(link, func(b []byte) { b[4] |= 3 << 5 }), "unknown user or type=1"},
		{"link message, header of 24", with(link, func(b []byte) { b[0], b[1] = b[0]&^1, b[1]&0x1f|6<<5 }), "malformed=1"},
		{"RESET without a name", with(link, func(b []byte) { b[4] |= 1 << 5 }), "malformed=1"},
		{"link message on the broadcast link", with(link, func(b []byte) { b[1] |= 1 << 4; word(b, 2, 0); word(b, 5, frame.DefaultNetID) }), "duplicate, early or late=1"},
		{"discovery cut", with(link, func(b []byte) { b[0], b[1] = 2<<5|13<<1|1, b[1]&0x1f|1<<4|2<<5 }), "malformed=1"},
		{"old broadcast report", with(init, func(b []byte) { b[1] |= 1 << 4; word(b, 5, frame.DefaultNetID) }), "not built yet=1"},
		{"broadcast of another network", with(data(1, mcastOnBroadcast(1, 2), "x"), func(b []byte) { word(b, 5, 4712) }), "other network=1"},
		{"broadcast with a short header", with(data(1, nil, "hello world"), func(b []byte) { b[1] |= 1 << 4; word(b, 5, frame.DefaultNetID) }), "malformed=1"},
		{"broadcast of an unknown node", with(data(1, mcastOnBroadcast(1, 2), "x"), func(b []byte) { word(b, 3, 0x1001009) }), "from a node not known=1"},
	} {
		p := newScriptedPeer(t).up()
		p.raw(ether(ownMAC, popMAC, c.b))
		p.wantDrops(c.name, c.drop)
		if got := p.drain(); got != nil || !p.byAddr[popAddr].links[0].IsUp() || p.arena.Free() != p.arena.Total()-p.byAddr[popAddr].links[0].Unacked() {
			t.Errorf("%s: sent %q, link %v", c.name, got, p.byAddr[popAddr].links[0].State())
		}
		p.done()
	}
	p := newScriptedPeer(t).up()
	for _, c := range []struct {
		name string
		b    []byte
		drop string
	}{
		{"no Ethernet header", make([]byte, 13), "truncated=1"},
		{"another protocol", make([]byte, 60), "not TIPC=1"},
		{"VLAN tag", append(append(ether(ownMAC, popMAC, nil)[:12], 0x81, 0, 0, 1, 0x88, 0xca), ok...), "not TIPC=1"},
		{"to another station", ether(frame.MAC{2, 9}, popMAC, ok), "not for this station or node=1"},
		{"from our own station", ether(ownMAC, ownMAC, ok), "not for this station or node=1"},
		{"broadcast from another station", ether(frame.BroadcastMAC, frame.MAC{2, 9}, data(1, mcastOnBroadcast(1, 2), "x")), "source is not the station it claims=1"},
	} {
		p.raw(c.b)
		p.wantDrops(c.name, c.drop)
	}
	p.done()
}

// Users that have no business here, in sequence: the packet counts, its content
// is dropped (spec 01 §3.1, §8.12; keys are not built; there is no group).
func TestUsersThatAreDropped(t *testing.T) {
	for u, drop := range map[frame.User]string{
		frame.UserGroup: "nobody to take it, and not to be returned=1", frame.UserCrypto: "a key that came plain=1",
		4: "not allowed inside a bundle=1", 15: "not allowed inside a bundle=1", frame.UserDiscovery: "not allowed inside a bundle=1",
	} {
		p := newScriptedPeer(t).up()
		b := connMsg(1, nil)
		b[0] = 2<<5 | byte(u)<<1 | b[0]&1
		p.packet(b)
		p.wantDrops(fmt.Sprint("user ", uint8(u)), drop)
		if got := p.drain(); got != nil {
			t.Errorf("user %d: sent %q", u, got)
		}
		p.packet(data(4711, nil, "x")) // the next number is taken
		if got := p.drain(); len(got) != 1 {
			t.Errorf("user %d: the next packet is not taken: %q", u, got)
		}
		p.done()
	}
}

// Header sizes are those of the type (spec 01 §8.2, 07 "Validation").
func TestPayloadHeaderSizes(t *testing.T) {
	for _, c := range []struct {
		typ, words int
		ok         bool
	}{
		{0, 6, true},
		{0, 8, true},
		{0, 7, false},
		{0, 10, false},
		{1, 11, true},
		{1, 10, false},
		{2, 10, true},
		{2, 8, false},
		{2, 11, false},
		{3, 8, true},
		{3, 6, false},
		{3, 10, false},
		{4, 11, false},
		{5, 11, true},
		{5, 10, false},
		{7, 11, true},
		{7, 15, false},
	} {
		p := newScriptedPeer(t).up()
		b := make([]byte, 64)
		copy(b, data(4711, nil, ""))
		b[0], b[1] = 2<<5|byte(c.words>>3), byte(c.words&7)<<5
		b[3], b[4] = 64, byte(c.typ)<<5
		p.packet(b)
		got := p.drops()
		if bad := strings.Contains(got, "malformed") || strings.Contains(got, "unknown"); bad == c.ok {
			t.Errorf("type %d, header of %d: dropped %q, want sound %v", c.typ, 4*c.words, got, c.ok)
		}
		p.done()
	}
}

func bundle(change func(*frame.BundleFields), msgs ...[]byte) []byte {
	var d []byte
	for _, m := range msgs {
		for len(d)%4 != 0 {
			d = append(d, 0)
		}
		d = append(d, m...)
	}
	f := frame.BundleFields{Common: frame.Common{Prev: popAddr}, Count: uint16(len(msgs)), Orig: popAddr, Dest: ownAddr}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, d)
}

// Spec 01 §6, §8.4: what may be inside is delivered; what may not is dropped, and
// the messages behind it are delivered where they can be found.
//
// Proves: link.long
func TestBundles(t *testing.T) {
	nested := "not allowed inside a bundle=1"
	hi := func(p *Port, s string) []byte { return data(p.number, nil, s) }
	for _, c := range []struct {
		name string
		in   func(p *Port) [][]byte
		read string
		drop string
	}{
		{"two", func(p *Port) [][]byte { return [][]byte{hi(p, "a"), hi(p, "bc")} }, "a bc", ""},
		{"none", func(p *Port) [][]byte { return nil }, "", ""},
		{"with padding", func(p *Port) [][]byte { return [][]byte{hi(p, "a"), hi(p, "bcd"), hi(p, "efghi")} }, "a bcd efghi", ""},
		{"bundle", func(p *Port) [][]byte { return [][]byte{bundle(nil, hi(p, "a")), hi(p, "b")} }, "b", nested},
		{"link message", func(p *Port) [][]byte {
			return [][]byte{(&frame.StateFields{Common: frame.Common{Prev: popAddr}, LinkInfo: frame.LinkInfo{Dest: ownAddr}}).Append(nil, nil), hi(p, "b")}
		}, "b", nested},
		{"broadcast opening", func(p *Port) [][]byte {
			return [][]byte{(&frame.BcastInitFields{Dest: ownAddr, LastBcast: 9}).Append(nil), hi(p, "b")}
		}, "b", nested},
		{"fragment", func(p *Port) [][]byte {
			return [][]byte{(&frame.FragmentFields{Dest: ownAddr}).Append(nil, hi(p, "a")), hi(p, "b")}
		}, "b", nested},
		{"to another node", func(p *Port) [][]byte {
			return [][]byte{data(p.number, func(f *frame.PayloadFields) { f.DestNode = 0x1001009 }, "a"), hi(p, "b")}
		}, "b", "not for this station or node=1"},
		{"cut short", func(p *Port) [][]byte { return [][]byte{hi(p, "a"), hi(p, "bcdef")[:34]} }, "a", "truncated=1"},
		{"size 0", func(p *Port) [][]byte {
			z := hi(p, "b")
			z[2], z[3] = 0, 0
			return [][]byte{hi(p, "a"), z, hi(p, "c")}
		}, "a", "malformed=1"},
		{"rest shorter than a header", func(p *Port) [][]byte { return [][]byte{hi(p, "a"), make([]byte, 20)} }, "a", ""},
	} {
		p := newScriptedPeer(t).up()
		port := p.bound(t, PortConfig{}, 18888, 17)
		p.packet(bundle(nil, c.in(port)...))
		var got []string
		for _, l := range read(port) {
			_, x, _ := strings.Cut(l, " ")
			got = append(got, x)
		}
		if strings.Join(got, " ") != c.read {
			t.Errorf("%s: read %q, want %q", c.name, got, c.read)
		}
		p.wantDrops(c.name, c.drop)
		if !p.byAddr[popAddr].links[0].IsUp() {
			t.Errorf("%s: the link is down", c.name)
		}
		p.done()
	}
}

// What a bundle holds behind the end of its link is dropped: names of a node that
// was just lost would stay in the table.
func TestBundleEndsWithItsLink(t *testing.T) {
	p := scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 4096}), alone).up()
	legacy := func(f *frame.NamesFields) { f.NonLegacy = false }
	l := p.byAddr[popAddr].links[0]
	stray := data(4711, func(f *frame.PayloadFields) { f.Type = frame.ConnMsg }, "x")
	for i := 0; i < 4000 && l.Backlog() < l.Limit(frame.System); i++ {
		p.hear(p.next(stray)) // each is returned, nothing is acknowledged
		p.ack = 0
		p.sent = nil
	}
	p.drops()
	p.packet(bundle(nil, stray, p.names(legacy, nameItem(100, 1, 1, 5))))
	if p.byAddr[popAddr].links[0].IsUp() {
		t.Fatal("the link should have been given up")
	}
	if got := p.learned(); got != nil {
		t.Errorf("names of a lost node: %q", got)
	}
	p.done()
}

func frag(typ frame.FragmentType, piece []byte) []byte {
	return (&frame.FragmentFields{Common: frame.Common{Prev: popAddr}, Type: typ, Orig: popAddr, Dest: ownAddr}).Append(nil, piece)
}

func onBroadcast(b []byte) []byte {
	b[1] |= 1 << 4
	copy(b[20:], []byte{0, 0, 0x12, 0x67})
	copy(b[28:], []byte{0, 0, 0, 0})
	return b
}

// Spec 01 §7, §8.5: an error fails the unicast link; on the broadcast link the
// message is dropped.
//
// Proves: link.long
func TestFragments(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.bound(t, PortConfig{}, 18888, 17)
	long := data(port.number, nil, strings.Repeat("x", 3000))
	p.packet(frag(frame.FirstFragment, long[:1460]))
	p.packet(frag(frame.MiddleFragment, long[1460:2920]))
	p.packet(frag(frame.LastFragment, long[2920:]))
	wantLines(t, "joined", read(port), "<1001002:77> 3000 bytes")

	m := data(0, mcast(17, 17), strings.Repeat("x", 3000)) // w5 and w7 of the inside are 0
	copy(m[28:], []byte{0, 0, 0, 0})
	p.broadcast(onBroadcast(frag(frame.FirstFragment, m[:1460])))
	p.broadcast(onBroadcast(frag(frame.FirstFragment, m[:1460])))
	p.wantDrops("second first on the broadcast link", "fragments do not join=1")
	p.broadcast(onBroadcast(frag(frame.FirstFragment, m[:1460])))
	p.broadcast(onBroadcast(frag(frame.LastFragment, m[1460:])))
	wantLines(t, "joined from the broadcast link", read(port), "<1001002:77> 3000 bytes")
	p.packet(frag(frame.FirstFragment, m[:1460]))
	p.packet(frag(frame.LastFragment, m[1460:]))
	wantLines(t, "multicast by unicast", read(port), "<1001002:77> 3000 bytes")

	p.packet(frag(frame.MiddleFragment, m[:1460]))
	p.wantDrops("middle without first", "fragments do not join=1")
	if got := p.drain(); len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "link/reset stopping") {
		t.Errorf("got %q, want the link reset", got)
	}
	p.done()
}

// Spec 02 §12: what a peer says of its link is checked before it has an effect.
//
// Proves: link.hostile, hostile.docs
func TestHostileLinkMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *scriptedPeer)
		drop string
		sent int
	}{
		{"another session", func(p *scriptedPeer) {
			p.report(func(f *frame.StateFields) {
				f.Session++
				f.Probe, f.Tolerance, f.Priority, f.LastBcast = true, 100, 31, 20
			})
		}, "of another session=1", 0},
		{"RESET of an old session", func(p *scriptedPeer) { p.session--; p.reset(false); p.session++ }, "of another session=1", 0},
		{"stale STATE", func(p *scriptedPeer) { p.state = 1; p.report(func(f *frame.StateFields) { f.Seq, f.Probe = 0, true }) }, "of another session=1", 0},
		{"acknowledges what was never sent", func(p *scriptedPeer) { p.report(func(f *frame.StateFields) { f.Ack = 100 }) }, "", 0},
		{"gap of all there is", func(p *scriptedPeer) { p.report(func(f *frame.StateFields) { f.Gap = 8191 }) }, "", 0},
		{"broadcast far ahead", func(p *scriptedPeer) { p.report(func(f *frame.StateFields) { f.LastBcast = 1000 }) }, "", 0},
		{"broadcast invalid", func(p *scriptedPeer) {
			p.report(func(f *frame.StateFields) { f.LastBcast, f.BcastAckInvalid = 20, true })
		}, "", 0},
		{"broadcast lost", func(p *scriptedPeer) { p.report(func(f *frame.StateFields) { f.LastBcast = 20 }) }, "", 1},
		{"broadcast lost, in a probe", func(p *scriptedPeer) {
			p.report(func(f *frame.StateFields) { f.LastBcast, f.Probe, f.Keepalive = 20, true, true })
		}, "", 1},
	} {
		p := newScriptedPeer(t).up()
		l := p.byAddr[popAddr].links[0]
		tol, pri := l.Tolerance(), l.Priority()
		c.do(p)
		p.wantDrops(c.name, c.drop)
		got := p.drain()
		if len(got) != c.sent || !l.IsUp() || l.Tolerance() != tol || l.Priority() != pri {
			t.Errorf("%s: sent %q, link %v %v %v", c.name, got, l.State(), l.Tolerance(), l.Priority())
		}
		for _, line := range got { // and the answer to a probe tells of it at once
			if !strings.Contains(line, "bcast-gap=20") {
				t.Errorf("%s: got %q, want a gap of 20", c.name, line)
			}
		}
		p.done()
	}
}

// The acknowledgement of broadcasts: the report is on the unicast link, behind
// the delivery, once for a run of deferred packets (spec 04 §4.1).
func TestBroadcastReports(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	port := p.bound(t, PortConfig{}, 18888, 17)
	msg := func() []byte { return data(0, mcastOnBroadcast(17, 17), "x") }
	var at []frame.Seq
	for range 64 {
		p.broadcast(msg())
		for _, l := range p.drain() {
			at = append(at, p.bcast-1)
			if !strings.HasPrefix(l, "link/state next=") || !strings.HasSuffix(l, fmt.Sprint("bcast-ack=", p.bcast-1)) {
				t.Errorf("behind %d: got %q", p.bcast-1, l)
			}
		}
	}
	if got, want := fmt.Sprint(at), "[29 45 61]"; got != want { // 01001001: digit d
		t.Errorf("acknowledged at %v, want %v", got, want)
	}
	if got := len(read(port)); got != 64 {
		t.Errorf("read %d, want 64", got)
	}
	first := msg()
	frame.StampSeq(first, p.bcast)
	p.bcast++
	for range 40 {
		p.broadcast(msg())
	}
	p.drain()
	p.raw(ether(frame.BroadcastMAC, popMAC, first))
	if got := p.drain(); len(got) != 1 || !strings.HasSuffix(got[0], fmt.Sprint("bcast-ack=", p.bcast-1)) {
		t.Errorf("a run of deferred packets: got %q, want one report behind it", got)
	}
}

// A stalled device does not make the node keep frames without end.
func TestStalledDevice(t *testing.T) {
	p := scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 64}))
	b := p.bearers[0]
	f := p.arena.Get(10, netdev.Control)
	for range maxOut + 5 {
		f.Hold()
		p.push(b, f, nil)
	}
	if b.out.Len() != maxOut || p.Counters().OutDropped != 5 {
		t.Errorf("got %d frames, %d dropped; want %d, 5", b.out.Len(), p.Counters().OutDropped, maxOut)
	}
	for x := p.NextFrame(0); x != nil; x = p.NextFrame(0) {
		x.Release()
	}
	f.Release()
	if p.arena.Free() != p.arena.Total() {
		t.Error("chunks lost")
	}
}

// Without a free chunk nothing panics, and the node recovers.
func TestNoMemory(t *testing.T) {
	p := newScriptedPeer(t).up()
	s := p.OpenPort(PortConfig{})
	msgs := [][]byte{p.next(data(4711, nil, "x")), p.next(connMsg(4711, nil))}
	f := p.arena.Get(100, netdev.Control)
	var held []*netdev.Buffer
	for b := p.arena.Get(1, netdev.Control); b != nil; b = p.arena.Get(1, netdev.Control) {
		held = append(held, b)
	}
	for _, m := range msgs {
		f.Resize(frame.EthernetLen + len(m))
		copy(f.Bytes(), ether(ownMAC, popMAC, m))
		p.HandleFrame(p.now, 0, f)
	}
	p.wantDrops("answers", "a limit of this node=2")
	if err := s.Send(p.now, frame.SocketAddr{Port: 1, Node: popAddr}, nil); err != ErrMemory {
		t.Errorf("send: got %v, want %v", err, ErrMemory)
	}
	for range 20 {
		p.now = p.Deadline()
		p.HandleTimeout(p.now)
	}
	for _, b := range held {
		b.Release()
	}
	f.Release()
	p.wait(p.now + 2*time.Second)
	p.done()
}

// A node that cannot be sent the broadcast opening does not come up yet: whatever it says
// next is another try. Mutation: linkUp that goes on without the chunk.
func TestNoMemoryForOpening(t *testing.T) {
	p := newScriptedPeer(t)
	p.disc(frame.Request, nil)
	p.wait(375 * time.Millisecond)
	p.drain()
	f := p.arena.Get(100, netdev.Control)
	r := frame.ResetFields{Common: frame.Common{Prev: popAddr}, LinkInfo: frame.LinkInfo{Session: 700, Orig: popAddr, Dest: ownAddr}, MaxPacket: 1500, Activate: true}
	msg := ether(ownMAC, popMAC, r.Append(nil))
	f.Resize(len(msg))
	copy(f.Bytes(), msg)
	var held []*netdev.Buffer
	for b := p.arena.Get(1, netdev.Control); b != nil; b = p.arena.Get(1, netdev.Control) {
		held = append(held, b)
	}
	p.HandleFrame(p.now, 0, f)
	n := p.byAddr[popAddr]
	if n.links[0].State() != flowctl.Establishing || n.links[0].bearer.links != 0 || n.up() {
		t.Errorf("got %v, %d links", n.links[0].State(), n.links[0].bearer.links)
	}
	if got := p.drain(); len(got) > 0 {
		t.Errorf("without memory: %q", got)
	}
	for _, b := range held {
		b.Release()
	}
	f.Release()
	p.session, p.seq, p.state, p.ack, p.bcast = 700, 1, 1, 0, 1
	p.report(nil)
	got := p.drain()
	if len(got) != 3 || !strings.Contains(got[0], "link/state") || !strings.Contains(got[1], "bcast") || !strings.Contains(got[2], "name/publish bulk") || n.owed != nil {
		t.Errorf("later: %q", got)
	}
	p.done()
}
