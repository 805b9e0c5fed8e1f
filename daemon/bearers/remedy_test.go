// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"net/netip"
	"testing"
)

// Every reason for which a bearer waits for somebody has a remedy, by the text that the
// Reconciler gives it. Mutation: another text in lacks.
func TestRemedies(t *testing.T) {
	eth := Wish{ID: "eth:eth0", Device: "eth0"}
	udp := Wish{ID: "udp:UDP1", Local: netip.MustParseAddr("10.9.0.1")}
	is := Facts{Exists: true, MTU: 1500, Up: true}
	with := func(change func(*Facts)) *Facts {
		f := is
		change(&f)
		return &f
	}
	for _, c := range []struct{ reason, want string }{
		{(&Facts{}).lacks(&udp), "ip addr add 10.9.0.1/PREFIX dev IFACE"},
		{(&Facts{}).lacks(&eth), "ip link show, and the driver's lines in dmesg"},
		{with(func(f *Facts) { f.Master = "br0" }).lacks(&eth), "utipc bearer enable media eth device br0, or: ip link set dev eth0 nomaster"},
		{with(func(f *Facts) { f.MTU = 100 }).lacks(&eth), "ip link set dev eth0 mtu 1500"},
		{with(func(f *Facts) { f.Up = false }).lacks(&eth), "ip link set dev eth0 up"},
		{eth.where() + noCarrier, "check the cable and the switch"},
		{flapping, "check the cable and the switch"},
		{"", ""},
		{OtherSettings, ""},
	} {
		if got := Remedy(c.reason); got != c.want {
			t.Errorf("%q: got %q, want %q", c.reason, got, c.want)
		}
	}
}
