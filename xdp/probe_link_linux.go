// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// ProbeLink is the half of Probe that concerns the interface.
//
// Nothing comes from /sys, which shows the namespace it was mounted in and not the
// thread's.
func ProbeLink(ifname string) (Link, error) { return probeLink(ifname, claimTimeout) }

// probeLink waits that long for the interface's owner to say who it is.
func probeLink(ifname string, timeout time.Duration) (Link, error) {
	l, queues, err := findLink(ifname)
	if err != nil {
		return Link{}, err
	}
	probeEthtool(&l)
	l.XDP = probeFeatures(l.Index)
	if !l.Queues.Known() && queues.RX > 0 && queues.TX > 0 {
		// Drivers that cannot change the number do not tell it either.
		l.Queues = known(queues)
	}
	if l.KernelBearer, err = l.kernelBearer(); err != nil {
		return Link{}, err
	}
	l.Owner = owner(l.Name, l.Index, timeout)
	around, err := LookAround()
	if err != nil {
		return Link{}, err
	}
	l.Users = around[l.Index].Users
	return l, nil
}

// owner asks who has claimed the interface; empty means nobody.
func owner(ifname string, index int, timeout time.Duration) string {
	claims, err := claimsOn(index, 0)
	if err != nil || len(claims) == 0 {
		return ""
	}
	who, ending := askOwner(ifname, claims[0], timeout)
	if ending {
		return ""
	}
	return who
}

// askLink asks routing netlink about the interface of that number, and for how
// many queues the kernel made room.
func askLink(index int) (Link, Sizes, error) {
	l, queues, err := requestLink(index, nil)
	if err == nil && l.master > 0 {
		l.Master = fmt.Sprint("interface number ", l.master)
		if i, err := net.InterfaceByIndex(l.master); err == nil {
			l.Master = i.Name
		}
	}
	return l, queues, err
}

// requestLink asks for the interface of that number, or with 0 for the one that attrs
// name.
func requestLink(index int, attrs []byte) (Link, Sizes, error) {
	body := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(body[4:], uint32(index))
	m, err := netlink.Route(unix.RTM_GETLINK, 0, append(body, attrs...))
	if err != nil {
		return Link{}, Sizes{}, err
	}
	return parseLink(m)
}

// parseLink reads the answer to RTM_GETLINK.
// Source: rtnetlink(7), linux/if_link.h.
func parseLink(m netlink.Message) (Link, Sizes, error) {
	if m.Type != unix.RTM_NEWLINK || len(m.Body) < unix.SizeofIfInfomsg {
		return Link{}, Sizes{}, netlink.ErrAnswer
	}
	n := binary.NativeEndian
	info, attrs := m.Body[:unix.SizeofIfInfomsg], m.Body[unix.SizeofIfInfomsg:]
	flags := n.Uint32(info[8:])
	// A new interface counts as running until the kernel has looked for the carrier.
	const running = unix.IFF_RUNNING | unix.IFF_LOWER_UP
	mac := netlink.Attribute(attrs, unix.IFLA_ADDRESS)
	l := Link{
		Name:     netlink.Text(attrs, unix.IFLA_IFNAME),
		Index:    int(n.Uint32(info[4:])),
		Ethernet: n.Uint16(info[2:]) == unix.ARPHRD_ETHER && len(mac) == 6,
		Loopback: flags&unix.IFF_LOOPBACK != 0,
		Up:       flags&unix.IFF_UP != 0,
		Carrier:  flags&running == running,
		MTU:      int(netlink.Number(attrs, unix.IFLA_MTU)),
		Kind:     linkKind(attrs, unix.IFLA_INFO_KIND),
		Program:  readProgram(netlink.Attribute(attrs, unix.IFLA_XDP)),
		AltNames: altNames(attrs),
		Losses:   netlink.Number(attrs, unix.IFLA_CARRIER_DOWN_COUNT),
		master:   masterOf(attrs),
	}
	if l.master > 0 {
		l.MasterKind = linkKind(attrs, unix.IFLA_INFO_SLAVE_KIND)
	}
	if len(mac) == 6 {
		l.Address = net.HardwareAddr(mac).String()
	}
	rx, tx := int(netlink.Number(attrs, unix.IFLA_NUM_RX_QUEUES)), int(netlink.Number(attrs, unix.IFLA_NUM_TX_QUEUES))
	return l, Sizes{RX: rx, TX: tx, MaxRX: rx, MaxTX: tx}, nil
}

