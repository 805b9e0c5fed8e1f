// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"strings"
	"testing"
)

// Where others use an interface, ways that take offloads from their TCP come after those that
// do not; how long the choice is right follows from both. Mutations: order does not look at
// Users, at the driver asked for, or at a ready map; holds confuses alone and shared, or does
// not ask whether the driver was displaced; the table calls native XDP on virtio_net or with
// LRO harmless.
//
// Proves: device.choice
func TestSharedInterface(t *testing.T) {
	used := func(f Facts) Facts {
		f.Link.Users = "it has the address 10.0.0.1/24"
		return f
	}
	lro := with(able("", 1500), func(f *Facts) { f.Link.Offloads.Value.LRO = true })
	virtio := with(able("", 1500), func(f *Facts) { f.Link.Driver = known("virtio_net") })
	noPacket := with(able("veth", 1500), func(f *Facts) { f.Host.PacketSocket.Result = Absent })
	noXDP := with(able("veth", 1500), func(f *Facts) { f.Host.XDPSocket.Result = Absent })
	for _, c := range []struct {
		what  string
		facts Facts
		cfg   Config
		want  string // the ways
		holds string // as long as
	}{
		{"veth alone", able("veth", 1500), Config{}, "af_xdp generic, af_xdp native, af_packet", "alone"},
		{"veth used", used(able("veth", 1500)), Config{}, "af_packet, af_xdp generic, af_xdp native", "shared"},
		{"veth alone, long frames", able("veth", 9000), Config{}, "af_packet, af_xdp generic, af_xdp native", ""},
		{"veth used, long frames", used(able("veth", 9000)), Config{}, "af_packet, af_xdp generic, af_xdp native", ""},
		{"veth used, af_xdp asked for", used(able("veth", 1500)), Config{Driver: AFXDP}, "af_xdp generic, af_xdp native", ""},
		{"veth alone, af_xdp asked for", able("veth", 1500), Config{Driver: AFXDP}, "af_xdp generic, af_xdp native", ""},
		{"veth used, af_packet asked for", used(able("veth", 1500)), Config{Driver: AFPacket}, "af_packet", ""},
		{"veth used, a ready map", used(able("veth", 1500)), Config{XSK: &XSKConfig{MapFD: 3}}, "af_xdp generic, af_xdp native, af_packet", ""},
		{"veth used, no packet sockets", used(noPacket), Config{}, "af_xdp generic, af_xdp native", ""},
		{"veth used, no AF_XDP", used(noXDP), Config{}, "af_packet", ""},
		{"veth alone, no AF_XDP", noXDP, Config{}, "af_packet", ""},
		{"card alone", able("", 1500), Config{}, "af_xdp native, af_packet, af_xdp generic", ""},
		{"card used", used(able("", 1500)), Config{}, "af_xdp native, af_packet, af_xdp generic", ""},
		{"card with LRO alone", lro, Config{}, "af_xdp native, af_packet, af_xdp generic", "alone"},
		{"card with LRO used", used(lro), Config{}, "af_packet, af_xdp native, af_xdp generic", "shared"},
		{"virtual card used", used(virtio), Config{}, "af_packet, af_xdp native, af_xdp generic", "shared"},
		{"bridge used", used(able("bridge", 1500)), Config{}, "af_packet, af_xdp generic, af_xdp native", ""},
	} {
		p := c.facts.Choose(c.cfg)
		alone, shared := p.holds(p.Methods[0])
		holds := words(alone, "alone") + words(shared, "shared")
		if got := waysText(p.Methods); got != c.want || holds != c.holds {
			t.Errorf("%s: got %s, right as long as %q, want %s, %q", c.what, got, holds, c.want, c.holds)
		}
		if moved := "others use the interface (it has the address 10.0.0.1/24), and "; shared != strings.HasPrefix(p.Reason, moved) {
			t.Errorf("%s: got reason %q, shared %v", c.what, p.Reason, shared)
		}
	}
}

func words(holds bool, s string) string {
	if !holds {
		return ""
	}
	return s
}

// A driver that refuses late gives way to one that is there for another reason: the device
// says which, and is not opened again when users come or go. Mutations: Explain gives the
// plan's reason always; holds takes the plan's first way for the one that is open.
func TestExplain(t *testing.T) {
	f := able("veth", 1500)
	p := f.Choose(Config{})
	s := &shop{opens: map[Method]error{generic: errNo, native: errNo}}
	b, err := newChoice(p, s.open, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	driver, why := b.Explain()
	if want := "the best that is left, without af_xdp generic: no"; driver != "af_packet" || why != want {
		t.Errorf("got %s, %q, want af_packet, %q", driver, why, want)
	}
	if s := b.Standing(); s.Alone || s.Shared {
		t.Errorf("got %+v, want neither alone nor shared", s)
	}
}
