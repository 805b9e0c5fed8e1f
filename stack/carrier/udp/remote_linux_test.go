// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A remote that is added gets broadcasts from then on, whether it was heard before, has a
// link, or neither.
//
// Proves: device.udp
func TestAddRemote(t *testing.T) {
	at := local(4)
	a := open(t, Config{Local: at[0], Remotes: at[1:2]})
	b := open(t, Config{Local: at[1], Remotes: at[:1]})
	c := open(t, Config{Local: at[2], Remotes: at[:1]})
	d := open(t, Config{Local: at[3], Remotes: at[:1]})
	d.say(frame.BroadcastMAC, "heard")
	a.want(d.Addr(), "heard")
	a.Keep(d.Addr(), true)
	for range 2 { // again: no change
		for _, x := range []netip.AddrPort{at[0], at[2], at[3]} {
			if err := a.AddRemote(x); err != nil {
				t.Fatalf("add %v: %v", x, err)
			}
		}
	}
	a.Keep(d.Addr(), false) // which a remote does not mind
	a.say(frame.BroadcastMAC, "all")
	b.want(a.Addr(), "all")
	c.want(a.Addr(), "all")
	d.want(a.Addr(), "all")
	if l, r := a.Ends(); l != at[0] || r != at[1] {
		t.Errorf("ends: got %v and %v, want %v and %v", l, r, at[0], at[1])
	}
	for _, x := range []string{"0.0.0.0:1", "228.0.0.1:1", "[fd00::1]:1", "[fe80::1%lo]:1"} {
		if err := a.AddRemote(netip.MustParseAddrPort(x)); !errors.As(err, new(*ConfigError)) {
			t.Errorf("add %s: got %v, want a ConfigError", x, err)
		}
	}
	a.Close()
	if err := a.AddRemote(at[2]); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v, want net.ErrClosed", err)
	}
}

// Remotes that are added are bounded like those configured.
//
// Proves: device.udp
func TestAddRemoteBounds(t *testing.T) {
	at := local(2)
	a := open(t, Config{Local: at[0], Remotes: at[1:]})
	for i := range maxRemotes - 1 {
		if err := a.AddRemote(netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), uint16(1000+i))); err != nil {
			t.Fatalf("remote %d: %v", i+2, err)
		}
	}
	if err := a.AddRemote(netip.MustParseAddrPort("192.0.2.2:1")); !errors.As(err, new(*ConfigError)) {
		t.Errorf("remote %d: got %v, want a ConfigError", maxRemotes+1, err)
	}
	g := open(t, Config{Local: local(1)[0], Multicast: netip.MustParseAddrPort("228.9.9.9:0")})
	if err := g.AddRemote(at[1]); !errors.As(err, new(*ConfigError)) {
		t.Errorf("with a group: got %v, want a ConfigError", err)
	}
	if _, r := g.Ends(); r != netip.MustParseAddrPort("228.9.9.9:6118") {
		t.Errorf("group: got %v", r)
	}
}
