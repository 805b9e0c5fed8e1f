// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// LinksAbove finds the VLANs and macvlans of the calling thread's network namespace, and
// returns their names by the number of the interface that they lie on. Frames that belong to
// them are not heard on that interface, see AF_PACKET's filter. Errors: the system's, where it
// is short of descriptors or memory and cannot tell.
func LinksAbove() (map[int][]string, error) {
	all := map[int][]string{}
	err := netlink.Dump(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg), func(m netlink.Message) {
		l, _, err := parseLink(m)
		if err != nil {
			return
		}
		attrs := m.Body[unix.SizeofIfInfomsg:]
		below := int(netlink.Number(attrs, unix.IFLA_LINK))
		elsewhere := netlink.Attribute(attrs, unix.IFLA_LINK_NETNSID) != nil // the number is one of another namespace
		switch l.Kind {
		case "vlan", "macvlan", "macvtap":
			if below > 0 && !elsewhere {
				all[below] = append(all[below], l.Name)
			}
		}
	})
	if netlink.Shortage(err) {
		return nil, err
	}
	return all, nil
}
