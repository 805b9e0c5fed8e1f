// SPDX-License-Identifier: Apache-2.0

package tun_test

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/utipc/utipc/internal/tun"
	"github.com/utipc/utipc/test/netns"
)

// The interface is up with its address and its network until it is closed, what is sent to the network goes nowhere,
// and there is one of a name. Mutations it catches: configure leaves out the mask, or the flags.
//
// Proves: tcp.interface
func TestOpen(t *testing.T) {
	netns.Require(t)
	ns := netns.New(t)
	const name, address = "utipc0", "10.99.0.1/16"
	ns.Do(func() {
		d, err := tun.Open(name, netip.MustParsePrefix(address))
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := tun.Open(name, netip.MustParsePrefix(address)); err == nil {
			t.Error("there are two of a name")
		}
		i, err := net.InterfaceByName(name)
		if err != nil {
			t.Error(err)
			return
		}
		addrs, err := i.Addrs()
		if err != nil || !slices.ContainsFunc(addrs, func(a net.Addr) bool { return a.String() == address }) {
			t.Errorf("it has the addresses %v, %v", addrs, err)
		}
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			t.Errorf("its flags are %v", i.Flags)
		}
		c, err := net.Dial("udp", "10.99.7.7:9")
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for range 2000 { // more than a TUN interface queues
			if _, err := c.Write([]byte("nobody hears it")); err != nil {
				t.Error(err)
				break
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := net.InterfaceByName(name); err == nil {
			t.Error("it is still there")
		}
	})
}
