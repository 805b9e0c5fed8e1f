// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"testing"
)

// What an operator can do about each reason for which a bearer waits for somebody; a state
// that ends by itself has no remedy.
// Mutations: lacks, failed or noCarrier leave out a case, or its remedy; because has one.
func TestRemedies(t *testing.T) {
	eth := Wish{ID: "eth:eth0", Device: "eth0"}
	udp := Wish{ID: "udp:UDP1", Local: netip.MustParseAddr("10.9.0.1")}
	dhcp := Wish{ID: "udp:UDP2", Device: "eth0"}
	with := func(change func(*Facts)) *Facts {
		f := Facts{Exists: true, MTU: 1500, Up: true}
		change(&f)
		return &f
	}
	for _, c := range []struct {
		reason       Reason
		text, remedy string
	}{
		{(&Facts{}).lacks(&udp), "no interface has the address 10.9.0.1", "ip addr add 10.9.0.1/PREFIX dev IFACE"},
		{(&Facts{}).lacks(&dhcp), "interface eth0 does not exist, or has no IP address", "ip addr show eth0"},
		{(&Facts{}).lacks(&eth), "interface eth0 does not exist", "ip link show, and the driver's lines in dmesg"},
		{
			with(func(f *Facts) { f.Master = "br0" }).lacks(&eth), "interface eth0 is a port of br0, which takes the frames that arrive: use br0",
			"utipc bearer enable media eth device br0, or: ip link set dev eth0 nomaster",
		},
		{with(func(f *Facts) { f.MTU = 100 }).lacks(&eth), "interface eth0 has an MTU of 100 bytes, below 128", "ip link set dev eth0 mtu 1500"},
		{with(func(f *Facts) { f.Up = false }).lacks(&eth), "interface eth0 is down", "ip link set dev eth0 up"},
		{with(func(*Facts) {}).lacks(&eth), "", ""},
		{eth.noCarrier(), "interface eth0 has no carrier", checkCable},
		{flapping, "the carrier comes and goes", checkCable},
		{because(OtherSettings), OtherSettings, ""},
		{eth.failed(errors.New("refused")), "refused", "utipc doctor eth0"},
		{udp.failed(errors.New("refused")), "refused", "ip addr show, and ip route show"},
		{udp.failed(syscall.EADDRINUSE), syscall.EADDRINUSE.Error(), "ss -ulnp, for the program that has the port"},
		{eth.failed(fmt.Errorf("socket: %w", syscall.EMFILE)), "socket: too many open files", "raise the daemon's limit of descriptors: LimitNOFILE= of its unit, or ulimit -n"},
		{eth.failed(fmt.Errorf("socket: %w", syscall.ENFILE)), "socket: too many open files in system", "raise the host's limit of descriptors: sysctl fs.file-max"},
		{udp.failed(syscall.ENOMEM), "cannot allocate memory", "free memory on the host, or raise the daemon's limits: MemoryMax= and LimitMEMLOCK= of its unit"},
		{udp.failed(syscall.ENOBUFS), "no buffer space available", "free memory on the host, or raise the daemon's limits: MemoryMax= and LimitMEMLOCK= of its unit"},
	} {
		if c.reason.Text != c.text || c.reason.Remedy != c.remedy {
			t.Errorf("got %q, remedy %q; want %q, %q", c.reason.Text, c.reason.Remedy, c.text, c.remedy)
		}
	}
}
