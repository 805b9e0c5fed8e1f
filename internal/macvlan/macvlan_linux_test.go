// SPDX-License-Identifier: Apache-2.0

package macvlan_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/macvlan"
	"github.com/utipc/utipc/test/netns"
)

// Two stations on one interface have addresses of their own and are up, each in a namespace of its own; the host does not see
// them. What is no interface has none. That they hear each other is test/tcp's to show.
//
// Mutations it catches: create has no namespace; bringUp does nothing.
//
// Proves: tcp.embedded
func TestStations(t *testing.T) {
	netns.Require(t)
	ns := netns.New(t)
	const mtu = 1500
	netns.Veth(t, ns, ns, "lower", "other", mtu)
	var all [2]*net.Interface
	for i := range all {
		var err error
		ns.Do(func() {
			err = macvlan.Do("lower", func() (err error) {
				all[i], err = net.InterfaceByName(macvlan.Name)
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if all[i].Flags&net.FlagUp == 0 {
			t.Errorf("%v is not up", all[i])
		}
	}
	if a, b := all[0].HardwareAddr.String(), all[1].HardwareAddr.String(); a == b {
		t.Errorf("both have the address %s", a)
	}
	if out := ns.Run("ip", "-o", "link"); strings.Contains(out, macvlan.Name) {
		t.Errorf("the host has\n%s", out)
	}
	var err error
	ns.Do(func() { err = macvlan.Do("nothing", func() error { return nil }) })
	if !errors.Is(err, syscall.ENODEV) {
		t.Error(err)
	}
}
