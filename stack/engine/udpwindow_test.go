// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"net/netip"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// udpPeerOf is a peer over UDP that has not been heard yet, of an engine with so many chunks.
func udpPeerOf(t *testing.T, chunks int, b BearerConfig, change ...func(*Config)) *peerLink {
	t.Helper()
	c := peersOn(t, newArena(t, netdev.ArenaConfig{Small: chunks}), 0, 0, change...)
	b.Name, b.MAC, b.MTU = "UDP1", ownMAC, 1472
	b.Medium = &fakeMedium{
		own:     netip.MustParseAddrPort("10.0.0.1:6118"),
		remotes: map[frame.MAC]netip.AddrPort{popMAC: netip.MustParseAddrPort("10.0.0.2:6118")},
	}
	if _, err := c.AddBearer(0, b); err != nil {
		t.Fatal(err)
	}
	return c.on(0, 0)
}

// joinAs makes contact as a node of a version of this implementation, or, with 0, as a kernel,
// over Ethernet or UDP.
func (x *peerLink) joinAs(version uint8) {
	x.t.Helper()
	x.disc(frame.Request, func(f *frame.DiscoveryFields) {
		if x.bearers[0].Medium != nil {
			f.UDP = netip.MustParseAddrPort("10.0.0.2:6118")
		}
		if version > 0 {
			f.NetHash = frame.Mark(f.Identity, f.Signature, version)
		}
	})
	x.again()
}

// wantSuit checks the bounds of the link's window, and whether a batch is acknowledged at once.
func (x *peerLink) wantSuit(what string, least, most int, batches bool) {
	x.t.Helper()
	l := x.node().links[0]
	if a, b := l.WindowBounds(); a != least || b != most {
		x.t.Errorf("%s: got a window of %d to %d packets, want %d to %d", what, a, b, least, most)
	}
	x.HandleTimeout(x.now)
	before := l.SentAcks
	for range 32 {
		x.packet(data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, ""))
	}
	early := l.SentAcks - before
	x.HandleTimeout(x.now)
	x.collect()
	if late := l.SentAcks - before; batches && (early != 0 || late != 1) || !batches && (early != 2 || late != 2) {
		x.t.Errorf("%s: got %d acknowledgements of 32 packets, and %d when the batch was over; as a batch: %v", what, early, late, batches)
	}
}

// Over UDP a node of this implementation that has Batches gets a window that moves, within a
// share of the chunks, and an acknowledgement a batch. A kernel, an older node, an
// Ethernet and a node that plays a kernel get what they always did, and a window that
// somebody chose stays.
//
// Mutation it catches: do not ask has(Batches), Medium or AsKernel; leave out the share of the
// chunks; widen a window of which the upper bound, or the lower, is set.
//
// Proves: link.windows
func TestUDPWindow(t *testing.T) {
	for _, c := range []struct {
		name        string
		chunks      int
		links       LinkConfig
		change      func(*Config)
		version     uint8
		least, most int
		batches     bool
	}{
		{"ours", 4096, LinkConfig{}, nil, Version, 50, 256, true},
		{"ours, much memory", 8192, LinkConfig{}, nil, Version, 50, 256, true},
		{"ours, little memory", 1024, LinkConfig{}, nil, Version, 50, 64, true},
		{"ours, too little", 256, LinkConfig{}, nil, Version, 50, 50, true},
		{"newer", 4096, LinkConfig{}, nil, Version + 1, 50, 256, true},
		{"older", 4096, LinkConfig{}, nil, uint8(Batches) - 1, 50, 50, false},
		{"kernel", 4096, LinkConfig{}, nil, 0, 50, 50, false},
		{"as a kernel", 4096, LinkConfig{}, func(c *Config) { c.AsKernel = true }, Version, 50, 50, false},
		{"the bearer's window", 4096, LinkConfig{Window: 20}, nil, Version, 20, 20, true},
		{"the bearer's least", 4096, LinkConfig{Window: 20, MaxWindow: 50}, nil, Version, 20, 50, true},
		{"the node's window", 4096, LinkConfig{}, func(c *Config) { c.Window, c.MaxWindow = 50, 100 }, Version, 50, 100, true},
	} {
		x := udpPeerOf(t, c.chunks, BearerConfig{LinkConfig: c.links}, func(k *Config) {
			if c.change != nil {
				c.change(k)
			}
		})
		x.joinAs(c.version)
		x.wantSuit(c.name, c.least, c.most, c.batches)
	}
	x := newPeers(t, 1, 0).on(0, 0)
	x.joinAs(Version)
	x.wantSuit("Ethernet", 50, 50, false)
}

// What a link does with its peer alone is decided anew when it comes up, for the peer's next
// life may be another implementation's; but what SetLink has set holds.
//
// Mutation it catches: decide it once, when the link is made; let SetLink of one link, or of all
// of a bearer, be forgotten at the next start.
//
// Proves: link.windows
func TestUDPWindowOfTheNextLife(t *testing.T) {
	x := udpPeerOf(t, 4096, BearerConfig{})
	x.joinAs(Version)
	x.wantSuit("ours", 50, 256, true)
	x.leave()
	x.joinAs(0)
	x.wantSuit("a kernel", 50, 50, false)
	x.leave()
	x.joinAs(Version)
	x.wantSuit("ours again", 50, 256, true)
	if err := x.SetLink(x.now, popAddr, 0, LinkConfig{MaxWindow: 90}); err != nil {
		t.Fatal(err)
	}
	x.leave()
	x.joinAs(Version)
	x.wantSuit("set", 50, 90, true)

	y := udpPeerOf(t, 4096, BearerConfig{})
	if err := y.SetLink(y.now, 0, 0, LinkConfig{Window: 50, MaxWindow: 50}); err != nil {
		t.Fatal(err)
	}
	y.joinAs(Version)
	y.wantSuit("set for all", 50, 50, true)
}
