// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A fakeMedium is what a device over UDP would be.
type fakeMedium struct {
	own     netip.AddrPort
	remotes map[frame.MAC]netip.AddrPort
	kept    []string
}

func (m *fakeMedium) Own() netip.AddrPort { return m.own }

func (m *fakeMedium) Remote(mac frame.MAC) (netip.AddrPort, bool) {
	a, ok := m.remotes[mac]
	return a, ok
}

func (m *fakeMedium) Keep(mac frame.MAC, up bool) {
	m.kept = append(m.kept, fmt.Sprint(mac[5], " ", up))
}

// udpScriptedPeer is a scripted peer whose bearer is over UDP.
func udpScriptedPeer(t *testing.T, c Config) (*scriptedPeer, *fakeMedium) {
	t.Helper()
	m := &fakeMedium{
		own:     netip.MustParseAddrPort("10.0.0.1:6118"),
		remotes: map[frame.MAC]netip.AddrPort{popMAC: netip.MustParseAddrPort("10.0.0.2:6118")},
	}
	p := newPeers(t, 0, 0, c.all).on(0, 0).peer
	if _, err := p.AddBearer(0, BearerConfig{Name: "UDP1", MAC: ownMAC, MTU: 1472, Medium: m}); err != nil {
		t.Fatal(err)
	}
	return p, m
}

// Discovery over UDP tells addresses, the peer's must be the one its message came
// from, and the medium hears of links.
func TestDiscoveryOverUDP(t *testing.T) {
	p, m := udpScriptedPeer(t, Config{Address: ownAddr})
	ours := func() frame.Discovery {
		t.Helper()
		p.collect()
		if len(p.sent) == 0 {
			t.Fatal("nothing was sent")
		}
		msg, err := frame.Parse(p.sent[len(p.sent)-1].bytes[frame.EthernetLen:])
		if err != nil {
			t.Fatal(err)
		}
		d, err := frame.ParseMediaDiscovery(msg)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := ours(); d.Media() != (frame.MediaAddr{Type: frame.MediaUDP, UDP: m.own}) || frame.MAC(p.sent[0].bytes) != frame.BroadcastMAC {
		t.Errorf("announced %v to %v", d.Media(), frame.MAC(p.sent[0].bytes))
	}
	request := func(src frame.MAC, change func(*frame.DiscoveryFields)) {
		t.Helper()
		p.sent = nil
		f := frame.DiscoveryFields{
			Type: frame.Request, Capabilities: popCaps, Signature: 77, Prev: popAddr, NetID: frame.DefaultNetID,
			UDP: m.remotes[popMAC], Identity: frame.AddrIdentity(popAddr),
		}
		change(&f)
		b := make([]byte, frame.EthernetLen, 200)
		frame.PutEthernet(b, frame.BroadcastMAC, src)
		p.raw(f.Append(b))
	}
	for _, tt := range []struct {
		name   string
		src    frame.MAC
		change func(*frame.DiscoveryFields)
		drop   Drop
	}{
		{"our address", popMAC, func(f *frame.DiscoveryFields) { f.UDP = m.own }, DropForeign},
		{"another port", popMAC, func(f *frame.DiscoveryFields) { f.UDP = netip.MustParseAddrPort("10.0.0.2:6119") }, DropSpoofed},
		{"another host", popMAC, func(f *frame.DiscoveryFields) { f.UDP = netip.MustParseAddrPort("10.0.0.3:6118") }, DropSpoofed},
		{"forgotten", frame.MAC{2, 0, 0, 0, 0, 9}, func(*frame.DiscoveryFields) {}, DropSpoofed},
		{"Ethernet", popMAC, func(f *frame.DiscoveryFields) { f.UDP, f.MAC = netip.AddrPort{}, popMAC }, dropOf(frame.ErrUnknown)},
		{"group", popMAC, func(f *frame.DiscoveryFields) { f.UDP = netip.MustParseAddrPort("228.0.0.1:6118") }, DropMalformed},
	} {
		before := p.Counters().Drops[tt.drop]
		request(tt.src, tt.change)
		if got := p.Counters().Drops[tt.drop]; got != before+1 || len(p.sent) != 0 || len(p.nodes) != 0 {
			t.Errorf("%s: got %d more drops (%v), %d frames sent, %d nodes", tt.name, got-before, tt.drop, len(p.sent), len(p.nodes))
		}
	}
	request(popMAC, func(*frame.DiscoveryFields) {})
	if d := ours(); d.Type() != frame.Response || d.Media().UDP != m.own || frame.MAC(p.sent[0].bytes) != popMAC {
		t.Errorf("answered %v to %v", d.Type(), frame.MAC(p.sent[0].bytes))
	}
}

// A node without a configured name is called by its address: the kernel's way at
// TIPC's port, and another for each other port.
func TestIdentityOverUDP(t *testing.T) {
	for _, tt := range []struct {
		own  string
		want frame.Identity
	}{
		{"10.77.0.1:6118", frame.Identity{10, 77, 0, 1}},
		{"10.77.0.1:6119", frame.Identity{0: 10, 1: 77, 3: 1, 15: 1}},
		{"[fd00::1]:6118", frame.Identity{0: 0xfd, 15: 1}},
	} {
		c := BearerConfig{MAC: ownMAC, Medium: &fakeMedium{own: netip.MustParseAddrPort(tt.own)}}
		if got := c.identity(); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.own, got, tt.want)
		}
	}
	if got := (BearerConfig{MAC: ownMAC}).identity(); got != frame.MACIdentity(ownMAC) {
		t.Errorf("Ethernet: got %v", got)
	}
}

// A link keeps its station in the medium's memory while it is up.
func TestMediumHearsOfLinks(t *testing.T) {
	m := &fakeMedium{own: netip.MustParseAddrPort("10.0.0.1:6118")}
	other := &fakeMedium{own: netip.MustParseAddrPort("10.0.0.2:6118"), remotes: map[frame.MAC]netip.AddrPort{{2, 0, 0, 0, 0, 1}: m.own}}
	m.remotes = map[frame.MAC]netip.AddrPort{{2, 0, 0, 0, 0, 2}: other.own}
	b := newBed(t, 0)
	for i, medium := range []*fakeMedium{m, other} {
		n := b.bare(Config{Address: 0x1001001 + frame.NodeAddr(i)}, uint64(i))
		b.attach(n, BearerConfig{Name: "UDP1", MTU: 1472, Medium: medium})
	}
	up := func() bool { l := b.nodes[0].nodes; return len(l) == 1 && l[0].links[0].IsUp() }
	if !b.until(5*time.Second, up) {
		t.Fatalf("no link; frames %q", b.lines)
	}
	b.lose = func(int, []byte) bool { return true }
	if !b.until(10*time.Second, func() bool { return !up() }) {
		t.Fatal("the link stays")
	}
	b.lose = nil
	b.until(10*time.Second, up)
	if want := []string{"2 true", "2 false", "2 true"}; !slices.Equal(m.kept, want) {
		t.Errorf("the medium heard %q, want %q", m.kept, want)
	}
}