// linkKind is what sort of software interface a link is, or its master.
func linkKind(attrs []byte, which uint16) string {
	return netlink.Text(netlink.Attribute(attrs, unix.IFLA_LINKINFO), which)
}

// masterOf is the number of the interface that takes the frames which arrive at a link,
// 0 without one. A VRF is the master of IP alone.
func masterOf(attrs []byte) int {
	if linkKind(attrs, unix.IFLA_INFO_SLAVE_KIND) == "vrf" {
		return 0
	}
	return int(netlink.Number(attrs, unix.IFLA_MASTER))
}

// altNames are a link's alternative names.
func altNames(attrs []byte) (names []string) {
	for b := netlink.Attribute(attrs, unix.IFLA_PROP_LIST); len(b) >= 4; {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			break
		}
		if binary.NativeEndian.Uint16(b[2:]) == unix.IFLA_ALT_IFNAME {
			names = append(names, unix.ByteSliceToString(b[4:n]))
		}
		b = b[min(len(b), netlink.Align(n)):]
	}
	return names
}

// readProgram reads the attributes that tell of an XDP program.
func readProgram(attrs []byte) Program {
	at := netlink.Attribute(attrs, unix.IFLA_XDP_ATTACHED)
	if len(at) < 1 {
		return Program{}
	}
	// Source: XDP_ATTACHED_…, linux/if_link.h.
	mode := [...]string{"", "native", "generic", "offloaded", "several"}
	if int(at[0]) >= len(mode) {
		return Program{Mode: fmt.Sprint("mode ", at[0])}
	}
	return Program{Mode: mode[at[0]], ID: netlink.Number(attrs, unix.IFLA_XDP_PROG_ID)}
}

// Numbers of the generic netlink family "netdev", from the public header
// linux/netdev.h.
const (
	netdevFamily   = "netdev"
	netdevDevGet   = 1 // command: one device
	nlaIndex       = 1
	nlaFeatures    = 3 // 64 bits
	nlaZCSegments  = 4 // 32 bits
	featureBasic   = 1 << 0
	featureToXSK   = 1 << 1
	featureZC      = 1 << 3
	featureReceive = 1 << 5 // frames in several buffers
)

// probeFeatures asks what the driver can do for XDP.
func probeFeatures(index int) Fact[Features] {
	const old = "the kernel does not tell (it does since Linux 6.3)"
	fd, err := netlink.Open(unix.NETLINK_GENERIC)
	if err != nil {
		return unknown[Features](err.Error())
	}
	defer unix.Close(fd)
	// All families are listed: to ask for one by its name would make an old kernel
	// look for a module that has it.
	var id uint16
	request(fd, unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY, unix.NLM_F_DUMP, nil, func(attrs []byte) {
		if netlink.Text(attrs, unix.CTRL_ATTR_FAMILY_NAME) != netdevFamily {
			return
		}
		if v := netlink.Attribute(attrs, unix.CTRL_ATTR_FAMILY_ID); len(v) >= 2 {
			id = binary.NativeEndian.Uint16(v)
		}
	})
	if id == 0 {
		return unknown[Features](old)
	}
	f := unknown[Features](old)
	ask := netlink.AppendAttribute(nil, nlaIndex, binary.NativeEndian.AppendUint32(nil, uint32(index)))
	request(fd, id, netdevDevGet, 0, ask, func(attrs []byte) { f = readFeatures(attrs) })
	return f
}

// readFeatures reads one device's attributes.
func readFeatures(attrs []byte) Fact[Features] {
	v := netlink.Attribute(attrs, nlaFeatures)
	if len(v) < 8 {
		return unknown[Features]("the kernel's answer has no features in it")
	}
	bits := binary.NativeEndian.Uint64(v)
	return known(Features{
		Native:           bits&featureBasic != 0,
		Redirect:         bits&featureToXSK != 0,
		ZeroCopy:         bits&featureZC != 0,
		MultiBuffer:      bits&featureReceive != 0,
		ZeroCopySegments: int(netlink.Number(attrs, nlaZCSegments)),
	})
}
