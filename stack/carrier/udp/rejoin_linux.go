// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Index is the number of the interface that the device was opened on, or has joined its
// group by since.
func (d *Device) Index() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ifindex
}

// Rejoin makes the device use the interface that has its address now: the group is joined
// there, and broadcasts leave by it. An interface that is made anew needs it, even under
// its old name. Links and datagrams to single hosts are not touched. It is safe for
// concurrent use. Errors: *OpenError; net.ErrClosed. Where the group, the own
// address or a remote's is one of a link, as the group is that Group returns for IPv6, an
// *OpenError with EADDRNOTAVAIL says that the device is to be opened again.
func (d *Device) Rejoin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	iface, err := interfaceOf(&d.cfg)
	if err != nil {
		return err
	}
	if d.scoped() && iface.Index != d.ifindex {
		return &OpenError{d.cfg.Local, "move to " + iface.Name, unix.EADDRNOTAVAIL, "an address of it is one of a link: open the bearer again"}
	}
	if d.multi >= 0 {
		d.leave()
		if err := d.join(iface); err != nil {
			return err
		}
		d.group.to = makeSockaddr(d.cfg.Multicast, iface.Index)
	}
	if err := d.multicastBy(iface); err != nil {
		return err
	}
	d.ifname, d.ifindex = iface.Name, iface.Index
	return nil
}

// scoped reports whether an address means something on its interface alone. The socket is
// bound to that then.
func (d *Device) scoped() bool {
	of := func(a netip.AddrPort) bool {
		return a.Addr().Is6() && (a.Addr().IsLinkLocalUnicast() || a.Addr().IsLinkLocalMulticast())
	}
	return of(d.cfg.Local) || of(d.cfg.Multicast) || slices.ContainsFunc(d.cfg.Remotes, of)
}

// join joins the group by an interface.
func (d *Device) join(iface *net.Interface) (err error) {
	ip := d.cfg.Multicast.Addr()
	if ip.Is6() {
		err = unix.SetsockoptIPv6Mreq(d.multi, unix.SOL_IPV6, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: ip.As16(), Interface: uint32(iface.Index)})
	} else {
		err = unix.SetsockoptIPMreqn(d.multi, unix.SOL_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: ip.As4(), Ifindex: int32(iface.Index)})
	}
	if err != nil {
		return &OpenError{d.cfg.Local, fmt.Sprintf("join %v by %s", ip, iface.Name), err, "is the interface up, and does it do multicast? If not, name the remotes"}
	}
	return nil
}

// leave gives up the membership, which the socket keeps though its interface is gone.
func (d *Device) leave() {
	ip := d.cfg.Multicast.Addr()
	if ip.Is6() {
		_ = unix.SetsockoptIPv6Mreq(d.multi, unix.SOL_IPV6, unix.IPV6_LEAVE_GROUP, &unix.IPv6Mreq{Multiaddr: ip.As16(), Interface: uint32(d.ifindex)})
	} else {
		_ = unix.SetsockoptIPMreqn(d.multi, unix.SOL_IP, unix.IP_DROP_MEMBERSHIP, &unix.IPMreqn{Multiaddr: ip.As4(), Ifindex: int32(d.ifindex)})
	}
}

// Joined reports whether the interface receives for the group of the device, in the
// network namespace of the calling thread; true as well without a group, and where the
// system does not tell.
func (d *Device) Joined() bool {
	d.mu.Lock()
	ip, index := d.cfg.Multicast.Addr(), d.ifindex
	d.mu.Unlock()
	if !ip.IsValid() {
		return true
	}
	file, joined := "/proc/thread-self/net/igmp", joined4
	if ip.Is6() {
		file, joined = "/proc/thread-self/net/igmp6", joined6
	}
	table, err := os.ReadFile(file)
	return err != nil || joined(string(table), index, ip)
}

// joined4 looks for a group in the kernel's list of IPv4: a line for each interface that
// begins with its number, and below it one for each group, in hexadecimal as the machine
// reads the four bytes.
func joined4(table string, index int, group netip.Addr) bool {
	b := group.As4()
	want, at := fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b[:])), 0
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case line[0] != '\t':
			at, _ = strconv.Atoi(f[0])
		case at == index && f[0] == want:
			return true
		}
	}
	return false
}

// joined6 looks for a group in the kernel's list of IPv6: the interface's number, its
// name, the group in hexadecimal.
func joined6(table string, index int, group netip.Addr) bool {
	b := group.As16()
	want := fmt.Sprintf("%x", b[:])
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == strconv.Itoa(index) && f[2] == want {
			return true
		}
	}
	return false
}
