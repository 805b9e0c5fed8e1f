// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"net/netip"
	"testing"
)

func TestConfig(t *testing.T) {
	ip := netip.MustParseAddrPort
	bare := func(s string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(s), 0) }
	some := []netip.AddrPort{bare("10.0.0.2")}
	for _, tt := range []struct {
		cfg   Config
		field string
	}{
		{Config{Local: bare("10.0.0.1"), Remotes: some}, ""},
		{Config{Local: bare("10.0.0.1"), Multicast: bare("228.0.18.103")}, ""},
		{Config{Local: bare("fd00::1"), Multicast: bare("ff02::4711")}, ""},
		{Config{}, "Local"},
		{Config{Local: bare("0.0.0.0"), Remotes: some}, "Local"},
		{Config{Local: bare("224.0.0.1"), Remotes: some}, "Local"},
		{Config{Local: bare("::ffff:10.0.0.1"), Remotes: some}, "Local"},
		{Config{Local: bare("10.0.0.1")}, "Remotes"},
		{Config{Local: bare("10.0.0.1"), Remotes: make([]netip.AddrPort, 1)}, "Remotes"},
		{Config{Local: bare("10.0.0.1"), Remotes: make([]netip.AddrPort, 1025)}, "Remotes"},
		{Config{Local: bare("10.0.0.1"), Remotes: []netip.AddrPort{bare("228.0.0.1")}}, "Remotes"},
		{Config{Local: bare("10.0.0.1"), Remotes: []netip.AddrPort{bare("fd00::1")}}, "Remotes"},
		{Config{Local: bare("10.0.0.1"), Remotes: some, Multicast: bare("228.0.0.1")}, "Remotes"},
		{Config{Local: bare("10.0.0.1"), Multicast: bare("10.0.0.2")}, "Multicast"},
		{Config{Local: bare("10.0.0.1"), Multicast: bare("ff02::1")}, "Multicast"},
		{Config{Local: bare("10.0.0.1"), Remotes: some, MTU: 127}, "MTU"},
		{Config{Local: bare("10.0.0.1"), Remotes: some, MTU: 65488}, "MTU"},
		{Config{Local: bare("10.0.0.1"), Remotes: some, TTL: 256}, "TTL"},
		{Config{Local: bare("10.0.0.1"), Remotes: some, TTL: -1}, "TTL"},
		{Config{Local: bare("10.0.0.1"), Remotes: some, Name: "0123456789abcdef"}, "Name"},
	} {
		c, err := tt.cfg.withDefaults()
		var wrong *ConfigError
		switch {
		case tt.field == "" && err != nil, tt.field != "" && (!errors.As(err, &wrong) || wrong.Field != tt.field):
			t.Errorf("%+v: got %v, want an error of %q", tt.cfg, err, tt.field)
		case err == nil && (c.Local.Port() != 6118 || c.Name != "UDP1" || c.TTL != 64):
			t.Errorf("%+v: got %+v", tt.cfg, c)
		}
	}
	c, _ := (Config{Local: ip("10.0.0.1:7000"), Remotes: some}).withDefaults()
	if c.Local.Port() != 7000 || c.Remotes[0] != ip("10.0.0.2:6118") || c.MTU != 14000 || some[0].Port() != 0 {
		t.Errorf("got %+v", c)
	}
	c, _ = (Config{Local: bare("fd00::1"), Multicast: ip("[ff02::1]:7000")}).withDefaults()
	if c.Multicast.Port() != 7000 || c.MTU != 1280 {
		t.Errorf("got %+v", c)
	}
	// Capture 26, and docs/spec/01-wire.md §1.2.
	if got := Group(4711, netip.MustParseAddr("10.77.0.1")); got != ip("228.0.18.103:6118") {
		t.Errorf("got group %v", got)
	}
	if got := Group(4711, netip.MustParseAddr("fd00::1")); got != ip("[ff02::4711]:6118") {
		t.Errorf("got group %v", got)
	}
}
