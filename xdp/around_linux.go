// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// LookAround finds who uses the interfaces of the calling thread's network namespace besides
// a node, by the interface's number. Interfaces that lie on one of them in another namespace,
// as a container's macvlan, are not seen. Errors: the system's, where it is short of
// descriptors or memory and cannot tell.
func LookAround() (map[int]Around, error) {
	all := map[int]Around{}
	used := func(index int, format string, args ...any) {
		if a := all[index]; a.Users == "" {
			a.Users = fmt.Sprintf(format, args...)
			all[index] = a
		}
	}
	err := netlink.Dump(unix.RTM_GETADDR, make([]byte, unix.SizeofIfAddrmsg), func(m netlink.Message) {
		if index, p, ok := parseAddress(m); ok {
			used(index, "it has the address %v", p)
		}
	})
	if netlink.Shortage(err) {
		return nil, err
	}
	err = netlink.Dump(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg), func(m netlink.Message) {
		l, _, err := parseLink(m)
		if err != nil {
			return
		}
		attrs := m.Body[unix.SizeofIfInfomsg:]
		if master := int(netlink.Number(attrs, unix.IFLA_MASTER)); master > 0 {
			used(master, "%s is a port of it", l.Name)
			used(l.Index, "it is a port of another interface")
		}
		below := int(netlink.Number(attrs, unix.IFLA_LINK))
		elsewhere := netlink.Attribute(attrs, unix.IFLA_LINK_NETNSID) != nil // the number is one of another namespace
		if below <= 0 || elsewhere || l.pair() {
			return
		}
		used(below, "%s lies on it", l.Name)
		switch l.Kind {
		case "vlan", "macvlan", "macvtap":
			a := all[below]
			a.Above = append(a.Above, l.Name)
			all[below] = a
		}
	})
	if netlink.Shortage(err) {
		return nil, err
	}
	return all, nil
}

// pair reports whether the interface is one of two, each of which the kernel names as what
// the other lies on.
func (l Link) pair() bool { return l.Kind == "veth" || l.Kind == "netkit" }

// parseAddress reads one address of RTM_GETADDR, and its interface. The IPv6 address that
// every interface gives itself is none: nobody uses it before there is another.
// Source: rtnetlink(7).
func parseAddress(m netlink.Message) (index int, p netip.Prefix, ok bool) {
	if m.Type != unix.RTM_NEWADDR || len(m.Body) < unix.SizeofIfAddrmsg {
		return 0, p, false
	}
	info, attrs := m.Body[:unix.SizeofIfAddrmsg], m.Body[unix.SizeofIfAddrmsg:]
	own := netlink.Attribute(attrs, unix.IFA_LOCAL)
	if own == nil {
		own = netlink.Attribute(attrs, unix.IFA_ADDRESS)
	}
	a, ok := netip.AddrFromSlice(own)
	if !ok || a.Is6() && a.IsLinkLocalUnicast() {
		return 0, p, false
	}
	return int(binary.NativeEndian.Uint32(info[4:])), netip.PrefixFrom(a, int(info[1])), true
}
